/* The population as points over the quasi-identifiers' domains, in a box tree.
 *
 * Cost: one sort; a class is then one question to the tree. */
#include "privacy/population.h"

#include "base/bytes.h"
#include "table/number.h"

#include <string.h>

struct kn_population {
    const kn_tuples *tuples;
    uint64_t n_persons;
    kn_box_tree *tree;
};

enum { MAX_QIS = 1024 };

/* --- Places: where a value of the population lies in a domain ---------------------------------------------------- */

/* Trees and sets: the code. Ordered domains: 4*code + 2, and three places in the gap before it: 4*code - 1 for what
 * lies in the grid cell of the code before it, 4*code + 1 for what lies in its own, 4*code for the rest. One place
 * more, at the end, is for values that only the whole domain covers. */
enum { ROOM = 4, AT_CODE = 2, BEHIND = 1, BEFORE = 1 };

static uint32_t place_of_code(const kn_domain *domain, uint32_t code)
{
    return domain->kind == KN_DOMAIN_RANGES ? ROOM * code + AT_CODE : code;
}

static uint32_t place_nowhere(const kn_domain *domain) { return place_of_code(domain, domain->n_codes); }

/* Exact: long numbers may share a double and still differ. */
static int compare_values(const kn_column *ours, uint32_t our_spelling, const kn_column *theirs, uint32_t spelling)
{
    double a = ours->number[kn_column_value(ours, our_spelling)], b = theirs->number[kn_column_value(theirs, spelling)];
    if (a != b || ours->type == KN_TYPE_DATE) return (a > b) - (a < b);
    kn_decimal x, y;
    size_t n_x, n_y;
    const char *bytes_x = kn_column_bytes(ours, our_spelling, &n_x), *bytes_y = kn_column_bytes(theirs, spelling, &n_y);
    kn_decimal_parse(&x, bytes_x, n_x, true);
    kn_decimal_parse(&y, bytes_y, n_y, true);
    return kn_decimal_compare(&x, &y);
}

/* The spellings that are not missing: they stand first. */
static uint32_t n_present(const kn_column *column)
{
    uint32_t n = column->n_spellings;
    while (n > 0 && column->has_missing && kn_column_value(column, n - 1) == column->n_values - 1) n--;
    return n;
}

/* Numbers and dates: the value itself, or the gap that it falls into. Under order() there are gaps only where the order
 * is that of the numbers; otherwise nobody knows where a value that the table lacks would stand. */
static uint32_t range_place(const kn_domain *domain, bool has_gaps, const kn_column *theirs, uint32_t spelling)
{
    const kn_column *ours = domain->column;
    uint32_t n = n_present(ours), low = 0, high = n;
    while (low < high) { /* the first of our spellings that is not below theirs */
        uint32_t middle = low + (high - low) / 2;
        if (compare_values(ours, middle, theirs, spelling) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < n && compare_values(ours, low, theirs, spelling) == 0)
        return place_of_code(domain, domain->code_of_spelling[low]);
    if (!has_gaps) return place_nowhere(domain);
    uint32_t code = low < n ? domain->code_of_spelling[low] : ours->n_values - (ours->has_missing ? 1 : 0);
    if (domain->grid_first == NULL) return ROOM * code;
    size_t n_bytes;
    const char *bytes = kn_column_bytes(theirs, spelling, &n_bytes);
    double number = theirs->number[kn_column_value(theirs, spelling)];
    if (code > 0 && kn_domain_in_grid_cell(domain, code - 1, number, bytes, n_bytes))
        return place_of_code(domain, code - 1) + BEHIND;
    if (low < n && kn_domain_in_grid_cell(domain, code, number, bytes, n_bytes))
        return place_of_code(domain, code) - BEFORE;
    return ROOM * code;
}

static bool codes_are_values(const kn_domain *domain)
{
    for (uint32_t s = 0; s < domain->column->n_spellings; s++)
        if (domain->code_of_spelling[s] != kn_column_value(domain->column, s) &&
            !kn_domain_is_coded(domain, domain->code_of_spelling[s]))
            return false;
    return true;
}

/* Spellings of text stand by their bytes, the missing ones last. */
static uint32_t find_text(const kn_column *column, const char *bytes, size_t n_bytes)
{
    uint32_t low = 0, high = n_present(column);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t n;
        const char *ours = kn_column_bytes(column, middle, &n);
        int order = kn_bytes_compare(ours, n, bytes, n_bytes);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return KN_NONE;
}

static uint32_t find_code(const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    if (domain->kind == KN_DOMAIN_TREE) return kn_tree_find_leaf(domain->tree, bytes, n_bytes);
    if (domain->subsets != NULL) return kn_tree_find_leaf(domain->subsets->lines, bytes, n_bytes);
    uint32_t spelling = find_text(domain->column, bytes, n_bytes);
    return spelling != KN_NONE ? domain->code_of_spelling[spelling] : KN_NONE;
}

static uint32_t place_of(const kn_domain *domain, bool has_gaps, const kn_column *column, uint32_t spelling)
{
    uint32_t value = kn_column_value(column, spelling), code = domain->missing;
    bool is_missing = column->has_missing && value == column->n_values - 1;
    if (!is_missing) {
        if (domain->kind == KN_DOMAIN_RANGES && domain->column->number != NULL)
            return range_place(domain, has_gaps, column, spelling);
        size_t n_bytes;
        const char *bytes = kn_column_bytes(column, spelling, &n_bytes);
        code = find_code(domain, bytes, n_bytes);
    }
    return code != KN_NONE ? place_of_code(domain, code) : place_nowhere(domain);
}

static bool is_whole(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    if (domain->kind == KN_DOMAIN_TREE) return cell->id == domain->tree->root && domain->tree->n_nodes > 1;
    return domain->n_codes > 1 && kn_cell_size(cell, domain, sets) == domain->n_codes;
}

/* A label that repeats below itself names its widest node: a reader cannot know that less was meant. */
static kn_cell as_read(kn_cell cell, const kn_domain *domain)
{
    size_t n_bytes;
    const kn_tree *tree = domain->tree;
    if (domain->kind != KN_DOMAIN_TREE || cell.id >= tree->n_nodes) return cell; /* no node: a text of its own */
    const char *label = kn_tree_label(tree, cell.id, &n_bytes);
    const uint32_t node = kn_tree_find(tree, label, n_bytes);
    return (kn_cell){tree->first[node], tree->last[node], node};
}

static kn_box_side side_of(const kn_cell *written, const kn_domain *domain, const kn_set_pool *sets)
{
    const kn_cell read = as_read(*written, domain), *cell = &read;
    if (is_whole(cell, domain, sets)) return (kn_box_side){0, UINT32_MAX, NULL, 0, 0};
    kn_box_side side = kn_cell_side(cell, domain, sets);
    side.first = place_of_code(domain, side.first);
    side.last = place_of_code(domain, side.last);
    const bool is_whole_cells = cell->first != cell->last || kn_domain_is_coded(domain, cell->first);
    if (domain->grid_first != NULL && is_whole_cells) {
        side.first -= BEFORE;
        side.last += BEHIND;
    }
    return side;
}

/* --- Building ---------------------------------------------------------------------------------------------------- */

static kn_status place_column(uint32_t *places, const kn_domain *domain, const kn_table *people, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *of_spelling = NULL, index = kn_table_find(people, domain->name);
    if (index == KN_NONE || people->columns[index].codes == NULL)
        KN_FAIL(KN_INPUT, "%s: the population has no column %.40s", people->source, domain->name);
    const kn_column *column = &people->columns[index];
    if (domain->kind == KN_DOMAIN_RANGES && domain->column->number != NULL && column->number == NULL)
        KN_FAIL(KN_INPUT, "%s: column %.40s of the population is %s, that of the table is %s", people->source,
                domain->name, kn_type_name(column->type), kn_type_name(domain->column->type));
    KN_NEW(of_spelling, column->n_spellings);
    bool has_gaps = domain->kind == KN_DOMAIN_RANGES && codes_are_values(domain);
    for (uint32_t spelling = 0; spelling < column->n_spellings; spelling++)
        of_spelling[spelling] = place_of(domain, has_gaps, column, spelling);
    for (uint32_t row = 0; row < people->n_rows; row++) places[row] = of_spelling[kn_column_code(column, row)];
done:
    kn_free(of_spelling);
    return status;
}

kn_status kn_population_new(kn_population **out, const kn_table *people, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    kn_population *population = NULL;
    uint32_t **places = NULL;
    *out = NULL;
    if (tuples->n_qis > MAX_QIS)
        KN_FAIL(KN_USAGE, "a population needs at most %d quasi-identifiers, there are %u", MAX_QIS, tuples->n_qis);
    KN_NEW(population, 1);
    KN_NEW(places, tuples->n_qis);
    population->tuples = tuples;
    population->n_persons = people->n_rows;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        KN_NEW_RAW(places[q], people->n_rows);
        KN_TRY(place_column(places[q], tuples->domains[q], people, err));
    }
    KN_TRY(kn_box_tree_new(&population->tree, people->n_rows, tuples->n_qis, places, NULL, err));
    *out = population;
    population = NULL;
done:
    for (uint32_t q = 0; places != NULL && q < tuples->n_qis; q++) kn_free(places[q]);
    kn_free(places);
    kn_population_free(population);
    return status;
}

void kn_population_free(kn_population *population)
{
    if (population == NULL) return;
    kn_box_tree_free(population->tree);
    kn_free(population);
}

uint64_t kn_population_size(const kn_population *population) { return population->n_persons; }

uint64_t kn_population_count(const kn_population *population, const kn_cell *cells, const kn_set_pool *sets)
{
    const kn_tuples *tuples = population->tuples;
    kn_box_side box[MAX_QIS];
    if (cells == NULL) return population->n_persons;
    for (uint32_t q = 0; q < tuples->n_qis; q++) box[q] = side_of(&cells[q], tuples->domains[q], sets);
    return kn_box_tree_weight(population->tree, box);
}
