/* Vector scans over closures; see closure_scan.h. */
#include "engine/closure/closure_scan.h"
#include "base/lanes.h"
#include "engine/closure/value_scan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    STAR = 0xFFFF,               /* no node of this level holds the slot */
    MAX_PRICE = 60000,           /* of a row, all columns */
    MAX_DELTA = 1 << 30,         /* rows * price stays below */
    MAX_BITS = 1024,             /* SETS: values beyond share bits */
    FULL_WIDTH = 0x7FFF,         /* RANGES: the coordinate of the last value */
    MISSING_AT = 0xFFFF,         /* RANGES: far enough from every value to price as the root */
    BLOCK = KN_VALUE_SCAN_BLOCK, /* slots whose sums stay in the cache */
    CHUNK = 32,                  /* slots are scanned in multiples of this, at least */
};

typedef struct scan_column {
    const kn_domain *domain;
    uint32_t n_lanes;
    uint16_t **lanes;       /* [lane][slot] */
    uint16_t *n_values;     /* SETS: [slot] */
    uint16_t **level_ids;   /* TREE: [level][leaf] */
    uint16_t *node_prices;  /* TREE, and of the members of `subsets` */
    uint16_t *coordinates;  /* RANGES: [code] */
    uint16_t *until;        /* ... where it ends: elsewhere if it stands for several values */
    uint16_t *low, *high;   /* RANGES with a grid: [code] where its grid cell begins and ends; otherwise NULL */
    uint16_t scale, factor; /* RANGES, SETS: price = (width * scale * factor) >> 16 */
} scan_column;

struct kn_scan {
    kn_owner memory; /* all arrays below */
    const kn_tuples *tuples;
    uint32_t n_qis, n_slots; /* padded to whole blocks */
    scan_column *columns;
    int32_t max_rows;
    int32_t *rows, *costs, *closed; /* costs: rows * price; both 0 where closed is INT32_MAX instead of 0 */
    kn_value_scan *by_value;        /* NULL, or what prices joins instead of the columns above */
    uint32_t column;                /* the sensitive one that it looks at */
    bool vectors, has_sets;
};

/* One step of a scan, for all slots. */
typedef struct step {
    enum { SAME, WIDTH, DIFFER, GRID_WIDTH, COMMON, SIZE, LOOK_UP } kind;
    const uint16_t *lane, *lane2, *table;
    uint16_t value, value2, scale, factor;
} step;

struct kn_probe {
    kn_owner memory; /* all arrays but those of lanes */
    const kn_scan *scan;
    uint32_t *first, *last; /* n_qis codes */
    uint16_t **bits;        /* SETS: [q][lane]; not with `subsets` */
    uint32_t *member;       /* `subsets`: n_qis, the closure */
    uint16_t **joined;      /* ... [q][member]: the price of its closure with that member ... */
    uint32_t *joined_of;    /* ... of which closure; KN_NONE: not yet */
    uint64_t n_rows;
    /* by_value: rows of each sensitive value; the values that were met, and their rows again; the lanes they make */
    uint32_t *values, n_values;
    uint64_t *value_rows, *counts;
    kn_value_probe lanes;
    step *steps;
    uint32_t n_steps, max_steps;
    int32_t *deltas;
    uint32_t begin, n; /* slots of the last join */
    int32_t *leasts;   /* of each block of them */
};

/* --- The kernel ------------------------------------------------------------------------------------------------ */

KN_INLINE uint16_t scaled(uint16_t width, uint16_t scale, uint16_t factor)
{
    return (uint16_t)(((uint32_t)(uint16_t)(width * scale) * factor) >> 16);
}

KN_INLINE uint16_t count_bits(uint16_t x)
{
    x = (uint16_t)(x - ((x >> 1) & 0x5555));
    x = (uint16_t)((x & 0x3333) + ((x >> 2) & 0x3333));
    x = (uint16_t)((x + (x >> 4)) & 0x0F0F);
    return (uint16_t)((x + (x >> 8)) & 0x001F);
}

KN_INLINE void run_step(const step *s, uint32_t begin, uint32_t n, uint16_t *restrict sums, uint16_t *restrict common)
{
    n &= ~(CHUNK - 1u); /* it is a multiple; the compiler shall know */
    const uint16_t *restrict lane = s->lane + begin;
    uint16_t value = s->value, value2 = s->value2, scale = s->scale, factor = s->factor;
    switch (s->kind) {
    case SAME: /* `start` has the factor in it */
        for (uint32_t i = 0; i < n; i++) sums[i] = (uint16_t)(sums[i] - (lane[i] == value ? factor : 0));
        break;
    case WIDTH: {
        const uint16_t *restrict lane2 = s->lane2 + begin;
        for (uint32_t i = 0; i < n; i++) {
            uint16_t first = lane[i] < value ? lane[i] : value, last = lane2[i] > value2 ? lane2[i] : value2;
            uint16_t width = (uint16_t)(last - first);
            sums[i] = (uint16_t)(sums[i] + scaled(width > FULL_WIDTH ? FULL_WIDTH : width, scale, factor));
        }
        break;
    }
    case DIFFER: { /* all bits where there is more than one value */
        const uint16_t *restrict lane2 = s->lane2 + begin;
        for (uint32_t i = 0; i < n; i++) {
            uint16_t first = lane[i] < value ? lane[i] : value, last = lane2[i] > value2 ? lane2[i] : value2;
            common[i] = first == last ? 0 : 0xFFFF;
        }
        break;
    }
    case GRID_WIDTH: {
        const uint16_t *restrict lane2 = s->lane2 + begin;
        for (uint32_t i = 0; i < n; i++) {
            uint16_t first = lane[i] < value ? lane[i] : value, last = lane2[i] > value2 ? lane2[i] : value2;
            uint16_t width = (uint16_t)(last - first);
            sums[i] =
                (uint16_t)(sums[i] + (scaled(width > FULL_WIDTH ? FULL_WIDTH : width, scale, factor) & common[i]));
            common[i] = 0;
        }
        break;
    }
    case COMMON:
        for (uint32_t i = 0; i < n; i++) common[i] = (uint16_t)(common[i] + count_bits(lane[i] & value));
        break;
    case LOOK_UP:
        for (uint32_t i = 0; i < n; i++) sums[i] = (uint16_t)(sums[i] + s->table[lane[i]]);
        break;
    case SIZE: /* values of both, less the common ones */
        for (uint32_t i = 0; i < n; i++) {
            sums[i] = (uint16_t)(sums[i] + scaled((uint16_t)(lane[i] + value - common[i] - 1), scale, factor));
            common[i] = 0;
        }
        break;
    }
}

/* Four SAME steps at once: the sums are loaded and stored once. */
KN_INLINE void run_four(const step *s, uint32_t begin, uint32_t n, uint16_t *restrict sums)
{
    n &= ~(CHUNK - 1u);
    const uint16_t *restrict a = s[0].lane + begin, *restrict b = s[1].lane + begin;
    const uint16_t *restrict c = s[2].lane + begin, *restrict d = s[3].lane + begin;
    uint16_t a_is = s[0].value, b_is = s[1].value, c_is = s[2].value, d_is = s[3].value;
    uint16_t a_adds = s[0].factor, b_adds = s[1].factor, c_adds = s[2].factor, d_adds = s[3].factor;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t ab = (uint16_t)((a[i] == a_is ? a_adds : 0) + (b[i] == b_is ? b_adds : 0));
        uint16_t cd = (uint16_t)((c[i] == c_is ? c_adds : 0) + (d[i] == d_is ? d_adds : 0));
        sums[i] = (uint16_t)(sums[i] - (uint16_t)(ab + cd));
    }
}

/* Slots begin .. begin + n - 1, n a multiple of CHUNK up to BLOCK; returns the least delta. */
KN_INLINE int32_t run_block(const kn_scan *scan, const step *steps, uint32_t n_steps, uint16_t start, int32_t n_rows,
                            uint32_t begin, uint32_t n, int32_t *restrict deltas)
{
    uint16_t sums[BLOCK], common[BLOCK];
    const int32_t *restrict rows = scan->rows + begin, *restrict closed = scan->closed + begin;
    const int32_t *restrict costs = scan->costs + begin;
    int32_t least = INT32_MAX;
    n &= ~(CHUNK - 1u);
    for (uint32_t i = 0; i < n; i++) sums[i] = start;
    if (scan->has_sets) memset(common, 0, n * sizeof *common);
    for (uint32_t s = 0; s < n_steps; s++) {
        if (s + 4 <= n_steps && steps[s + 1].kind == SAME && steps[s + 2].kind == SAME && steps[s + 3].kind == SAME &&
            steps[s].kind == SAME) {
            run_four(&steps[s], begin, n, sums);
            s += 3;
        } else {
            run_step(&steps[s], begin, n, sums, common);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        deltas[i] = ((rows[i] + n_rows) * (int32_t)sums[i] - costs[i]) | closed[i];
        least = deltas[i] < least ? deltas[i] : least;
    }
    return least;
}

KN_INLINE void run_all(const kn_scan *scan, kn_probe *probe, uint16_t start, int32_t n_rows)
{
    for (uint32_t begin = probe->begin, b = 0; begin < probe->n; begin += BLOCK, b++) {
        uint32_t n = probe->n - begin < BLOCK ? (probe->n - begin + CHUNK - 1) / CHUNK * CHUNK : BLOCK;
        probe->leasts[b] =
            run_block(scan, probe->steps, probe->n_steps, start, n_rows, begin, n, probe->deltas + begin);
    }
}

static void run_blocks(const kn_scan *scan, kn_probe *probe, uint16_t start, int32_t n_rows)
{
    run_all(scan, probe, start, n_rows);
}

KN_WITH_AVX2 static void run_blocks_avx2(const kn_scan *scan, kn_probe *probe, uint16_t start, int32_t n_rows)
{
    run_all(scan, probe, start, n_rows);
}

KN_INLINE int32_t least_value(const int32_t *values, uint32_t n)
{
    int32_t least = INT32_MAX;
    for (uint32_t i = 0; i < n; i++) least = values[i] < least ? values[i] : least;
    return least;
}

KN_WITH_AVX2 static int32_t least_value_avx2(const int32_t *values, uint32_t n) { return least_value(values, n); }

uint32_t kn_least(const int32_t *values, uint32_t n)
{
    int32_t least = kn_has_avx2() ? least_value_avx2(values, n) : least_value(values, n);
    uint32_t i = 0;
    while (values[i] != least) i++;
    return i;
}

/* --- Slots ----------------------------------------------------------------------------------------------------- */

void kn_scan_free(kn_scan *scan)
{
    if (scan == NULL) return;
    kn_value_scan_free(scan->by_value);
    kn_owner_free(&scan->memory);
    kn_free(scan);
}

static double node_price(const kn_pricer *pricer, uint32_t q, uint32_t node)
{
    const kn_tree *tree = pricer->columns[q].domain->tree;
    kn_span span = {.first = tree->first[node], .last = tree->last[node]};
    return kn_pricer_price(pricer, q, &span);
}

/* The dearest that a row can be in column q: the root, except for measures that are not monotone. */
static double most_price(const kn_pricer *pricer, uint32_t q)
{
    double most = pricer->columns[q].root_price;
    const kn_domain *domain = pricer->columns[q].domain;
    for (uint32_t node = 0; domain->kind == KN_DOMAIN_TREE && node < domain->tree->n_nodes; node++)
        most = fmax(most, node_price(pricer, q, node));
    for (uint32_t m = 0; domain->subsets != NULL && m < domain->subsets->n_members; m++)
        most = fmax(most, pricer->columns[q].member_price[m]);
    return most;
}

static kn_status set_up_tree(scan_column *column, kn_owner *memory, const kn_pricer *pricer, uint32_t q, double unit,
                             kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = column->domain->tree;
    uint32_t *number = NULL;
    KN_OWN(memory, column->level_ids, column->n_lanes);
    KN_OWN(memory, column->node_prices, tree->n_nodes);
    KN_NEW_RAW(number, tree->n_nodes);
    for (uint32_t level = 0; level < column->n_lanes; level++) {
        uint32_t n = 0;
        KN_OWN_RAW(memory, column->level_ids[level], tree->n_leaves);
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
            uint32_t node = tree->at_level[level][leaf];
            if (leaf == 0 || node != tree->at_level[level][leaf - 1]) number[node] = n++;
            column->level_ids[level][leaf] = (uint16_t)(number[node] % STAR);
        }
    }
    for (uint32_t node = 0; node < tree->n_nodes; node++)
        column->node_prices[node] = (uint16_t)lround(node_price(pricer, q, node) * unit);
done:
    kn_free(number);
    return status;
}

static kn_status set_up_ranges(scan_column *column, kn_owner *memory, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = column->domain;
    KN_OWN_RAW(memory, column->coordinates, domain->n_codes);
    for (uint32_t code = 0; code < domain->n_codes; code++)
        column->coordinates[code] =
            code == domain->missing
                ? MISSING_AT
                : (uint16_t)((uint64_t)code * FULL_WIDTH / (domain->n_codes > 1 ? domain->n_codes - 1 : 1));
    column->until = column->coordinates;
    if (domain->grid_first == NULL) goto done;
    column->n_lanes = 4;
    KN_OWN_RAW(memory, column->until, domain->n_codes);
    KN_OWN_RAW(memory, column->low, domain->n_codes);
    KN_OWN_RAW(memory, column->high, domain->n_codes);
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        column->low[code] = column->coordinates[domain->grid_first[code]];
        column->high[code] = column->coordinates[domain->grid_last[code]];
        column->until[code] = kn_domain_is_coded(domain, code) ? column->high[code] : column->coordinates[code];
    }
done:
    return status;
}

static kn_status set_up_column(kn_scan *scan, const kn_pricer *pricer, uint32_t q, double unit, kn_error *err)
{
    kn_status status = KN_OK;
    kn_owner *memory = &scan->memory;
    scan_column *column = &scan->columns[q];
    const kn_domain *domain = column->domain;
    uint32_t n_bits = domain->n_codes < MAX_BITS ? domain->n_codes : MAX_BITS;
    double root = pricer->columns[q].root_price * unit, width = FULL_WIDTH;
    switch (domain->kind) {
    case KN_DOMAIN_TREE:
        column->n_lanes = domain->tree->n_levels - 1;
        KN_TRY(set_up_tree(column, memory, pricer, q, unit, err));
        break;
    case KN_DOMAIN_RANGES:
        column->n_lanes = 2;
        column->scale = 2;
        KN_TRY(set_up_ranges(column, memory, err));
        break;
    case KN_DOMAIN_SETS:
        if (domain->subsets != NULL) {
            column->n_lanes = 1;
            KN_OWN(memory, column->node_prices, domain->subsets->n_members);
            for (uint32_t m = 0; m < domain->subsets->n_members; m++)
                column->node_prices[m] = (uint16_t)lround(pricer->columns[q].member_price[m] * unit);
            break;
        }
        column->n_lanes = (n_bits + 15) / 16;
        width = n_bits > 1 ? n_bits - 1 : 1;
        column->scale = (uint16_t)(UINT16_MAX / width);
        KN_OWN(memory, column->n_values, scan->n_slots);
        scan->has_sets = true;
        break;
    }
    if (column->scale > 0) column->factor = (uint16_t)fmin(round(root * 65536 / (width * column->scale)), UINT16_MAX);
    KN_OWN(memory, column->lanes, column->n_lanes);
    for (uint32_t l = 0; l < column->n_lanes; l++) KN_OWN_ALIGNED(memory, column->lanes[l], scan->n_slots);
done:
    return status;
}

kn_status kn_scan_new(kn_scan **out, const kn_pricer *pricer, const kn_items *items, uint32_t n_slots,
                      uint64_t max_rows, kn_error *err)
{
    kn_status status = KN_OK;
    kn_scan *scan = NULL;
    const kn_tuples *tuples = items->tuples;
    *out = NULL;
    KN_NEW(scan, 1);
    scan->tuples = tuples;
    scan->n_qis = tuples->n_qis;
    scan->n_slots = (n_slots + BLOCK - 1) / BLOCK * BLOCK;
    scan->vectors = kn_has_avx2();
    if (max_rows > MAX_DELTA / 4096) max_rows = MAX_DELTA / 4096;
    if (max_rows < MAX_DELTA / 2 / MAX_PRICE) max_rows = MAX_DELTA / 2 / MAX_PRICE; /* prices lose nothing by it */
    scan->max_rows = (int32_t)max_rows;
    /* a slot and a query of max_rows each must not overflow */
    double sum = 0, most = fmin(MAX_PRICE, (double)MAX_DELTA / 2 / scan->max_rows);
    for (uint32_t q = 0; q < scan->n_qis; q++) sum += most_price(pricer, q);
    double unit = sum > 0 ? (most - scan->n_qis) / sum : 0;
    if (unit < 0) unit = 0;
    KN_OWN(&scan->memory, scan->columns, scan->n_qis);
    bool by_value = kn_value_scan_can_price(pricer->objective, items);
    for (uint32_t q = 0; q < scan->n_qis; q++) {
        scan->columns[q].domain = pricer->columns[q].domain;
        if (!by_value) KN_TRY(set_up_column(scan, pricer, q, unit, err));
    }
    KN_OWN(&scan->memory, scan->rows, scan->n_slots);
    KN_OWN_RAW(&scan->memory, scan->closed, scan->n_slots);
    KN_OWN(&scan->memory, scan->costs, scan->n_slots);
    for (uint32_t slot = 0; slot < scan->n_slots; slot++) scan->closed[slot] = INT32_MAX;
    if (by_value) {
        scan->column = pricer->objective->column;
        KN_TRY(kn_value_scan_new(&scan->by_value, pricer->objective, scan->n_slots, (uint64_t)scan->max_rows, err));
    }
    *out = scan;
    scan = NULL;
done:
    kn_scan_free(scan);
    return status;
}

void kn_scan_use_vectors(kn_scan *scan, bool yes) { scan->vectors = yes && kn_has_avx2(); }

void kn_scan_close(kn_scan *scan, uint32_t slot)
{
    scan->rows[slot] = scan->costs[slot] = 0;
    scan->closed[slot] = INT32_MAX;
}

void kn_scan_copy(kn_scan *scan, uint32_t to, uint32_t from)
{
    for (uint32_t q = 0; q < scan->n_qis; q++) {
        scan_column *column = &scan->columns[q];
        for (uint32_t l = 0; l < column->n_lanes; l++) column->lanes[l][to] = column->lanes[l][from];
        if (column->n_values != NULL) column->n_values[to] = column->n_values[from];
    }
    scan->rows[to] = scan->rows[from];
    scan->closed[to] = scan->closed[from];
    scan->costs[to] = scan->costs[from];
    if (scan->by_value != NULL) kn_value_scan_copy(scan->by_value, to, from);
}

/* --- Probes ---------------------------------------------------------------------------------------------------- */

void kn_probe_free(kn_probe *probe)
{
    if (probe == NULL) return;
    kn_owner_free(&probe->memory);
    kn_value_probe_free(&probe->lanes);
    kn_free(probe);
}

kn_status kn_probe_new(kn_probe **out, const kn_scan *scan, kn_error *err)
{
    kn_status status = KN_OK;
    kn_probe *probe = NULL;
    *out = NULL;
    KN_NEW(probe, 1);
    probe->scan = scan;
    KN_OWN(&probe->memory, probe->first, scan->n_qis);
    KN_OWN(&probe->memory, probe->last, scan->n_qis);
    KN_OWN(&probe->memory, probe->bits, scan->n_qis);
    KN_OWN(&probe->memory, probe->member, scan->n_qis);
    KN_OWN(&probe->memory, probe->joined, scan->n_qis);
    KN_OWN(&probe->memory, probe->joined_of, scan->n_qis);
    for (uint32_t q = 0; q < scan->n_qis; q++) {
        const kn_domain *domain = scan->columns[q].domain;
        probe->max_steps += scan->columns[q].n_lanes + 1;
        probe->joined_of[q] = KN_NONE;
        if (domain->subsets != NULL) KN_OWN(&probe->memory, probe->joined[q], domain->subsets->n_members);
        else if (domain->kind == KN_DOMAIN_SETS) KN_OWN(&probe->memory, probe->bits[q], scan->columns[q].n_lanes);
    }
    KN_OWN(&probe->memory, probe->steps, probe->max_steps);
    KN_OWN_ALIGNED(&probe->memory, probe->deltas, scan->n_slots);
    KN_OWN(&probe->memory, probe->leasts, scan->n_slots / BLOCK);
    if (scan->by_value != NULL) {
        uint32_t n_values = scan->tuples->sensitive[scan->column].n_values;
        KN_OWN(&probe->memory, probe->value_rows, n_values);
        KN_OWN_RAW(&probe->memory, probe->values, n_values);
        KN_OWN_RAW(&probe->memory, probe->counts, n_values);
        KN_TRY(kn_value_probe_init(&probe->lanes, scan->by_value, err));
    }
    kn_probe_clear(probe);
    *out = probe;
    probe = NULL;
done:
    kn_probe_free(probe);
    return status;
}

void kn_probe_clear(kn_probe *probe)
{
    probe->n_rows = 0;
    for (uint32_t i = 0; i < probe->n_values; i++) probe->value_rows[probe->values[i]] = 0;
    probe->n_values = 0;
    for (uint32_t q = 0; q < probe->scan->n_qis; q++) {
        probe->first[q] = KN_NONE;
        probe->last[q] = 0;
        if (probe->bits[q] != NULL) memset(probe->bits[q], 0, probe->scan->columns[q].n_lanes * sizeof **probe->bits);
    }
}

void kn_probe_add_values(kn_probe *probe, const kn_items *items, uint32_t item)
{
    const kn_histograms *histogram = &items->sensitive[probe->scan->column];
    for (uint32_t e = histogram->start[item]; e < histogram->start[item + 1]; e++) {
        uint32_t value = histogram->values[e];
        if (probe->value_rows[value] == 0) probe->values[probe->n_values++] = value;
        probe->value_rows[value] += histogram->counts[e];
    }
}

void kn_probe_add(kn_probe *probe, const kn_items *items, uint32_t item)
{
    const kn_scan *scan = probe->scan;
    probe->n_rows += kn_items_rows(items, item);
    for (uint32_t q = 0; q < scan->n_qis; q++) {
        uint32_t code = scan->tuples->codes[q][items->tuple[item]];
        const kn_subsets *subsets = scan->columns[q].domain->subsets;
        if (subsets != NULL)
            probe->member[q] = probe->first[q] == KN_NONE ? code : kn_subsets_with(subsets, probe->member[q], code);
        if (code < probe->first[q]) probe->first[q] = code;
        if (code > probe->last[q]) probe->last[q] = code;
        if (probe->bits[q] != NULL) probe->bits[q][code % MAX_BITS / 16] |= (uint16_t)(1u << code % 16);
    }
    if (scan->by_value != NULL) kn_probe_add_values(probe, items, item);
}

/* The probe's class in lanes. */
static void load_lanes(kn_probe *probe)
{
    for (uint32_t i = 0; i < probe->n_values; i++) probe->counts[i] = probe->value_rows[probe->values[i]];
    kn_value_probe_load(&probe->lanes, probe->scan->by_value, probe->first, probe->last,
                        &(kn_histogram){probe->n_values, probe->values, probe->counts});
}

static uint16_t set_size(const scan_column *column, const uint16_t *bits)
{
    uint16_t n = 0;
    for (uint32_t l = 0; l < column->n_lanes; l++) n = (uint16_t)(n + count_bits(bits[l]));
    return n;
}

static uint16_t column_price(const kn_probe *probe, uint32_t q)
{
    const scan_column *column = &probe->scan->columns[q];
    uint32_t first = probe->first[q], last = probe->last[q];
    if (column->domain->subsets != NULL) return column->node_prices[probe->member[q]];
    switch (column->domain->kind) {
    case KN_DOMAIN_TREE: return column->node_prices[kn_closure_node(column->domain->tree, first, last)];
    case KN_DOMAIN_RANGES: {
        uint16_t width = (uint16_t)(column->until[last] - column->coordinates[first]);
        if (column->low != NULL && width > 0) width = (uint16_t)(column->high[last] - column->low[first]);
        return scaled(width > FULL_WIDTH ? FULL_WIDTH : width, column->scale, column->factor);
    }
    default: return scaled((uint16_t)(set_size(column, probe->bits[q]) - 1), column->scale, column->factor);
    }
}

static uint32_t probe_price(const kn_probe *probe)
{
    uint32_t price = 0;
    for (uint32_t q = 0; q < probe->scan->n_qis; q++) price += column_price(probe, q);
    return price;
}

static int32_t probe_rows(const kn_probe *probe)
{
    return probe->n_rows < (uint64_t)probe->scan->max_rows ? (int32_t)probe->n_rows : probe->scan->max_rows;
}

int32_t kn_probe_cost(kn_probe *probe)
{
    if (probe->scan->by_value == NULL) return probe_rows(probe) * (int32_t)probe_price(probe);
    load_lanes(probe);
    return kn_value_probe_cost(&probe->lanes, probe->scan->by_value);
}

void kn_scan_store(kn_scan *scan, uint32_t slot, kn_probe *probe)
{
    if (scan->by_value != NULL) {
        load_lanes(probe);
        kn_value_scan_store(scan->by_value, slot, &probe->lanes);
        scan->closed[slot] = 0;
        return;
    }
    for (uint32_t q = 0; q < scan->n_qis; q++) {
        scan_column *column = &scan->columns[q];
        uint32_t first = probe->first[q], last = probe->last[q];
        assert(first <= last);
        switch (column->domain->kind) {
        case KN_DOMAIN_TREE:
            for (uint32_t l = 0; l < column->n_lanes; l++) {
                bool inside = column->domain->tree->at_level[l][first] == column->domain->tree->at_level[l][last];
                column->lanes[l][slot] = inside ? column->level_ids[l][first] : STAR;
            }
            break;
        case KN_DOMAIN_RANGES:
            column->lanes[0][slot] = column->coordinates[first];
            column->lanes[1][slot] = column->until[last];
            if (column->low == NULL) break;
            column->lanes[2][slot] = column->low[first];
            column->lanes[3][slot] = column->high[last];
            break;
        case KN_DOMAIN_SETS:
            if (column->domain->subsets != NULL) {
                column->lanes[0][slot] = (uint16_t)probe->member[q];
                break;
            }
            for (uint32_t l = 0; l < column->n_lanes; l++) column->lanes[l][slot] = probe->bits[q][l];
            column->n_values[slot] = set_size(column, probe->bits[q]);
            break;
        }
    }
    scan->rows[slot] = probe_rows(probe);
    scan->costs[slot] = kn_probe_cost(probe);
    scan->closed[slot] = 0;
}

bool kn_probe_load(kn_probe *probe, const kn_span *spans, uint64_t n_rows)
{
    bool whole = true;
    kn_probe_clear(probe);
    probe->n_rows = n_rows;
    for (uint32_t q = 0; q < probe->scan->n_qis; q++) {
        probe->first[q] = spans[q].first;
        probe->last[q] = spans[q].last;
        probe->member[q] = spans[q].member;
        whole = whole && probe->bits[q] == NULL;
    }
    return whole;
}

bool kn_probe_needs_values(const kn_probe *probe) { return probe->scan->by_value != NULL; }

static void push_step(kn_probe *probe, step s)
{
    assert(probe->n_steps < probe->max_steps);
    probe->steps[probe->n_steps++] = s;
}

/* What the probe's closure and any other member cost together. */
static const uint16_t *join_members(kn_probe *probe, const scan_column *column, uint32_t q)
{
    const kn_subsets *subsets = column->domain->subsets;
    for (uint32_t m = 0; probe->joined_of[q] != probe->member[q] && m < subsets->n_members; m++)
        probe->joined[q][m] = column->node_prices[kn_subsets_join(subsets, probe->member[q], m)];
    probe->joined_of[q] = probe->member[q];
    return probe->joined[q];
}

/* The steps of column q; returns what every slot pays before them. */
static uint16_t plan_column(kn_probe *probe, const kn_scan *scan, uint32_t q)
{
    const scan_column *column = &scan->columns[q];
    const kn_tree *tree = column->domain->tree;
    uint32_t first = probe->first[q], last = probe->last[q], level = 0;
    switch (column->domain->kind) {
    case KN_DOMAIN_TREE: {
        while (tree->at_level[level][first] != tree->at_level[level][last]) level++;
        uint16_t start = column->node_prices[tree->at_level[level][first]];
        for (; level < column->n_lanes; level++) {
            uint16_t here = column->node_prices[tree->at_level[level][first]];
            uint16_t above = column->node_prices[tree->at_level[level + 1][first]];
            if (above == here) continue;
            push_step(probe, (step){.kind = SAME,
                                    .lane = column->lanes[level],
                                    .value = column->level_ids[level][first],
                                    .factor = (uint16_t)(above - here)});
            start = (uint16_t)(start + above - here);
        }
        return start;
    }
    case KN_DOMAIN_RANGES: {
        step s = {.kind = column->low != NULL ? DIFFER : WIDTH,
                  .lane = column->lanes[0],
                  .lane2 = column->lanes[1],
                  .value = column->coordinates[first],
                  .value2 = column->until[last],
                  .scale = column->scale,
                  .factor = column->factor};
        push_step(probe, s);
        if (column->low == NULL) return 0;
        s.kind = GRID_WIDTH;
        s.lane = column->lanes[2];
        s.lane2 = column->lanes[3];
        s.value = column->low[first];
        s.value2 = column->high[last];
        push_step(probe, s);
        return 0;
    }
    default:
        if (column->domain->subsets != NULL) {
            const uint16_t *table = join_members(probe, column, q);
            push_step(probe, (step){.kind = LOOK_UP, .lane = column->lanes[0], .table = table});
            return 0;
        }
        for (uint32_t l = 0; l < column->n_lanes; l++)
            if (probe->bits[q][l] != 0)
                push_step(probe, (step){.kind = COMMON, .lane = column->lanes[l], .value = probe->bits[q][l]});
        push_step(probe, (step){.kind = SIZE,
                                .lane = column->n_values,
                                .value = set_size(column, probe->bits[q]),
                                .scale = column->scale,
                                .factor = column->factor});
        return 0;
    }
}

static void join_by_value(kn_probe *probe, const kn_scan *scan)
{
    load_lanes(probe);
    for (uint32_t begin = probe->begin, b = 0; begin < probe->n; begin += BLOCK, b++) {
        uint32_t n = probe->n - begin < BLOCK ? (probe->n - begin + CHUNK - 1) / CHUNK * CHUNK : BLOCK;
        probe->leasts[b] = kn_value_scan_join(scan->by_value, &probe->lanes, begin, n, scan->closed + begin,
                                              probe->deltas + begin, scan->vectors);
    }
}

int32_t *kn_probe_join_from(kn_probe *probe, const kn_scan *scan, uint32_t begin, uint32_t n)
{
    uint16_t start = 0;
    assert(begin <= n && n <= scan->n_slots && probe->n_rows > 0);
    probe->begin = begin / CHUNK * CHUNK;
    probe->n = n;
    if (scan->by_value != NULL) {
        join_by_value(probe, scan);
        return probe->deltas;
    }
    probe->n_steps = 0;
    for (uint32_t q = 0; q < scan->n_qis; q++) start = (uint16_t)(start + plan_column(probe, scan, q));
    if (scan->vectors) run_blocks_avx2(scan, probe, start, probe_rows(probe));
    else run_blocks(scan, probe, start, probe_rows(probe));
    return probe->deltas;
}

int32_t *kn_probe_join(kn_probe *probe, const kn_scan *scan, uint32_t n)
{
    return kn_probe_join_from(probe, scan, 0, n);
}

/* Among the first CHUNK; without a branch, so that the compiler makes vector code of it. */
static bool has_value(const int32_t *values, int32_t value)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < CHUNK; i++) n += values[i] == value;
    return n > 0;
}

uint32_t kn_probe_least(const kn_probe *probe)
{
    uint32_t n_blocks = (probe->n - probe->begin + BLOCK - 1) / BLOCK, best = 0;
    for (uint32_t b = 1; b < n_blocks; b++)
        if (probe->leasts[b] < probe->leasts[best]) best = b;
    if (n_blocks == 0 || probe->leasts[best] == INT32_MAX) return KN_NONE;
    uint32_t slot = probe->begin + best * BLOCK;
    while (!has_value(probe->deltas + slot, probe->leasts[best])) slot += CHUNK;
    while (probe->deltas[slot] != probe->leasts[best]) slot++;
    return slot;
}

void kn_probe_strike(kn_probe *probe, uint32_t slot)
{
    if (slot < probe->begin || slot >= probe->n) return;
    uint32_t block = (slot - probe->begin) / BLOCK, begin = probe->begin + block * BLOCK;
    uint32_t n = probe->n - begin < BLOCK ? probe->n - begin : BLOCK;
    probe->deltas[slot] = INT32_MAX;
    probe->leasts[block] =
        kn_has_avx2() ? least_value_avx2(probe->deltas + begin, n) : least_value(probe->deltas + begin, n);
}
