/* t-closeness: a class's sensitive distribution is within t of the whole table's.
 *
 * Li, Li, Venkatasubramanian 2007, [SV] Definition 5.3. Distance is the Earth Mover's Distance, <= t, with the ground
 * distance
 *   equal         1 between any two values:                    EMD = sum of max(0, p - q)
 *   ordered       |i - j| / (m - 1) between ranks i and j:     EMD = mean over ranks of |P - Q|, P and Q cumulated
 *   hierarchical  level of the lowest common ancestor / height: EMD = sum over tree nodes of max(0, p - q) * (how much
 *                 higher the parent is) / height, because mass is best moved as low in the tree as it can be
 * The table's distribution includes suppressed rows. Ordered takes numbers and dates in their order, and text in the
 * order of the column's hierarchy (`order(a<b<c)`); the missing value is the last. Monotone: EMD is convex in p. A
 * table as one class has distance 0, so any t >= 0 is possible.
 *
 * A class costs O(e log m) for e distinct values of m in the table (hierarchical: O(e * height)): values that a class
 * lacks are summed through prefix sums, or drop out. */
#include "privacy/sensitive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 256, MOST_EQUAL = 256 }; /* MOST_EQUAL: of more values rounding would decide too often */

typedef enum distance { EQUAL, ORDERED, HIERARCHICAL } distance;

typedef struct state {
    uint32_t column, n_values;
    distance distance;
    double max_distance;
    uint64_t min_persons;
    const kn_sensitive *sensitive;
    double n_rows;
    uint32_t *place;    /* ordered: rank of a value; hierarchical: its leaf; NULL: the value itself */
    bool is_ascending;  /* places ascend with values */
    double *below;      /* ordered: Q up to and including each rank */
    double *below_sum;  /* sum of Q over the smaller ranks; n_values + 1 */
    double *node_share; /* hierarchical: q of each node */
    double *node_gap;   /* (level of the parent - level) / height */
    /* For lanes, in units of 2^-16, rounded down: */
    uint16_t *shares;   /* equal: q of each value; ordered: `below`; eight times each */
    uint32_t *at_rank;  /* ordered: its value */
    uint16_t limit;     /* max_distance */
    float gone_per_row; /* rows that must go for each row too many: see raise_must_go */
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self == NULL) return;
    kn_free(self->place);
    kn_free(self->below);
    kn_free(self->below_sum);
    kn_free(self->node_share);
    kn_free(self->node_gap);
    kn_free(self->shares);
    kn_free(self->at_rank);
    kn_free(self);
}

/* --- Preparing ------------------------------------------------------------------------------------------------- */

static void note_order(state *self)
{
    self->is_ascending = true;
    for (uint32_t value = 1; self->place != NULL && value < self->n_values; value++)
        if (self->place[value] < self->place[value - 1]) self->is_ascending = false;
}

/* Ranks of the values by their leaves, the missing one last. */
static kn_status rank_by_leaf(state *self, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *next = NULL, n = self->n_values - self->sensitive->column->has_missing;
    const uint32_t *leaf = self->sensitive->leaf_of_value;
    uint32_t n_leaves = self->sensitive->tree->n_leaves;
    KN_NEW(self->place, self->n_values);
    KN_NEW(next, (size_t)n_leaves + 1);
    for (uint32_t value = 0; value < n; value++) next[leaf[value] + 1]++;
    for (uint32_t i = 0; i < n_leaves; i++) next[i + 1] += next[i];
    for (uint32_t value = 0; value < n; value++) self->place[value] = next[leaf[value]]++;
    if (n < self->n_values) self->place[n] = n;
done:
    kn_free(next);
    return status;
}

static void note_share(state *self, uint32_t i, double rows)
{
    for (uint32_t lane = 0; lane < 8 && self->n_rows > 0; lane++)
        self->shares[i * 8 + lane] = (uint16_t)fmin(0x1p16 * rows / self->n_rows, UINT16_MAX);
}

static kn_status prepare_ordered(state *self, kn_error *err)
{
    kn_status status = KN_OK;
    double *share = NULL;
    bool is_text = self->sensitive->column->type == KN_TYPE_TEXT;
    if (is_text && self->sensitive->tree != NULL) {
        KN_TRY(rank_by_leaf(self, err));
    } else if (is_text) {
        KN_FAIL(KN_USAGE,
                "t-closeness: distance=ordered needs an order: column %.40s is text; give it one with --hierarchy "
                "'%.40s=order(a<b<c)', or take distance=equal",
                self->sensitive->column->name, self->sensitive->column->name);
    }
    KN_NEW(share, self->n_values);
    KN_NEW(self->below, self->n_values);
    KN_NEW(self->below_sum, (size_t)self->n_values + 1);
    KN_NEW(self->at_rank, self->n_values);
    KN_NEW_ALIGNED(self->shares, (size_t)self->n_values * 8);
    uint64_t rows = 0;
    for (uint32_t value = 0; value < self->n_values; value++) {
        uint32_t rank = self->place != NULL ? self->place[value] : value;
        share[rank] = (double)self->sensitive->reference[value];
        self->at_rank[rank] = value;
    }
    for (uint32_t rank = 0; rank < self->n_values; rank++) {
        rows += (uint64_t)share[rank];
        self->below[rank] = (double)rows / self->n_rows;
        note_share(self, rank, (double)rows);
        self->below_sum[rank + 1] = self->below_sum[rank] + self->below[rank];
    }
done:
    kn_free(share);
    return status;
}

static kn_status prepare_hierarchical(state *self, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sensitive *sensitive = self->sensitive;
    const kn_tree *tree = sensitive->tree;
    if (tree == NULL)
        KN_FAIL(KN_USAGE,
                "t-closeness: distance=hierarchical needs a hierarchy of column %.40s; give it with --hierarchy "
                "%.40s=FILE, or take distance=equal",
                sensitive->column->name, sensitive->column->name);
    if (tree->n_levels > MAX_LEVELS)
        KN_FAIL(KN_USAGE, "t-closeness: the hierarchy of column %.40s has %u levels; at most %d are supported",
                sensitive->column->name, tree->n_levels, MAX_LEVELS);
    KN_NEW_RAW(self->place, self->n_values);
    memcpy(self->place, sensitive->leaf_of_value, self->n_values * sizeof *self->place);
    KN_NEW(self->node_share, tree->n_nodes);
    KN_NEW(self->node_gap, tree->n_nodes);
    for (uint32_t value = 0; value < self->n_values; value++)
        for (uint32_t node = self->place[value];; node = tree->parent[node]) {
            self->node_share[node] += (double)sensitive->reference[value] / self->n_rows;
            if (node == tree->root) break;
        }
    double height = tree->level[tree->root];
    for (uint32_t node = 0; node < tree->n_nodes; node++)
        if (node != tree->root)
            self->node_gap[node] = ((double)tree->level[tree->parent[node]] - tree->level[node]) / height;
done:
    return status;
}

/* The least rows that a class within the distance can have. A class of n rows comes closest with floor(n q) rows of
 * each value and one more of those with the largest remainders. */
static kn_status note_least_rows(state *self, const kn_tuples *tuples, kn_error *err)
{
    enum { MOST_ROWS = 256, MOST_VALUES = 256 }; /* beyond, it is not worth the time */
    kn_status status = KN_OK;
    double *remainders = NULL;
    KN_NEW(remainders, self->n_values);
    if (tuples->row_person != NULL || self->n_values > MOST_VALUES) goto done;
    for (uint32_t n = 1; n <= MOST_ROWS && n <= tuples->n_rows; n++) {
        double common = 0; /* rows that need not be moved */
        for (uint32_t value = 0; value < self->n_values; value++) {
            double rows = n * ((double)self->sensitive->reference[value] / self->n_rows);
            common += floor(rows);
            remainders[value] = rows - floor(rows);
        }
        for (double more = n - common; more > 0; more--) {
            uint32_t largest = 0;
            for (uint32_t value = 1; value < self->n_values; value++)
                if (remainders[value] > remainders[largest]) largest = value;
            common += remainders[largest];
            remainders[largest] = 0;
        }
        self->min_persons = n;
        if (n - common <= self->max_distance * n + 1e-6) break;
    }
done:
    kn_free(remainders);
    return status;
}

static kn_status prepare_equal(state *self, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_ALIGNED(self->shares, (size_t)self->n_values * 8);
    for (uint32_t value = 0; value < self->n_values; value++)
        note_share(self, value, (double)self->sensitive->reference[value]);
    KN_TRY(note_least_rows(self, tuples, err));
done:
    return status;
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    self->sensitive = &tuples->sensitive[self->column];
    self->n_values = self->sensitive->n_values;
    self->n_rows = (double)self->sensitive->n_reference;
    self->distance = (distance)kn_args_number(args, "distance");
    self->max_distance = kn_args_number(args, "t");
    self->limit = (uint16_t)fmin(self->max_distance * 0x1p16, UINT16_MAX);
    if (self->max_distance < 1) self->gone_per_row = (float)(1 / (1 - self->max_distance));
    self->min_persons = 1;
    if (self->distance == EQUAL) KN_TRY(prepare_equal(self, tuples, err));
    if (self->distance == ORDERED) KN_TRY(prepare_ordered(self, err));
    if (self->distance == HIERARCHICAL) KN_TRY(prepare_hierarchical(self, err));
    note_order(self);
done:
    return status;
}

/* --- Distances ------------------------------------------------------------------------------------------------- */

static double equal_distance(const state *self, const kn_histogram *histogram, double rows)
{
    double sum = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double q = (double)self->sensitive->reference[histogram->values[i]] / self->n_rows;
        sum += fmax(0, (double)histogram->counts[i] / rows - q);
    }
    return sum;
}

/* The entries of a class by ascending place. Without memory for sorting they are searched one after the other: slow,
 * but right. */
typedef struct walk {
    const state *self;
    const kn_histogram *histogram;
    uint64_t *sorted; /* place << 32 | entry; NULL: not sorted */
    bool is_ascending;
    uint64_t next; /* number of the next entry, or (unsorted) the smallest key it may have */
} walk;

static uint64_t entry_key(const state *self, const kn_histogram *histogram, uint32_t entry)
{
    uint32_t value = histogram->values[entry];
    return (uint64_t)(self->place != NULL ? self->place[value] : value) << 32 | entry;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static walk walk_start(const state *self, const kn_histogram *histogram)
{
    walk w = {self, histogram, NULL, self->is_ascending, 0};
    if (!w.is_ascending) w.sorted = kn_array_alloc_raw(histogram->n, sizeof *w.sorted, NULL);
    if (w.sorted != NULL) {
        for (uint32_t i = 0; i < histogram->n; i++) w.sorted[i] = entry_key(self, histogram, i);
        qsort(w.sorted, histogram->n, sizeof *w.sorted, by_key);
    }
    return w;
}

static bool walk_next(walk *w, uint32_t *place, uint64_t *count)
{
    uint64_t key = UINT64_MAX;
    if (w->is_ascending || w->sorted != NULL) {
        if (w->next < w->histogram->n)
            key = w->sorted != NULL ? w->sorted[w->next] : entry_key(w->self, w->histogram, (uint32_t)w->next);
        w->next++;
    } else {
        for (uint32_t i = 0; i < w->histogram->n; i++) {
            uint64_t other = entry_key(w->self, w->histogram, i);
            if (other >= w->next && other < key) key = other;
        }
        w->next = key + 1;
    }
    if (key == UINT64_MAX) return false;
    *place = (uint32_t)(key >> 32);
    *count = w->histogram->counts[(uint32_t)key];
    return true;
}

/* Sum over the ranks begin..end-1 of |p - Q|. Q ascends, so it crosses p once. */
static double gap_sum(const state *self, uint32_t begin, uint32_t end, double p)
{
    uint32_t low = begin, high = end; /* the first rank with Q > p */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->below[middle] <= p) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return p * ((double)(low - begin) - (double)(end - low)) - (self->below_sum[low] - self->below_sum[begin]) +
           (self->below_sum[end] - self->below_sum[low]);
}

static double ordered_distance(const state *self, const kn_histogram *histogram, double rows)
{
    if (self->n_values < 2) return 0;
    walk w = walk_start(self, histogram);
    uint32_t begin = 0, place;
    uint64_t seen = 0, count;
    double sum = 0;
    while (walk_next(&w, &place, &count)) {
        sum += gap_sum(self, begin, place, (double)seen / rows);
        seen += count;
        begin = place;
    }
    sum += gap_sum(self, begin, self->n_values, (double)seen / rows);
    kn_free(w.sorted);
    return fmax(0, sum / (self->n_values - 1.0));
}

/* Entries come leaf by leaf, so the nodes that are not complete yet are the path from the last leaf up to the root. */
typedef struct path {
    uint32_t n;
    uint32_t node[MAX_LEVELS];
    uint64_t rows[MAX_LEVELS]; /* of the class, below that node */
} path;

/* Prices the lowest node of the path, whose rows are complete, and hands them on to its parent. */
static double close_lowest(const state *self, path *open, double rows)
{
    uint32_t i = --open->n, node = open->node[i];
    if (i > 0) open->rows[i - 1] += open->rows[i];
    return self->node_gap[node] * fmax(0, (double)open->rows[i] / rows - self->node_share[node]);
}

static void open_down_to(const kn_tree *tree, path *open, uint32_t leaf)
{
    uint32_t above = open->n > 0 ? open->node[open->n - 1] : KN_NONE, n_new = 0;
    if (above == leaf) return;
    for (uint32_t node = leaf; node != above; node = tree->parent[node]) {
        n_new++;
        if (node == tree->root) break;
    }
    open->n += n_new;
    for (uint32_t node = leaf, i = 0; i < n_new; node = tree->parent[node], i++) {
        open->node[open->n - 1 - i] = node;
        open->rows[open->n - 1 - i] = 0;
    }
}

static double hierarchical_distance(const state *self, const kn_histogram *histogram, double rows)
{
    const kn_tree *tree = self->sensitive->tree;
    walk w = walk_start(self, histogram);
    path open = {0};
    uint32_t leaf;
    uint64_t count;
    double sum = 0;
    while (walk_next(&w, &leaf, &count)) {
        while (open.n > 0 && tree->last[open.node[open.n - 1]] < leaf) sum += close_lowest(self, &open, rows);
        open_down_to(tree, &open, leaf);
        open.rows[open.n - 1] += count;
    }
    while (open.n > 0) sum += close_lowest(self, &open, rows);
    kn_free(w.sorted);
    return sum;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    const kn_histogram *histogram = &counts->sensitive[self->column];
    double rows = (double)counts->n_rows;
    switch (self->distance) {
    case EQUAL: return equal_distance(self, histogram, rows);
    case ORDERED: return ordered_distance(self, histogram, rows);
    case HIERARCHICAL: return hierarchical_distance(self, histogram, rows);
    }
    return 0;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return kn_at_most(value(opaque, counts), ((const state *)opaque)->max_distance);
}

/* --- Lanes ----------------------------------------------------------------------------------------------------- */

/* What may be moved, rounded down by less than 2 units. */
static inline kn_model_lanes limit_units(const state *self, const kn_lane_units *units)
{
    return kn_lanes_share(kn_lanes_all(self->limit), units->all);
}

/* Taking x rows out leaves at most x fewer rows to move, and x * t fewer may be moved: so many must go. */
static inline void raise_must_go(uint32_t *must_go, const state *self, int half, int part, kn_model_floats excess_rows)
{
    kn_lanes_raise(must_go, half, part, excess_rows * self->gone_per_row);
}

/* A value's share and its product are rounded down, by less than 2 units together. */
static kn_judgement judge_equal(const state *self, const kn_lane_counts *counts, uint32_t *must_go)
{
    const kn_model_lanes *shares = (const kn_model_lanes *)self->shares;
    const kn_model_lanes rounding = kn_lanes_all((uint16_t)(2 * self->n_values + 4));
    const kn_lane_units units[2] = {kn_lanes_units(counts, 0), kn_lanes_units(counts, 1)};
    const kn_model_lanes *lanes = (const kn_model_lanes *)counts->sensitive[self->column];
    kn_model_lanes within[2], near[2], sums[2] = {{0}}; /* of what is to move, or up to `rounding` more */
    for (uint32_t v = 0; v < self->n_values; v++) {
        sums[0] += kn_lanes_excess(lanes[2 * v] * units[0].per_row, kn_lanes_share(shares[v], units[0].all));
        sums[1] += kn_lanes_excess(lanes[2 * v + 1] * units[1].per_row, kn_lanes_share(shares[v], units[1].all));
    }
    for (int half = 0; half < 2; half++) {
        kn_model_lanes over = kn_lanes_excess(sums[half], limit_units(self, &units[half]));
        within[half] = (kn_model_lanes)(over == 0);
        over = kn_lanes_excess(over, rounding);
        near[half] = (kn_model_lanes)(over == 0);
        for (int part = 0; part < 2; part++)
            raise_must_go(must_go, self, half, part,
                          kn_ints_floats(kn_lanes_ints(over, part)) * units[half].rows[part]);
    }
    const uint32_t holds = kn_lanes_bits(within) & counts->ask;
    return (kn_judgement){holds, kn_lanes_bits(near) & counts->ask & ~holds};
}

/* Sum over ranks of |P - Q|, where Q is rounded by less than 2 units a rank, up and down. Floats are exact here. */
static kn_judgement judge_ordered(const state *self, const kn_lane_counts *counts, uint32_t *must_go)
{
    const kn_model_lanes *below = (const kn_model_lanes *)self->shares;
    const float n = (float)self->n_values;
    kn_lane_verdict verdict;
    kn_lanes_begin(&verdict, counts);
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        const kn_lane_units units = kn_lanes_units(counts, half);
        kn_model_lanes seen = {0}, limit = limit_units(self, &units);
        kn_model_ints sum[2] = {{0}};
        for (uint32_t rank = 0; rank < self->n_values; rank++) {
            seen += kn_lanes_at(counts, self->column, self->at_rank[rank], half) * units.per_row;
            kn_model_lanes other = kn_lanes_share(below[rank], units.all);
            kn_model_lanes gap = kn_lanes_excess(seen, other) | kn_lanes_excess(other, seen);
            for (int part = 0; part < 2; part++) sum[part] += kn_lanes_ints(gap, part);
        }
        for (int part = 0; part < 2; part++) {
            kn_model_floats over = kn_ints_floats(sum[part]) - kn_ints_floats(kn_lanes_ints(limit, part)) * (n - 1);
            verdict.within[2 * half + part] = (kn_model_ints)(over <= -2 * n);
            over -= 4 * n + 4;
            verdict.near[2 * half + part] = (kn_model_ints)(over <= 0) & ~verdict.within[2 * half + part];
            raise_must_go(must_go, self, half, part, over * units.rows[part] / (n - 1));
        }
    }
    return kn_lanes_judgement(&verdict, counts->ask);
}

static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    if (self->distance == EQUAL && self->n_values <= MOST_EQUAL) return judge_equal(self, counts, must_go);
    if (self->distance == ORDERED && self->n_values > 1 && self->n_values <= KN_LANES_MOST_VALUES)
        return judge_ordered(self, counts, must_go);
    return (kn_judgement){0, counts->ask};
}

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->min_persons; }

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    KN_JOINT_PARAM,
    {.name = "distance",
     .type = KN_PARAM_CHOICE,
     .preset = "equal",
     .choices = "equal|ordered|hierarchical",
     .help = "how far apart two values are"},
    {.name = "t", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1, .help = "largest distance of a class"},
};

const kn_privacy kn_privacy_t_closeness = {
    .name = "t-closeness",
    .summary = "a class's sensitive values are distributed as in the table, within t",
    .promise = "among those who share their generalized cells, {column} is distributed much as in the whole table: at "
               "a distance from it, between 0 (equal) and 1, of at most {t}",
    .citation = "Li, Li, Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "t",
    .prepare = prepare,
    .discard = discard,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
};
