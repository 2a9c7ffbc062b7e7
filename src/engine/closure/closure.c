/* Items, closure prices and tallies for the local searches. */
#include "engine/closure/closure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- Items ----------------------------------------------------------------------------------------------------- */

void kn_items_free(kn_items *items)
{
    if (items == NULL) return;
    kn_histograms_free(items->sensitive, items->tuples->n_sensitive);
    kn_free(items->tuple);
    kn_free(items->start);
    kn_free(items->rows);
    kn_free(items->persons);
    kn_free(items);
}

typedef struct person_row {
    uint32_t person, row;
} person_row;

static int compare_person_rows(const void *a, const void *b)
{
    const person_row *x = a, *y = b;
    if (x->person != y->person) return x->person < y->person ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Within each tuple the rows of a person come together. */
static kn_status sort_by_person(kn_items *items, const uint32_t *tuple_start, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = items->tuples;
    person_row *pairs = NULL;
    KN_NEW_RAW(pairs, tuples->n_records);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint32_t begin = tuple_start[t], n = tuple_start[t + 1] - begin;
        for (uint32_t i = 0; i < n; i++)
            pairs[i] = (person_row){tuples->row_person[items->rows[begin + i]], items->rows[begin + i]};
        qsort(pairs, n, sizeof *pairs, compare_person_rows);
        for (uint32_t i = 0; i < n; i++) items->rows[begin + i] = pairs[i].row;
    }
done:
    kn_free(pairs);
    return status;
}

/* Cuts each tuple into pieces of at most max_persons persons. A person who was counted in an earlier tuple adds
 * nothing here, and its rows go with the piece that is open. */
static kn_status cut_pieces(kn_items *items, const uint32_t *tuple_start, uint64_t max_persons, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = items->tuples;
    bool *counted = NULL;
    if (tuples->row_person != NULL) KN_NEW(counted, tuples->n_persons);
    KN_NEW_RAW(items->tuple, tuples->n_records);
    KN_NEW_RAW(items->start, (size_t)tuples->n_records + 1);
    KN_NEW_RAW(items->persons, tuples->n_records);
    uint32_t n = 0;
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint32_t last_person = KN_NONE;
        for (uint32_t i = tuple_start[t]; i < tuple_start[t + 1]; i++) {
            uint32_t person = counted != NULL ? tuples->row_person[items->rows[i]] : i;
            bool same = i > tuple_start[t] && person == last_person;
            bool full = i == tuple_start[t] || items->persons[n - 1] >= max_persons || max_persons == 1;
            if (!same && full) {
                items->tuple[n] = t;
                items->start[n] = i;
                items->persons[n++] = 0;
            }
            if (!same && (counted == NULL || !counted[person])) items->persons[n - 1]++;
            if (counted != NULL) counted[person] = true;
            last_person = person;
        }
    }
    items->start[n] = tuples->n_records;
    items->n = n;
done:
    kn_free(counted);
    return status;
}

static kn_status whole_tuples(kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = items->tuples;
    items->n = tuples->n_tuples;
    KN_NEW_RAW(items->tuple, items->n);
    KN_NEW_RAW(items->persons, items->n);
    for (uint32_t i = 0; i < items->n; i++) {
        items->tuple[i] = i;
        items->persons[i] = (uint32_t)tuples->persons_once[i];
    }
done:
    return status;
}

/* of_row[row] = of_item[the row's item] */
static void spread(uint32_t *of_row, const kn_items *items, const uint32_t *of_item)
{
    for (uint32_t row = 0; items->rows == NULL && row < items->tuples->n_records; row++)
        of_row[row] = of_item[items->tuples->row_tuple[row]];
    for (uint32_t i = 0; items->rows != NULL && i < items->n; i++)
        for (uint32_t j = items->start[i]; j < items->start[i + 1]; j++) of_row[items->rows[j]] = of_item[i];
}

static kn_status count_sensitive(kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = items->tuples;
    uint32_t *numbers = NULL, *item_of_row = NULL;
    KN_NEW_RAW(numbers, items->n);
    KN_NEW_RAW(item_of_row, tuples->n_records);
    for (uint32_t i = 0; i < items->n; i++) numbers[i] = i;
    spread(item_of_row, items, numbers);
    KN_NEW(items->sensitive, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_TRY(kn_histograms_count(&items->sensitive[s], tuples->sensitive[s].column, item_of_row, tuples->n_records,
                                   items->n, err));
done:
    kn_free(numbers);
    kn_free(item_of_row);
    return status;
}

kn_status kn_items_new(kn_items **out, const kn_tuples *tuples, uint64_t max_persons, bool histograms, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    uint32_t *tuple_start = NULL;
    *out = NULL;
    assert(max_persons > 0);
    KN_NEW(items, 1);
    items->tuples = tuples;
    if (max_persons == KN_WHOLE_TUPLES) {
        KN_TRY(whole_tuples(items, err));
    } else {
        KN_TRY(kn_tuples_rows(&tuple_start, &items->rows, tuples, err));
        if (tuples->row_person != NULL) KN_TRY(sort_by_person(items, tuple_start, err));
        KN_TRY(cut_pieces(items, tuple_start, max_persons, err));
    }
    if (histograms) KN_TRY(count_sensitive(items, err));
    *out = items;
    items = NULL;
done:
    kn_free(tuple_start);
    kn_items_free(items);
    return status;
}

kn_status kn_items_answer(kn_answer *answer, const kn_items *items, const uint32_t *item_class, uint32_t n_classes,
                          kn_error *err)
{
    kn_status status = KN_OK;
    answer->recoding = KN_RECODING_LOCAL;
    answer->bound = NAN;
    answer->n_classes = n_classes;
    KN_NEW_RAW(answer->row_class, items->tuples->n_records);
    for (uint32_t i = 0; i < items->n; i++) assert(item_class[i] < n_classes || item_class[i] == KN_NONE);
    spread(answer->row_class, items, item_class);
done:
    return status;
}

/* --- Closures and their price ---------------------------------------------------------------------------------- */

void kn_pricer_free(kn_pricer *pricer)
{
    if (pricer == NULL) return;
    kn_owner_free(&pricer->memory);
    kn_set_pool_free(pricer->sets);
    kn_free(pricer);
}

/* Sensitive values of the rows below each code, as sums: counts[(code + 1) * n_values + value]. */
static kn_status count_below(uint64_t **out, const kn_tuples *tuples, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sensitive *sensitive = &tuples->sensitive[0];
    size_t n_values = sensitive->n_values, n = ((size_t)tuples->domains[q]->n_codes + 1) * n_values;
    KN_NEW(*out, n);
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        uint32_t value = kn_column_value(sensitive->column, kn_column_code(sensitive->column, row));
        (*out)[(tuples->codes[q][tuples->row_tuple[row]] + (size_t)1) * n_values + value] +=
            kn_tuples_count(tuples, row);
    }
    for (size_t i = n_values; i < n; i++) (*out)[i] += (*out)[i - n_values];
done:
    return status;
}

enum { MAX_GUIDE_COUNTS = 1 << 22 };

/* guide[node] = what a row whose value lies in the node pays on average for column q, by the objective's price of the
 * class of all such rows, less the least of them. */
static kn_status find_guide(double *guide, const kn_objective *objective, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    const kn_tree *tree = tuples->domains[q]->tree;
    uint32_t n_values = tuples->sensitive[0].n_values, *values = NULL;
    uint64_t *below = NULL, *counts = NULL;
    kn_histogram *histograms = NULL;
    kn_cell *cells = NULL;
    double least = INFINITY;
    KN_TRY(count_below(&below, tuples, q, err));
    KN_NEW(values, n_values);
    KN_NEW(counts, n_values);
    KN_NEW(histograms, tuples->n_sensitive);
    KN_NEW(cells, tuples->n_qis);
    for (uint32_t p = 0; p < tuples->n_qis; p++) cells[p] = kn_domain_root(tuples->domains[p]);
    kn_cell root = cells[q];
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        kn_class_counts class = {.sensitive = histograms};
        uint32_t n = 0;
        for (uint32_t v = 0; v < n_values; v++) {
            uint64_t count = below[((size_t)tree->last[node] + 1) * n_values + v];
            count -= below[(size_t)tree->first[node] * n_values + v];
            if (count == 0) continue;
            values[n] = v;
            counts[n++] = count;
            class.n_rows += count;
        }
        histograms[0] = (kn_histogram){n, values, counts};
        class.n_persons = class.n_rows;
        if (class.n_rows == 0) continue;
        cells[q] = (kn_cell){tree->first[node], tree->last[node], node};
        double here = objective->type->price_class(objective->state, tuples, &class, cells, NULL, false);
        cells[q] = root;
        double at_root = objective->type->price_class(objective->state, tuples, &class, cells, NULL, false);
        guide[node] = (here - at_root) / (double)class.n_rows;
        least = fmin(least, guide[node]);
    }
    for (uint32_t node = 0; node < tree->n_nodes; node++) guide[node] = fmax(guide[node] - least, 0);
done:
    kn_free(below);
    kn_free(values);
    kn_free(counts);
    kn_free(histograms);
    kn_free(cells);
    return status;
}

/* All columns or none: width and average prices do not go together. */
static kn_status find_guides(kn_pricer *pricer, const kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    double **guides, sum = 0;
    if (objective->type->price_class == NULL || !(objective->type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN)) return KN_OK;
    if (tuples->n_sensitive != 1) return KN_OK;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        if (domain->kind != KN_DOMAIN_TREE) return KN_OK;
        if ((uint64_t)domain->n_codes * tuples->sensitive[0].n_values > MAX_GUIDE_COUNTS) return KN_OK;
    }
    KN_OWN(&pricer->memory, guides, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_tree *tree = tuples->domains[q]->tree;
        KN_OWN(&pricer->memory, guides[q], tree->n_nodes);
        KN_TRY(find_guide(guides[q], objective, q, err));
        sum += guides[q][tree->root];
    }
    for (uint32_t q = 0; q < tuples->n_qis && sum > 1e-9; q++) {
        pricer->columns[q].node_price = guides[q];
        pricer->columns[q].root_price = guides[q][tuples->domains[q]->tree->root];
    }
done:
    return status;
}

static kn_status price_members(kn_pricer *pricer, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    struct kn_column_price *column = &pricer->columns[q];
    const kn_subsets *subsets = column->domain->subsets;
    if (pricer->sets == NULL) KN_TRY(kn_set_pool_new(&pricer->sets, err));
    KN_OWN(&pricer->memory, column->member_price, subsets->n_members);
    KN_OWN(&pricer->memory, column->member_cell, subsets->n_members);
    for (uint32_t member = 0; member < subsets->n_members; member++) {
        const uint32_t *codes = subsets->codes + subsets->start[member], n = kn_subsets_size(subsets, member);
        kn_cell *cell = &column->member_cell[member];
        KN_TRY(kn_domain_closure(cell, column->domain, pricer->sets, codes, n, err));
        column->member_price[member] = pricer->by_cell
                                           ? kn_objective_price(pricer->objective, pricer->sets, q, cell)
                                           : (kn_cell_size(cell, column->domain, pricer->sets) - 1) * column->per_value;
    }
done:
    return status;
}

kn_status kn_pricer_new(kn_pricer **out, const kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    kn_pricer *pricer = NULL;
    const kn_tuples *tuples = objective->tuples;
    *out = NULL;
    KN_NEW(pricer, 1);
    pricer->objective = objective;
    pricer->n_qis = tuples->n_qis;
    pricer->by_cell = objective->type->price_cell != NULL;
    KN_OWN(&pricer->memory, pricer->columns, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        struct kn_column_price *column = &pricer->columns[q];
        const kn_domain *domain = column->domain = tuples->domains[q];
        column->root_price = pricer->by_cell ? objective->root_price[q] : domain->weight;
        column->per_value = domain->n_codes > 1 ? column->root_price / (domain->n_codes - 1) : 0;
        if (domain->kind == KN_DOMAIN_TREE && pricer->by_cell) column->node_price = objective->node_price[q];
        column->by_counts = pricer->by_cell && domain->kind == KN_DOMAIN_SETS && domain->subsets == NULL &&
                            domain->groups == NULL && objective->type->price_counts != NULL;
        column->weight = objective->type->per_cell ? domain->weight : 1;
        if (domain->kind == KN_DOMAIN_TREE) continue;
        if (domain->subsets != NULL) KN_TRY(price_members(pricer, q, err));
        KN_OWN(&pricer->memory, column->rows_log_rows, domain->n_codes);
        KN_OWN(&pricer->memory, column->rows_log_before, (size_t)domain->n_codes + 1);
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            double rows = (double)kn_domain_code_rows(domain, code);
            column->rows_log_rows[code] = rows > 0 ? rows * log2(rows) : 0;
            column->rows_log_before[code + 1] = column->rows_log_before[code] + column->rows_log_rows[code];
        }
    }
    KN_TRY(find_guides(pricer, objective, err));
    *out = pricer;
    pricer = NULL;
done:
    kn_pricer_free(pricer);
    return status;
}

static double number_of_code(const kn_domain *domain, uint32_t code)
{
    uint32_t spelling = domain->spelling_of_code[code];
    if (spelling == KN_NONE || code == domain->missing) return NAN;
    return domain->column->number[kn_column_value(domain->column, spelling)];
}

/* False: the values do not ascend, or are all the same. */
static bool place_by_value(double *places, const kn_domain *domain)
{
    double least = NAN, last = NAN;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        double number = number_of_code(domain, code);
        if (number < last) return false;
        if (!isnan(number)) last = number;
        if (isnan(least)) least = number;
        places[code] = isnan(last) ? 0 : last - least;
    }
    if (!(last > least)) return false;
    for (uint32_t code = 0; code < domain->n_codes; code++) places[code] /= last - least;
    return true;
}

kn_status kn_code_places(double **places, const kn_domain *domain, bool by_value, kn_error *err)
{
    kn_status status = KN_OK;
    *places = NULL;
    KN_NEW(*places, (size_t)domain->n_codes + 1);
    if (by_value && domain->column->number != NULL && place_by_value(*places, domain)) goto done;
    for (uint32_t code = 0; code < domain->n_codes; code++)
        (*places)[code] = domain->n_codes > 1 ? code / (domain->n_codes - 1.0) : 0;
done:
    return status;
}

bool kn_pricer_is_monotone(const kn_pricer *pricer)
{
    if (pricer->by_cell) return pricer->objective->type->monotone;
    return pricer->n_qis == 0 || pricer->columns[0].node_price == NULL; /* widths */
}

kn_say kn_pricer_followed(const kn_pricer *pricer)
{
    if (pricer->by_cell || pricer->n_qis == 0) return KN_SAY_NOTHING;
    return pricer->columns[0].node_price != NULL ? KN_SAY_FOLLOWED_AVERAGE : KN_SAY_FOLLOWED_WIDTH;
}

uint32_t kn_closure_node(const kn_tree *tree, uint32_t first, uint32_t last)
{
    uint32_t level = 0;
    while (tree->at_level[level][first] != tree->at_level[level][last]) level++;
    return tree->at_level[level][first];
}

kn_cell kn_pricer_cell(const kn_pricer *pricer, uint32_t q, const kn_span *span)
{
    const struct kn_column_price *column = &pricer->columns[q];
    return column->member_cell != NULL ? column->member_cell[span->member] : kn_span_cell(column->domain, span);
}

kn_cell kn_span_cell(const kn_domain *domain, const kn_span *span)
{
    if (domain->kind == KN_DOMAIN_TREE) {
        uint32_t node = kn_closure_node(domain->tree, span->first, span->last);
        return (kn_cell){domain->tree->first[node], domain->tree->last[node], node};
    }
    if (span->first != span->last && span->last == domain->missing) return kn_domain_root(domain);
    kn_cell cell = {span->first, span->last, KN_NONE};
    kn_domain_widen(domain, &cell.first, &cell.last);
    return cell;
}

static double width_price(const struct kn_column_price *column, const kn_span *span)
{
    const kn_domain *domain = column->domain;
    uint32_t n_values = span->n_values;
    if (domain->kind == KN_DOMAIN_TREE) {
        uint32_t node = kn_closure_node(domain->tree, span->first, span->last);
        n_values = domain->tree->last[node] - domain->tree->first[node] + 1;
    } else if (domain->kind == KN_DOMAIN_RANGES) {
        uint32_t first = span->first, last = span->last;
        kn_domain_widen(domain, &first, &last);
        n_values = last - first + 1;
    } else {
        uint32_t node;
        if (!kn_domain_is_small(&node, domain, span->first, span->last, n_values))
            n_values = domain->groups->last[node] - domain->groups->first[node] + 1;
    }
    return (n_values - 1) * column->per_value;
}

double kn_pricer_price(const kn_pricer *pricer, uint32_t q, const kn_span *span)
{
    const struct kn_column_price *column = &pricer->columns[q];
    const kn_domain *domain = column->domain;
    if (column->node_price != NULL) return column->node_price[kn_closure_node(domain->tree, span->first, span->last)];
    if (column->member_price != NULL) return column->member_price[span->member];
    bool single = span->first == span->last;
    /* A missing value is in no interval: together with anything else only the whole domain holds it. */
    if (domain->kind == KN_DOMAIN_RANGES && !single && span->last == domain->missing) return column->root_price;
    if (!pricer->by_cell) return width_price(column, span);
    if (single || domain->kind == KN_DOMAIN_RANGES) {
        kn_cell cell = {span->first, span->last, KN_NONE};
        kn_domain_widen(domain, &cell.first, &cell.last);
        return kn_objective_price(pricer->objective, NULL, q, &cell);
    }
    const kn_objective *objective = pricer->objective;
    if (span->n_values == domain->n_codes) return column->root_price;
    uint32_t node;
    if (!kn_domain_is_small(&node, domain, span->first, span->last, span->n_values)) {
        kn_cell cell = {domain->groups->first[node], domain->groups->last[node], KN_NONE};
        return kn_objective_price(objective, NULL, q, &cell); /* without an id: all from its first to its last */
    }
    /* Without price_counts only the finished set can be priced: until then its width stands for it. */
    if (objective->type->price_counts == NULL) return width_price(column, span);
    return objective->type->price_counts(objective->state, objective->tuples, q, span->n_values, span->n_rows,
                                         span->rows_log_rows) *
           column->weight;
}

kn_status kn_growing_init(kn_growing *growing, const kn_pricer *pricer, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    *growing = (kn_growing){.pricer = pricer, .tuples = tuples};
    KN_OWN(&growing->memory, growing->stamp, tuples->n_qis);
    KN_OWN(&growing->memory, growing->spans, tuples->n_qis);
    KN_OWN(&growing->memory, growing->prices, tuples->n_qis);
    KN_OWN(&growing->memory, growing->open, tuples->n_qis);
    KN_OWN(&growing->memory, growing->summed, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (tuples->domains[q]->kind == KN_DOMAIN_SETS)
            KN_OWN(&growing->memory, growing->stamp[q], tuples->domains[q]->n_codes);
    kn_growing_clear(growing);
done:
    if (status != KN_OK) kn_growing_free(growing);
    return status;
}

void kn_growing_free(kn_growing *growing)
{
    kn_owner_free(&growing->memory);
    *growing = (kn_growing){0};
}

/* From here on no value has been met. */
static void start_class(kn_growing *growing)
{
    const kn_tuples *tuples = growing->tuples;
    if (++growing->n_classes != 0) return;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        for (uint32_t c = 0; growing->stamp[q] != NULL && c < tuples->domains[q]->n_codes; c++)
            growing->stamp[q][c] = 0;
    growing->n_classes = 1;
}

void kn_growing_clear_open(kn_growing *growing)
{
    start_class(growing);
    for (uint32_t i = 0; i < growing->n_open; i++) {
        growing->spans[growing->open[i]] = kn_span_empty();
        growing->prices[growing->open[i]] = 0;
    }
    growing->changed = true;
}

void kn_growing_clear(kn_growing *growing)
{
    growing->n_open = growing->n_summed = growing->tuples->n_qis;
    for (uint32_t q = 0; q < growing->n_open; q++) growing->open[q] = growing->summed[q] = q;
    kn_growing_clear_open(growing);
    growing->price = 0;
    growing->changed = false;
}

static void price_column(kn_growing *growing, uint32_t q)
{
    if (isnan(growing->prices[q])) growing->prices[q] = kn_pricer_price(growing->pricer, q, &growing->spans[q]);
}

/* Nothing is added to a sum by what costs nothing. */
void kn_growing_settle(kn_growing *growing, const uint32_t *open, uint32_t n_open)
{
    growing->n_open = growing->n_summed = 0;
    for (uint32_t q = 0; q < growing->tuples->n_qis; q++) {
        bool is_open = growing->n_open < n_open && open[growing->n_open] == q;
        if (is_open) growing->open[growing->n_open++] = q;
        else price_column(growing, q);
        if (is_open || growing->prices[q] != 0) growing->summed[growing->n_summed++] = q;
    }
    growing->changed = true;
}

bool kn_growing_add_code(kn_growing *growing, uint32_t q, uint32_t code)
{
    uint32_t *stamp = growing->stamp[q];
    kn_span *span = &growing->spans[q];
    if (stamp != NULL) {
        if (stamp[code] == growing->n_classes) return false;
        stamp[code] = growing->n_classes;
        kn_span_add_value(span, &growing->pricer->columns[q], code);
    } else if (code >= span->first && code <= span->last) {
        return false;
    }
    if (code < span->first) span->first = code;
    if (code > span->last) span->last = code;
    growing->prices[q] = NAN;
    growing->changed = true;
    return true;
}

void kn_growing_add(kn_growing *growing, uint32_t tuple)
{
    for (uint32_t q = 0; q < growing->tuples->n_qis; q++)
        kn_growing_add_code(growing, q, growing->tuples->codes[q][tuple]);
}

double kn_growing_price(kn_growing *growing)
{
    if (!growing->changed) return growing->price;
    growing->price = 0;
    for (uint32_t i = 0; i < growing->n_summed; i++) {
        price_column(growing, growing->summed[i]);
        growing->price += growing->prices[growing->summed[i]];
    }
    growing->changed = false;
    return growing->price;
}

/* --- Tallies --------------------------------------------------------------------------------------------------- */

kn_status kn_tally_init(kn_tally *tally, const kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = items->tuples;
    *tally = (kn_tally){.items = items};
    if (items->sensitive == NULL) return KN_OK;
    KN_OWN(&tally->memory, tally->counts, tuples->n_sensitive);
    KN_OWN(&tally->memory, tally->listed, tuples->n_sensitive);
    KN_OWN(&tally->memory, tally->view, tuples->n_sensitive);
    tally->n_sensitive = tuples->n_sensitive;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_OWN(&tally->memory, tally->counts[s], 2 * (size_t)tuples->sensitive[s].n_values);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_OWN(&tally->memory, tally->listed[s], tuples->sensitive[s].n_values);
done:
    if (status != KN_OK) kn_tally_free(tally);
    return status;
}

void kn_tally_free(kn_tally *tally)
{
    kn_owner_free(&tally->memory);
    *tally = (kn_tally){0};
}

void kn_tally_clear(kn_tally *tally)
{
    tally->n_rows = tally->n_persons = 0;
    for (uint32_t s = 0; s < tally->n_sensitive; s++)
        memset(tally->counts[s], 0, tally->items->tuples->sensitive[s].n_values * sizeof **tally->counts);
}

void kn_tally_add(kn_tally *tally, uint32_t item)
{
    const kn_items *items = tally->items;
    tally->n_rows += kn_items_rows(items, item);
    tally->n_persons += items->persons[item];
    for (uint32_t s = 0; s < tally->n_sensitive; s++) {
        const kn_histogram own = kn_histogram_of(&items->sensitive[s], item);
        for (uint32_t e = 0; e < own.n; e++) tally->counts[s][own.values[e]] += own.counts[e];
    }
}

bool kn_tally_holds(const kn_models *models, kn_tally *whole, const kn_tally *part)
{
    kn_class_counts counts = {.n_rows = whole->n_rows, .n_persons = whole->n_persons};
    if (part != NULL) counts.n_rows -= part->n_rows, counts.n_persons -= part->n_persons;
    if (counts.n_persons < models->min_persons) return false;
    if (models->counts_only) return true;
    for (uint32_t s = 0; s < whole->n_sensitive; s++) {
        const uint32_t n_values = whole->items->tuples->sensitive[s].n_values;
        uint32_t n = 0, *listed = whole->listed[s];
        uint64_t *listed_counts = whole->counts[s] + n_values;
        for (uint32_t v = 0; v < n_values; v++) {
            uint64_t count = whole->counts[s][v] - (part != NULL ? part->counts[s][v] : 0);
            if (count == 0) continue;
            listed[n] = v;
            listed_counts[n++] = count;
        }
        whole->view[s] = (kn_histogram){n, listed, listed_counts};
    }
    counts.sensitive = whole->view;
    return kn_models_hold(models, &counts);
}
