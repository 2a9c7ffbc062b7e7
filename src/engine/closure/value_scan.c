/* Vector scans over classes whose rows pay by their sensitive value; see value_scan.h. */
#include "engine/closure/value_scan.h"
#include "base/lanes.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 32,
    MAX_DELTA = 1 << 30,
};

/* What a class has in a RANGES column. */
enum { FIRST, LAST, SLOPE, WIDTH, N_FIELDS };

struct kn_value_scan {
    kn_owner memory; /* all arrays below */
    const kn_objective *objective;
    const kn_tuples *tuples;
    uint32_t n_lanes, n_ranges;
    uint32_t **nodes; /* [lane][slot] */
    float **steps;    /* [lane][slot] */
    float **ranges;   /* [RANGES column * N_FIELDS + field][slot] */
    float *whole;     /* [RANGES column]: width of the domain, as a logarithm */
    float *full;      /* the same as it is */
    float unit;
};

/* --- The kernel ------------------------------------------------------------------------------------------------ */

/* log2, linear between powers of two: the same everywhere, and vectors can do it. */
KN_INLINE float rough_log(float x)
{
    union {
        float number;
        int32_t bits;
    } both = {.number = x};
    return (float)(both.bits - 0x3F800000) * (1.0F / 8388608.0F);
}

/* What two classes pay on one lane. The sum is always made and then kept or not, as an integer: vectors can do that. */
KN_INLINE float unlike(uint32_t slot_node, float slot_step, uint32_t node, float step)
{
    union {
        float number;
        uint32_t bits;
    } both = {.number = slot_step + step};
    both.bits &= slot_node == node ? 0 : ~0u;
    return both.number;
}

KN_INLINE void add_lane(float *restrict sums, const kn_value_scan *scan, const kn_value_probe *probe, uint32_t lane,
                        uint32_t begin, uint32_t n)
{
    n &= ~(CHUNK - 1u);
    const uint32_t *restrict nodes = scan->nodes[lane] + begin, node = probe->nodes[lane];
    const float *restrict steps = scan->steps[lane] + begin, step = probe->steps[lane];
    for (uint32_t i = 0; i < n; i++) sums[i] += unlike(nodes[i], steps[i], node, step);
}

/* Four lanes: the sums are loaded and stored once. */
KN_INLINE void add_four(float *restrict sums, const kn_value_scan *scan, const kn_value_probe *probe, uint32_t lane,
                        uint32_t begin, uint32_t n)
{
    n &= ~(CHUNK - 1u);
    const uint32_t *restrict a = scan->nodes[lane] + begin, *restrict b = scan->nodes[lane + 1] + begin;
    const uint32_t *restrict c = scan->nodes[lane + 2] + begin, *restrict d = scan->nodes[lane + 3] + begin;
    const float *restrict e = scan->steps[lane] + begin, *restrict f = scan->steps[lane + 1] + begin;
    const float *restrict g = scan->steps[lane + 2] + begin, *restrict h = scan->steps[lane + 3] + begin;
    const uint32_t a_is = probe->nodes[lane], b_is = probe->nodes[lane + 1];
    const uint32_t c_is = probe->nodes[lane + 2], d_is = probe->nodes[lane + 3];
    const float e_adds = probe->steps[lane], f_adds = probe->steps[lane + 1];
    const float g_adds = probe->steps[lane + 2], h_adds = probe->steps[lane + 3];
    for (uint32_t i = 0; i < n; i++)
        sums[i] += (unlike(a[i], e[i], a_is, e_adds) + unlike(b[i], f[i], b_is, f_adds)) +
                   (unlike(c[i], g[i], c_is, g_adds) + unlike(d[i], h[i], d_is, h_adds));
}

KN_INLINE void add_range(float *restrict sums, const kn_value_scan *scan, const kn_value_probe *probe, uint32_t r,
                         uint32_t begin, uint32_t n)
{
    n &= ~(CHUNK - 1u);
    float *const *lanes = scan->ranges + (size_t)r * N_FIELDS;
    const float *restrict firsts = lanes[FIRST] + begin, *restrict lasts = lanes[LAST] + begin;
    const float *restrict slopes = lanes[SLOPE] + begin, *restrict widths = lanes[WIDTH] + begin;
    const float *own = probe->ranges + (size_t)r * N_FIELDS;
    const float first = own[FIRST], last = own[LAST], slope = own[SLOPE], width = own[WIDTH];
    float full = scan->full[r];
    for (uint32_t i = 0; i < n; i++) {
        float from = firsts[i] < first ? firsts[i] : first, to = lasts[i] > last ? lasts[i] : last;
        float united = to - from;
        united = rough_log(1.0F + (united < full ? united : full));
        sums[i] += slopes[i] * (united - widths[i]) + slope * (united - width);
    }
}

KN_INLINE int32_t join(const kn_value_scan *scan, const kn_value_probe *probe, uint32_t begin, uint32_t n,
                       const int32_t *restrict closed, int32_t *restrict deltas)
{
    float sums[KN_VALUE_SCAN_BLOCK], unit = scan->unit;
    int32_t least = INT32_MAX;
    n &= ~(CHUNK - 1u);
    for (uint32_t i = 0; i < n; i++) sums[i] = probe->cost;
    uint32_t lane = 0;
    for (; lane + 4 <= scan->n_lanes; lane += 4) add_four(sums, scan, probe, lane, begin, n);
    for (; lane < scan->n_lanes; lane++) add_lane(sums, scan, probe, lane, begin, n);
    for (uint32_t r = 0; r < scan->n_ranges; r++) add_range(sums, scan, probe, r, begin, n);
    for (uint32_t i = 0; i < n; i++) {
        float scaled = sums[i] * unit;
        scaled = scaled < (float)MAX_DELTA ? scaled : (float)MAX_DELTA;
        scaled = scaled > -(float)MAX_DELTA ? scaled : -(float)MAX_DELTA;
        int32_t delta = (int32_t)scaled;
        deltas[i] = closed[i] != 0 ? INT32_MAX : delta;
        least = deltas[i] < least ? deltas[i] : least;
    }
    return least;
}

KN_WITH_AVX2 static int32_t join_avx2(const kn_value_scan *scan, const kn_value_probe *probe, uint32_t begin,
                                      uint32_t n, const int32_t *closed, int32_t *deltas)
{
    return join(scan, probe, begin, n, closed, deltas);
}

int32_t kn_value_scan_join(const kn_value_scan *scan, const kn_value_probe *probe, uint32_t begin, uint32_t n,
                           const int32_t *closed, int32_t *deltas, bool vectors)
{
    return vectors ? join_avx2(scan, probe, begin, n, closed, deltas) : join(scan, probe, begin, n, closed, deltas);
}

/* --- Classes as lanes ------------------------------------------------------------------------------------------ */

bool kn_value_scan_can_price(const kn_objective *objective, const kn_items *items)
{
    if (objective->type->price_row == NULL || objective->type->product || items->sensitive == NULL) return false;
    for (uint32_t q = 0; q < items->tuples->n_qis; q++)
        if (items->tuples->domains[q]->kind == KN_DOMAIN_SETS) return false;
    return true;
}

bool kn_value_scan_is_exact(const kn_objective *objective, const kn_items *items)
{
    for (uint32_t q = 0; q < items->tuples->n_qis; q++)
        if (items->tuples->domains[q]->kind != KN_DOMAIN_TREE) return false;
    return kn_value_scan_can_price(objective, items);
}

/* g of value_scan.h. */
static double class_price(const kn_value_scan *scan, uint32_t q, const kn_cell *cell, const kn_histogram *histogram)
{
    const kn_objective *objective = scan->objective;
    double sum = 0;
    for (uint32_t i = 0; i < histogram->n; i++)
        sum += (double)histogram->counts[i] *
               objective->type->price_row(objective->state, scan->tuples, NULL, q, cell, histogram->values[i]);
    return sum;
}

static double node_price(const kn_value_scan *scan, uint32_t q, uint32_t node, const kn_histogram *histogram)
{
    const kn_tree *tree = scan->tuples->domains[q]->tree;
    kn_cell cell = {tree->first[node], tree->last[node], node};
    return class_price(scan, q, &cell, histogram);
}

static double load_tree(kn_value_probe *probe, const kn_value_scan *scan, uint32_t q, uint32_t lane, uint32_t first,
                        uint32_t last, const kn_histogram *histogram)
{
    const kn_tree *tree = scan->tuples->domains[q]->tree;
    uint32_t level = 0, n_lanes = tree->n_levels - 1;
    for (; tree->at_level[level][first] != tree->at_level[level][last]; level++) {
        probe->nodes[lane + level] = KN_NONE;
        probe->steps[lane + level] = 0;
    }
    double own = node_price(scan, q, tree->at_level[level][first], histogram), here = own;
    for (; level < n_lanes; level++) {
        uint32_t node = tree->at_level[level][first], above = tree->at_level[level + 1][first];
        double next = above == node ? here : node_price(scan, q, above, histogram);
        probe->nodes[lane + level] = node;
        probe->steps[lane + level] = (float)(next - here);
        here = next;
    }
    return own;
}

/* A missing value stands so far off that together with any other it takes the whole domain. */
static float coordinate(const kn_domain *domain, uint32_t code)
{
    return code == domain->missing ? 2.0F * (float)domain->n_codes : (float)code;
}

static double load_range(kn_value_probe *probe, const kn_value_scan *scan, uint32_t q, uint32_t r, uint32_t first,
                         uint32_t last, const kn_histogram *histogram)
{
    const kn_domain *domain = scan->tuples->domains[q];
    kn_span span = {.first = first, .last = last};
    kn_cell cell = kn_span_cell(domain, &span), root = kn_domain_root(domain);
    double own = class_price(scan, q, &cell, histogram), most = class_price(scan, q, &root, histogram);
    float *fields = probe->ranges + (size_t)r * N_FIELDS;
    fields[FIRST] = coordinate(domain, first);
    fields[LAST] = coordinate(domain, last);
    fields[WIDTH] = rough_log(1.0F + fminf(fields[LAST] - fields[FIRST], scan->full[r]));
    float left = scan->whole[r] - fields[WIDTH];
    fields[SLOPE] = left > 0 ? (float)(most - own) / left : 0;
    return own;
}

void kn_value_probe_load(kn_value_probe *probe, const kn_value_scan *scan, const uint32_t *first, const uint32_t *last,
                         const kn_histogram *histogram)
{
    double cost = 0;
    for (uint32_t q = 0, lane = 0, r = 0; q < scan->tuples->n_qis; q++) {
        const kn_domain *domain = scan->tuples->domains[q];
        if (domain->kind == KN_DOMAIN_TREE) {
            cost += load_tree(probe, scan, q, lane, first[q], last[q], histogram);
            lane += domain->tree->n_levels - 1;
        } else {
            cost += load_range(probe, scan, q, r++, first[q], last[q], histogram);
        }
    }
    probe->cost = (float)cost;
}

int32_t kn_value_probe_cost(const kn_value_probe *probe, const kn_value_scan *scan)
{
    return (int32_t)fminf(fmaxf(probe->cost * scan->unit, -(float)MAX_DELTA), (float)MAX_DELTA);
}

void kn_value_scan_store(kn_value_scan *scan, uint32_t slot, const kn_value_probe *probe)
{
    for (uint32_t l = 0; l < scan->n_lanes; l++) {
        scan->nodes[l][slot] = probe->nodes[l];
        scan->steps[l][slot] = probe->steps[l];
    }
    for (uint32_t i = 0; i < scan->n_ranges * N_FIELDS; i++) scan->ranges[i][slot] = probe->ranges[i];
}

void kn_value_scan_copy(kn_value_scan *scan, uint32_t to, uint32_t from)
{
    for (uint32_t l = 0; l < scan->n_lanes; l++) {
        scan->nodes[l][to] = scan->nodes[l][from];
        scan->steps[l][to] = scan->steps[l][from];
    }
    for (uint32_t i = 0; i < scan->n_ranges * N_FIELDS; i++) scan->ranges[i][to] = scan->ranges[i][from];
}

/* --- Memory ---------------------------------------------------------------------------------------------------- */

/* The dearest that a row can be when everything is suppressed. */
static double most_price(const kn_value_scan *scan)
{
    double sum = 0;
    const kn_objective *objective = scan->objective;
    uint32_t n_values = scan->tuples->sensitive[objective->column].n_values;
    for (uint32_t q = 0; q < scan->tuples->n_qis; q++) {
        kn_cell root = kn_domain_root(scan->tuples->domains[q]);
        double most = 0;
        for (uint32_t v = 0; v < n_values; v++)
            most = fmax(most, objective->type->price_row(objective->state, scan->tuples, NULL, q, &root, v));
        sum += most;
    }
    return sum;
}

kn_status kn_value_scan_new(kn_value_scan **out, const kn_objective *objective, uint32_t n_slots, uint64_t max_rows,
                            kn_error *err)
{
    kn_status status = KN_OK;
    kn_value_scan *scan = NULL;
    const kn_tuples *tuples = objective->tuples;
    *out = NULL;
    KN_NEW(scan, 1);
    scan->objective = objective;
    scan->tuples = tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        if (domain->kind == KN_DOMAIN_TREE) scan->n_lanes += domain->tree->n_levels - 1;
        else scan->n_ranges++;
    }
    KN_OWN(&scan->memory, scan->nodes, scan->n_lanes + 1);
    KN_OWN(&scan->memory, scan->steps, scan->n_lanes + 1);
    for (uint32_t l = 0; l < scan->n_lanes; l++) {
        KN_OWN_ALIGNED(&scan->memory, scan->nodes[l], n_slots);
        KN_OWN_ALIGNED(&scan->memory, scan->steps[l], n_slots);
    }
    KN_OWN(&scan->memory, scan->ranges, scan->n_ranges * N_FIELDS + 1);
    for (uint32_t i = 0; i < scan->n_ranges * N_FIELDS; i++) KN_OWN_ALIGNED(&scan->memory, scan->ranges[i], n_slots);
    KN_OWN(&scan->memory, scan->whole, scan->n_ranges + 1);
    KN_OWN(&scan->memory, scan->full, scan->n_ranges + 1);
    for (uint32_t q = 0, r = 0; q < tuples->n_qis; q++) {
        if (tuples->domains[q]->kind == KN_DOMAIN_TREE) continue;
        scan->full[r] = (float)tuples->domains[q]->n_codes;
        scan->whole[r] = rough_log(1.0F + scan->full[r]);
        r++;
    }
    /* half of what an integer holds for two classes of max_rows with everything suppressed */
    double most = most_price(scan) * 2 * (double)(max_rows > 0 ? max_rows : 1);
    scan->unit = most > 0 ? (float)(MAX_DELTA / 2 / most) : 1;
    *out = scan;
    scan = NULL;
done:
    kn_value_scan_free(scan);
    return status;
}

void kn_value_scan_free(kn_value_scan *scan)
{
    if (scan == NULL) return;
    kn_owner_free(&scan->memory);
    kn_free(scan);
}

kn_status kn_value_probe_init(kn_value_probe *probe, const kn_value_scan *scan, kn_error *err)
{
    kn_status status = KN_OK;
    *probe = (kn_value_probe){0};
    KN_NEW(probe->nodes, scan->n_lanes + 1);
    KN_NEW(probe->steps, scan->n_lanes + 1);
    KN_NEW(probe->ranges, scan->n_ranges * N_FIELDS + 1);
done:
    return status;
}

void kn_value_probe_free(kn_value_probe *probe)
{
    kn_free(probe->nodes);
    kn_free(probe->steps);
    kn_free(probe->ranges);
}
