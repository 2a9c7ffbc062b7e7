/* From tuples, models and objective to what the blocks of `cluster` search on: records, lanes, prices in units.
 *
 * A record is one row. Rows of a tuple that occurs more than three times as often as a class needs are not all
 * searched: two classes' worth take part, the others are a class of their own that costs nothing ("reserved"). Models
 * that look at more than counts see all rows, and so does a search that starts from given classes.
 *
 * With a person column every person counts at its first row only, so the persons of a class are never overcounted,
 * however the rows of a tuple are spread. */
#include "search/cluster/cluster.h"

#include <math.h>
#include <string.h>

enum { SHARED_BITS_PER_PERSON = 8 };

void kn_cluster_problem_free(kn_cluster_problem *problem)
{
    if (problem == NULL) return;
    kn_owner_free(&problem->memory);
    kn_free(problem->reserved_start.items);
    kn_free(problem->reserved_rows.items);
    kn_pricer_free(problem->pricer);
    kn_free(problem);
}

/* --- Records ---------------------------------------------------------------------------------------------------- */

/* The rows of one tuple, those that count as a person first. */
static kn_status add_tuple(kn_cluster_problem *problem, uint32_t tuple, const uint32_t *rows, uint32_t n_rows,
                           uint32_t n_persons, bool may_set_aside, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_searched = n_rows, k = problem->k;
    if (may_set_aside && problem->counts_only && n_persons / 3 > k) {
        n_searched = 2 * k;
        KN_PUSH(&problem->reserved_start, (uint32_t)problem->reserved_rows.n);
        for (uint32_t i = n_searched; i < n_rows; i++) KN_PUSH(&problem->reserved_rows, rows[i]);
        problem->n_reserved++;
    }
    for (uint32_t i = 0; i < n_searched; i++) {
        problem->record_tuple[problem->n_records] = tuple;
        problem->record_row[problem->n_records] = rows[i];
        if (problem->record_person != NULL) problem->record_person[problem->n_records] = i < n_persons;
        problem->n_records++;
    }
done:
    return status;
}

static kn_status make_records(kn_cluster_problem *problem, bool may_set_aside, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->tuples;
    uint32_t *start = NULL, *rows = NULL, *others = NULL;
    uint8_t *seen = NULL;
    KN_TRY(kn_tuples_rows(&start, &rows, tuples, err));
    KN_OWN_RAW(&problem->memory, problem->record_tuple, tuples->n_rows);
    KN_OWN_RAW(&problem->memory, problem->record_row, tuples->n_rows);
    if (tuples->row_person != NULL) {
        KN_OWN_RAW(&problem->memory, problem->record_person, tuples->n_rows);
        KN_NEW(seen, tuples->n_persons);
        KN_NEW_RAW(others, tuples->n_rows);
    }
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint32_t n = start[t + 1] - start[t], n_first = n, n_others = 0;
        if (seen != NULL) {
            n_first = 0;
            for (uint32_t i = start[t]; i < start[t + 1]; i++) {
                uint32_t person = tuples->row_person[rows[i]];
                if (seen[person]) others[n_others++] = rows[i];
                else rows[start[t] + n_first++] = rows[i];
                seen[person] = 1;
            }
            for (uint32_t i = 0; i < n_others; i++) rows[start[t] + n_first + i] = others[i];
        }
        KN_TRY(add_tuple(problem, t, rows + start[t], n, n_first, may_set_aside, err));
    }
    KN_PUSH(&problem->reserved_start, (uint32_t)problem->reserved_rows.n);
done:
    kn_free(start);
    kn_free(rows);
    kn_free(others);
    kn_free(seen);
    return status;
}

/* --- Prices ----------------------------------------------------------------------------------------------------- */

/* The tree of labels, or that of groups; NULL: the column has neither. */
static const kn_tree *domain_tree(const kn_domain *domain)
{
    return domain->kind == KN_DOMAIN_TREE ? domain->tree : domain->groups;
}

static double span_price(const kn_cluster_problem *problem, uint32_t q, uint32_t first, uint32_t last);

static double node_price(const kn_cluster_problem *problem, uint32_t q, uint32_t node)
{
    const kn_domain *domain = problem->tuples->domains[q];
    const kn_tree *tree = domain_tree(domain);
    kn_span span = {.first = tree->first[node], .last = tree->last[node]};
    if (domain->kind == KN_DOMAIN_SETS) return span_price(problem, q, span.first, span.last);
    const kn_objective *objective = problem->task->objective;
    return objective->node_price != NULL ? objective->node_price[q][node] : kn_pricer_price(problem->pricer, q, &span);
}

/* Units per price. Where all prices are multiples of one, units are a multiple of that one, and exact. */
static double choose_scale(kn_cluster_problem *problem, double total)
{
    const kn_tuples *tuples = problem->tuples;
    double least = INFINITY;
    problem->units_exact = problem->n_ranges + problem->n_sets == 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) problem->units_exact &= tuples->domains[q]->kind == KN_DOMAIN_TREE;
    for (uint32_t q = 0; q < tuples->n_qis && problem->units_exact; q++)
        for (uint32_t node = 0; node < tuples->domains[q]->tree->n_nodes; node++) {
            double price = fabs(node_price(problem, q, node));
            if (price > 0 && price < least) least = price;
        }
    if (!problem->units_exact || least == INFINITY) return total > 0 ? KN_UNITS_ROOT / total : 1;
    for (uint32_t q = 0; q < tuples->n_qis && problem->units_exact; q++)
        for (uint32_t node = 0; node < tuples->domains[q]->tree->n_nodes && problem->units_exact; node++) {
            double multiple = node_price(problem, q, node) / least;
            problem->units_exact = fabs(multiple - round(multiple)) < 1e-9;
        }
    double multiples = round(total / least);
    problem->units_exact = problem->units_exact && multiples <= KN_UNITS_ROOT;
    return problem->units_exact ? floor(KN_UNITS_ROOT / multiples) / least : KN_UNITS_ROOT / total;
}

/* The lanes of a tree: one per level whose nodes differ from the level below; the root needs none. */
static kn_status tree_lanes(kn_cluster_problem *problem, uint32_t q, double scale, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = problem->tuples->domains[q];
    const kn_tree *tree = domain_tree(domain);
    uint32_t level = 0;
    for (uint32_t code = 0; code < domain->n_codes; code++)
        problem->base[q][code] = (int16_t)lround(scale * node_price(problem, q, code));
    while (level + 1 < tree->n_levels && domain->n_codes > 1) {
        uint32_t next = level + 1;
        for (; next + 1 < tree->n_levels; next++) {
            bool differs = false;
            for (uint32_t code = 1; code < domain->n_codes && !differs; code++)
                differs = tree->at_level[level][code - 1] != tree->at_level[level][code] &&
                          tree->at_level[next][code - 1] == tree->at_level[next][code];
            if (differs) break;
        }
        kn_cluster_equal *lane = &problem->equal[problem->n_equal++];
        *lane = (kn_cluster_equal){.q = q, .value = tree->at_level[level], .n_values = tree->n_nodes};
        KN_OWN(&problem->memory, lane->weight, domain->n_codes);
        for (uint32_t code = 0; code < domain->n_codes; code++)
            lane->weight[code] = (int16_t)(lround(scale * node_price(problem, q, tree->at_level[next][code])) -
                                           lround(scale * node_price(problem, q, tree->at_level[level][code])));
        level = next;
    }
done:
    return status;
}

static const kn_measure *task_measure(const kn_cluster_problem *problem) { return problem->task->objective->type; }

/* A set of neighbours that has to be made to be priced. */
static double made_set_price(const kn_cluster_problem *problem, uint32_t q, uint32_t first, uint32_t last)
{
    kn_set_pool *pool = NULL;
    uint32_t *codes = kn_array_alloc(last - first + 1, sizeof *codes, NULL);
    double price = problem->pricer->columns[q].root_price;
    kn_cell cell;
    for (uint32_t code = first; codes != NULL && code <= last; code++) codes[code - first] = code;
    if (codes != NULL && kn_set_pool_new(&pool, NULL) == KN_OK &&
        kn_domain_closure(&cell, problem->tuples->domains[q], pool, codes, last - first + 1, NULL) == KN_OK)
        price = kn_objective_price(problem->task->objective, pool, q, &cell);
    kn_set_pool_free(pool);
    kn_free(codes);
    return price;
}

/* Price of the codes first..last as one cell of a RANGES or SETS domain. */
static double span_price(const kn_cluster_problem *problem, uint32_t q, uint32_t first, uint32_t last)
{
    const struct kn_column_price *column = &problem->pricer->columns[q];
    kn_span span = {.first = first, .last = last};
    bool is_set = problem->tuples->domains[q]->kind == KN_DOMAIN_SETS;
    if (is_set && problem->sets_need_making) return made_set_price(problem, q, first, last);
    for (uint32_t code = first; is_set && code <= last; code++) kn_span_add_value(&span, column, code);
    return kn_pricer_price(problem->pricer, q, &span);
}

/* How far the codes first..last reach as one cell: for ranges to the ends of their grid cells. */
static double released_width(const kn_domain *domain, uint32_t first, uint32_t last)
{
    if (domain->kind == KN_DOMAIN_RANGES) kn_domain_widen(domain, &first, &last);
    return last - first;
}

/* A straight line for the price of ranges and sets by their width: through the mean price of two neighbours, and the
 * root's. What it is far from is decided on exact prices. Returns the price that it starts from. */
static double fit_line(kn_cluster_problem *problem, uint32_t q)
{
    const kn_domain *domain = problem->tuples->domains[q];
    uint32_t n = domain->n_codes - (domain->kind == KN_DOMAIN_RANGES && domain->missing != KN_NONE);
    double root = problem->pricer->columns[q].root_price, pair = 0, share = 0, widest = domain->n_codes - 1.0;
    if (n < 3) {
        if (n == 2) problem->units_lead = problem->units_lead && domain->n_codes == 2;
        return n == 2 ? span_price(problem, q, 0, 1) : 0;
    }
    uint32_t step = n / 256 + 1, n_pairs = 0, most = domain->groups != NULL ? domain->max_members : 4096;
    for (uint32_t code = 0; code + 1 < n; code += step, n_pairs++) {
        pair += span_price(problem, q, code, code + 1);
        share += released_width(domain, code, code + 1) / widest;
    }
    double start = share < n_pairs ? (pair - root * share) / (n_pairs - share) : 0;
    if (start < 1e-9 * root) start = 0;
    for (uint32_t code = 0; code + 1 < n; code += step)
        for (uint32_t width = 1; code + width < n && width < most; width *= 3) {
            double line = start + (root - start) * released_width(domain, code, code + width) / widest;
            if (fabs(span_price(problem, q, code, code + width) - line) > 1e-3 * root) problem->units_lead = false;
        }
    return start;
}

/* A lane for what costs less alone than its ends say: a value whose grid cell has others, and the missing value, which
 * spans everything. Such a record pays less by that much (`base`), and pays it back where its class has other values.
 */
static kn_status alone_lane(kn_cluster_problem *problem, const kn_cluster_range *range, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = problem->tuples->domains[range->q];
    if (domain->missing == KN_NONE && domain->grid_first == NULL) return KN_OK;
    kn_cluster_equal *lane = &problem->equal[problem->n_equal++];
    *lane = (kn_cluster_equal){.q = range->q, .n_values = domain->grid_first != NULL ? domain->n_codes : 2};
    KN_OWN(&problem->memory, lane->owned, domain->n_codes);
    KN_OWN(&problem->memory, lane->weight, domain->n_codes);
    lane->value = lane->owned;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        uint32_t span = KN_STAR - range->high_complement[code] - range->low[code];
        int32_t units = (int32_t)(span * range->factor >> 16) + (span > 0 ? range->jump : 0);
        lane->owned[code] = domain->grid_first != NULL ? code : code == domain->missing;
        if (kn_domain_is_coded(domain, code)) continue; /* never less than its zone */
        lane->weight[code] = (int16_t)units;
        problem->base[range->q][code] = (int16_t)-units;
    }
done:
    return status;
}

static kn_status range_lanes(kn_cluster_problem *problem, uint32_t q, double scale, int32_t root_units, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = problem->tuples->domains[q];
    kn_cluster_range *range = &problem->ranges[problem->n_ranges++];
    uint32_t widest = domain->n_codes > 1 ? domain->n_codes - 1 : 1;
    int32_t jump = (int32_t)lround(scale * fit_line(problem, q));
    if (jump > root_units) jump = root_units;
    *range = (kn_cluster_range){
        .q = q, .jump = (uint16_t)jump, .factor = (uint16_t)(root_units - jump + (root_units > jump))};
    KN_OWN(&problem->memory, range->low, domain->n_codes);
    KN_OWN(&problem->memory, range->high_complement, domain->n_codes);
    if (widest > KN_STAR) problem->lanes_exact = false;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing) continue; /* zeros: it spans everything */
        uint32_t first = domain->grid_first != NULL ? domain->grid_first[code] : code;
        uint32_t last = domain->grid_first != NULL ? domain->grid_last[code] : code;
        range->low[code] = (uint16_t)((uint64_t)first * KN_STAR / widest);
        range->high_complement[code] = (uint16_t)(KN_STAR - (uint64_t)last * KN_STAR / widest);
    }
    KN_TRY(alone_lane(problem, range, err));
done:
    return status;
}

/* Sets with more values than bits: classes seldom have two values that share one where they have few values. With
 * groups they have few, or their number does not matter. */
static kn_status set_lanes(kn_cluster_problem *problem, uint32_t q, double scale, int32_t root_units, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = problem->tuples->domains[q];
    uint32_t n_codes = domain->n_codes, n_lanes = (n_codes + KN_LANES - 1) / KN_LANES;
    uint32_t first_equal = problem->n_equal;
    uint32_t n_folded = n_lanes < KN_FOLDED_LANES ? n_lanes : KN_FOLDED_LANES;
    n_lanes = (n_lanes + n_folded - 1) / n_folded * n_folded;
    if (n_lanes > KN_SET_LANES) n_lanes = KN_SET_LANES;
    uint32_t n_bits = n_codes < n_lanes * KN_LANES ? n_codes : n_lanes * KN_LANES;
    uint32_t widest = n_bits > 1 ? n_bits - 1 : 1;
    uint16_t step = (uint16_t)(KN_STAR / widest);
    int32_t jump = (int32_t)lround(scale * fit_line(problem, q));
    if (jump > root_units) jump = root_units;
    double per_value = n_codes > 1 ? (root_units - jump) / (n_codes - 1.0) : 0;
    if (n_bits < n_codes) problem->lanes_exact = problem->units_close = false;
    if (n_bits < n_codes && domain->groups == NULL && problem->k > n_bits / SHARED_BITS_PER_PERSON)
        problem->units_lead = false;
    if (domain->groups != NULL) KN_TRY(tree_lanes(problem, q, scale, err));
    problem->sets[problem->n_sets++] =
        (kn_cluster_set){.q = q,
                         .n_lanes = n_lanes,
                         .n_folded = n_folded,
                         .step = step,
                         .jump = (uint16_t)jump,
                         .factor = (uint16_t)ceil(per_value * (KN_STAR + 1.0) / step),
                         .max_members = domain->groups != NULL ? domain->max_members : KN_NONE,
                         .first_equal = first_equal,
                         .n_equal = problem->n_equal - first_equal};
done:
    return status;
}

/* A collection of subsets of which every member gets a lane; a larger one is treated as sets. */
static bool has_subset_lanes(const kn_domain *domain)
{
    return domain->subsets != NULL && domain->subsets->n_members - domain->n_codes <= KN_SUBSET_LANES;
}

/* A lane per subset: is the value in it? Prices are sums over the members that hold a class (Moebius inversion, from
 * the largest down): part(M) = price(M) - sum of part(N) over the members N around M. A record in M loses that part
 * when somebody outside M joins it. */
static kn_status subset_lanes(kn_cluster_problem *problem, uint32_t q, double scale, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_subsets *s = problem->tuples->domains[q]->subsets;
    const double *price = problem->pricer->columns[q].member_price;
    int32_t *part = NULL;
    bool *counts = NULL;
    KN_NEW(part, s->n_members);
    KN_NEW(counts, s->n_members); /* not so second names for a single value or for everything */
    for (uint32_t m = 0; m < s->n_members; m++) {
        uint32_t closure = s->codes[s->start[m]];
        for (uint32_t i = s->start[m]; i < s->start[m + 1]; i++) closure = kn_subsets_with(s, closure, s->codes[i]);
        counts[m] = closure == m;
    }
    for (uint32_t size = s->n_codes; size > 0; size--)
        for (uint32_t m = 0; m < s->n_members; m++) {
            if (!counts[m] || kn_subsets_size(s, m) != size) continue;
            part[m] = (int32_t)lround(scale * price[m]);
            for (uint32_t n = 0; n < s->n_members; n++)
                if (counts[n] && n != m && kn_subsets_join(s, n, m) == n) part[m] -= part[n];
        }
    for (uint32_t m = s->n_codes - 1; m < s->root; m++) { /* the first lane is that of the single values */
        const bool is_single = m == s->n_codes - 1;
        if (!is_single && !counts[m]) continue;
        kn_cluster_equal *lane = &problem->equal[problem->n_equal++];
        *lane = (kn_cluster_equal){.q = q, .n_values = is_single ? s->n_codes : 2};
        KN_OWN(&problem->memory, lane->owned, s->n_codes);
        KN_OWN(&problem->memory, lane->weight, s->n_codes);
        lane->value = lane->owned;
        for (uint32_t code = 0; code < s->n_codes; code++) {
            const bool is_in = is_single || kn_subsets_with(s, m, code) == m;
            lane->owned[code] = is_single ? code : is_in;
            lane->weight[code] = (int16_t)(is_in ? -part[is_single ? code : m] : 0); /* sums wrap, and prices fit */
        }
    }
    for (uint32_t code = 0; code < s->n_codes; code++) problem->base[q][code] = (int16_t)lround(scale * price[code]);
done:
    kn_free(part);
    kn_free(counts);
    return status;
}

static kn_status make_lanes(kn_cluster_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->tuples;
    const kn_pricer *pricer = problem->pricer;
    uint32_t n_lanes = 0;
    double total = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        n_lanes += domain_tree(domain) != NULL ? domain_tree(domain)->n_levels : 1;
        if (has_subset_lanes(domain)) n_lanes += domain->subsets->n_members - domain->n_codes;
        problem->n_ranges += domain->kind == KN_DOMAIN_RANGES;
        problem->n_sets += domain->kind == KN_DOMAIN_SETS && !has_subset_lanes(domain);
        total += fabs(pricer->columns[q].root_price);
    }
    double scale = choose_scale(problem, total);
    problem->sets_need_making =
        task_measure(problem)->price_cell != NULL && task_measure(problem)->price_counts == NULL;
    problem->lanes_exact = true;
    problem->units_close = true;
    problem->units_lead = problem->n_sets == 0 || !problem->sets_need_making;
    KN_OWN(&problem->memory, problem->equal, n_lanes);
    KN_OWN(&problem->memory, problem->ranges, problem->n_ranges);
    KN_OWN(&problem->memory, problem->sets, problem->n_sets);
    KN_OWN(&problem->memory, problem->base, tuples->n_qis);
    KN_OWN(&problem->memory, problem->exact, tuples->n_qis);
    KN_OWN(&problem->memory, problem->column_first, tuples->n_qis + 1);
    problem->n_ranges = problem->n_sets = 0;
    problem->exact_scale = total > 0 ? 0x1p30 / total : 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        int32_t root_units = (int32_t)lround(scale * pricer->columns[q].root_price);
        problem->column_first[q] = problem->n_equal;
        problem->root_units += root_units;
        problem->exact_root += llround(problem->exact_scale * pricer->columns[q].root_price);
        KN_OWN(&problem->memory, problem->base[q], domain->n_codes);
        if (domain->kind == KN_DOMAIN_RANGES) KN_TRY(range_lanes(problem, q, scale, root_units, err));
        if (has_subset_lanes(domain)) KN_TRY(subset_lanes(problem, q, scale, err));
        else if (domain->kind == KN_DOMAIN_SETS) KN_TRY(set_lanes(problem, q, scale, root_units, err));
        if (domain->kind == KN_DOMAIN_TREE) KN_TRY(tree_lanes(problem, q, scale, err));
        if (domain_tree(domain) == NULL) continue;
        KN_OWN(&problem->memory, problem->exact[q], domain_tree(domain)->n_nodes);
        for (uint32_t node = 0; node < domain_tree(domain)->n_nodes; node++)
            problem->exact[q][node] = llround(problem->exact_scale * node_price(problem, q, node));
    }
    problem->column_first[tuples->n_qis] = problem->n_equal;
    problem->units_close = problem->units_close && problem->units_lead;
done:
    return status;
}

static bool is_wide(const kn_cluster_set *set) { return set->n_lanes > 1 || set->n_equal > 0; }

/* What a second value costs in a set without groups; those with groups come before all of them. */
static uint32_t set_rank(const kn_cluster_set *set)
{
    return set->n_equal > 0 ? UINT32_MAX : set->jump + ((uint32_t)set->step * set->factor >> 16);
}

/* A scan over classes adds set after set and ends when a class is out of the question: so the dear ones come first. */
static void order_sets(kn_cluster_problem *problem)
{
    for (uint32_t s = 1; s < problem->n_sets; s++) {
        kn_cluster_set set = problem->sets[s];
        uint32_t x = s;
        for (; x > 0 && set_rank(&problem->sets[x - 1]) < set_rank(&set); x--) problem->sets[x] = problem->sets[x - 1];
        problem->sets[x] = set;
    }
}

/* Sets that are priced lane by lane come first, so that few vectors have one. */
static void place_sets(kn_cluster_problem *problem)
{
    uint32_t n_lanes = 0;
    for (int wide = 0; wide < 2; wide++)
        for (uint32_t s = 0; s < problem->n_sets; s++) {
            if (is_wide(&problem->sets[s]) != wide) continue;
            problem->sets[s].first_lane = n_lanes;
            n_lanes += problem->sets[s].n_lanes;
        }
}

/* What lanes_price() needs to price many ranges and sets at once. A range has two lanes, the first of which counts. */
static kn_status lane_prices(kn_cluster_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_union = 0;
    for (uint32_t s = 0; s < problem->n_sets; s++) n_union += problem->sets[s].n_lanes;
    problem->n_vectors_range = (2 * problem->n_ranges + KN_LANES - 1) / KN_LANES;
    size_t n = problem->n_vectors_range + (n_union + KN_LANES - 1) / KN_LANES;
    KN_OWN_ALIGNED(&problem->memory, problem->lane_step, n);
    KN_OWN_ALIGNED(&problem->memory, problem->lane_factor, n);
    KN_OWN_ALIGNED(&problem->memory, problem->lane_jump, n);
    KN_OWN(&problem->memory, problem->wide, problem->n_sets);
    uint16_t *step = (uint16_t *)problem->lane_step, *factor = (uint16_t *)problem->lane_factor;
    uint16_t *jump = (uint16_t *)problem->lane_jump;
    for (uint32_t r = 0; r < problem->n_ranges; r++) {
        factor[2 * r] = problem->ranges[r].factor;
        jump[2 * r] = problem->ranges[r].jump;
    }
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        const kn_cluster_set *set = &problem->sets[s];
        if (is_wide(set)) {
            problem->wide[problem->n_wide++] = s;
            continue;
        }
        uint32_t lane = problem->n_vectors_range * KN_LANES + set->first_lane;
        step[lane] = set->step;
        factor[lane] = set->factor;
        jump[lane] = set->jump;
        if (problem->n_vectors_set < set->first_lane / KN_LANES + 1)
            problem->n_vectors_set = set->first_lane / KN_LANES + 1;
    }
done:
    return status;
}

/* What a value of a small set costs by itself is added as the record has it. */
static void find_same_for_all(kn_cluster_problem *problem)
{
    problem->same_for_all = true;
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        const uint32_t q = problem->sets[s].q;
        for (uint32_t code = 1; code < problem->tuples->domains[q]->n_codes; code++)
            if (problem->base[q][code] != problem->base[q][0]) problem->same_for_all = false;
    }
}

/* Do weights depend on the lane only? Then blocks keep one row of weights. */
static void find_uniform(kn_cluster_problem *problem)
{
    problem->uniform = true;
    for (uint32_t j = 0; j < problem->n_equal; j++) {
        const kn_cluster_equal *lane = &problem->equal[j];
        uint32_t n_codes = problem->tuples->domains[lane->q]->n_codes;
        for (uint32_t code = 1; code < n_codes; code++)
            if (lane->weight[code] != lane->weight[0]) problem->uniform = false;
    }
}

kn_status kn_cluster_problem_new(kn_cluster_problem **out, const kn_task *task, bool may_set_aside, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_problem *problem = NULL;
    *out = NULL;
    KN_NEW(problem, 1);
    problem->task = task;
    problem->tuples = task->tuples;
    problem->k = task->models->min_persons > 1 ? (uint32_t)task->models->min_persons : 1;
    problem->counts_only = task->models->counts_only;
    problem->monotone = task->objective->type->monotone || task->objective->type->price_cell == NULL;
    KN_TRY(kn_pricer_new(&problem->pricer, task->objective, err));
    KN_TRY(make_records(problem, may_set_aside, err));
    KN_TRY(make_lanes(problem, err));
    order_sets(problem);
    place_sets(problem);
    KN_TRY(lane_prices(problem, err));
    find_uniform(problem);
    find_same_for_all(problem);
    *out = problem;
    problem = NULL;
done:
    kn_cluster_problem_free(problem);
    return status;
}
