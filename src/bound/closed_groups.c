/* Groups by splitting from the top; see the header. */
#include "bound/closed_groups.h"

#include <assert.h>
#include <string.h>

/* CHOICE_STEPS: what it takes to choose a cell, however few points are in it. */
enum { WANTED_JOBS = 24, MOST_JOBS = 4096, TICK_WORK = 1 << 21, FEW_VALUES = 12, CHOICE_STEPS = 4 };

/* The parts of one split. Each column and level has one per thread: the deepest chain of splits. */
typedef struct frame {
    uint32_t *points;
    size_t capacity;
    KN_VECTOR(uint32_t) ends; /* of the parts */
    /* Between values (part_by_value): */
    KN_VECTOR(uint32_t) values;  /* [part] */
    KN_VECTOR(uint64_t) persons; /* [part] */
} frame;

/* What one thread works with. */
typedef struct miner {
    frame *frames;
    uint32_t *levels, *lasts;  /* [column]: chosen so far; without levels the cell's first and last value */
    uint32_t *counts, *starts; /* [node] */
    uint32_t *seen;            /* nodes of the split under way */
    uint64_t **marks, mark;    /* [need][value]: the last group that had it */
    uint64_t work, reported;   /* reported: of the work, what the others know of */
} miner;

typedef struct mining {
    const kn_bound_problem *problem;
    kn_group_walk *walk;
    kn_group_visitor visit;
    void *context;
    miner *miners;
    uint32_t n_fixed;      /* columns whose levels are the jobs */
    uint32_t *rest_least;  /* [column]: least price of it and those behind it */
    uint32_t *first_frame; /* [column] */
    size_t n_jobs;
    atomic_uint_fast64_t work;
    atomic_bool stop;
} mining;

/* What a job carries along. */
typedef struct path {
    mining *all;
    miner *own;
    size_t job;
    unsigned worker;
    uint32_t fixed[64]; /* levels of the first columns */
} path;

/* How many jobs a column is cut into: its levels; of first values every so many-th. */
static uint32_t column_jobs(const kn_bound_column *column)
{
    return column->shape == KN_SHAPE_TREE || column->n_levels < WANTED_JOBS ? column->n_levels : WANTED_JOBS;
}

static uint32_t count_fixed(const kn_bound_problem *problem, size_t *n_jobs)
{
    uint32_t n = 0;
    *n_jobs = 1;
    while (n < problem->n_columns && n < 64 && *n_jobs < WANTED_JOBS &&
           *n_jobs * column_jobs(&problem->columns[n]) <= MOST_JOBS)
        *n_jobs *= column_jobs(&problem->columns[n++]);
    return n;
}

size_t kn_group_jobs(const kn_bound_problem *problem)
{
    size_t n_jobs;
    count_fixed(problem, &n_jobs);
    return n_jobs;
}

/* Adds to the work that everybody did, and ends the walk where it is too much. */
static void report_work(path *p)
{
    mining *all = p->all;
    miner *own = p->own;
    uint64_t sum = atomic_fetch_add(&all->work, own->work - own->reported) + (own->work - own->reported);
    own->reported = own->work;
    if (all->walk->max_work > 0 && sum > all->walk->max_work) atomic_store(&all->stop, true);
    if (kn_ticker_out_of_time(all->problem->task->ticker)) atomic_store(&all->stop, true);
}

/* All rows below one node of a level? */
static bool is_shared(const kn_bound_column *column, uint32_t level, const uint32_t *points, uint32_t n, miner *own)
{
    const uint32_t *node = column->node[level], first = node[column->codes[points[0]]];
    uint32_t i = 1;
    while (i < n && node[column->codes[points[i]]] == first) i++;
    own->work += i;
    return i >= n;
}

/* Do these rows have both ends of a cell between values? Of everything: more than such a cell could hold? */
static bool is_tight(const kn_bound_column *column, uint32_t first, uint32_t last, const uint32_t *points, uint32_t n,
                     miner *own)
{
    const bool is_all = first == column->n_nodes;
    const uint32_t least = column->shape == KN_SHAPE_INTERVALS ? 2 : 3;
    uint32_t seen[3], n_seen = 0, i = 0;
    bool has_first = false, has_last = false;
    while (i < n && !(is_all ? n_seen >= least && has_first : has_first && has_last)) {
        const uint32_t value = column->codes[points[i++]];
        has_first |= is_all ? column->apart == KN_NONE || value == column->apart : value == first;
        has_last |= value == last;
        uint32_t j = 0;
        while (j < n_seen && seen[j] != value) j++;
        if (j == n_seen && n_seen < 3) seen[n_seen++] = value;
    }
    own->work += i;
    return is_all ? n_seen >= least && has_first : has_first && has_last;
}

/* As many different sensitive values as a class needs? */
static bool has_values(const kn_bound_problem *problem, miner *own, const uint32_t *points, uint32_t n)
{
    for (uint32_t d = 0; d < problem->n_needs; d++) {
        const kn_bound_need *need = &problem->needs[d];
        uint32_t n_seen = 0, i = 0;
        own->mark++;
        for (; i < n && n_seen < need->least; i++) {
            const kn_histogram values = kn_histogram_of(&need->by_point, points[i]);
            for (uint32_t j = 0; j < values.n; j++) {
                n_seen += own->marks[d][values.values[j]] != own->mark;
                own->marks[d][values.values[j]] = own->mark;
            }
        }
        own->work += i;
        if (n_seen < need->least) return false;
    }
    return true;
}

/* Another group with these rows costs no more: a chosen node has a child, not dearer, that holds them all. */
static bool is_dominated(path *p, const uint32_t *points, uint32_t n, uint32_t n_chosen)
{
    const kn_bound_problem *problem = p->all->problem;
    if (p->all->walk->every) return false;
    for (uint32_t c = n_chosen; c-- > 0;) {
        const kn_bound_column *column = &problem->columns[c];
        const uint32_t level = p->own->levels[c], value = column->codes[points[0]];
        if (column->shape != KN_SHAPE_TREE) {
            if (!is_tight(column, level, p->own->lasts[c], points, n, p->own)) return true;
        } else if (level > 0 && column->price[level - 1][value] <= column->price[level][value] &&
                   is_shared(column, level - 1, points, n, p->own)) {
            return true;
        }
    }
    return false;
}

static kn_status reserve(frame *f, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (n <= f->capacity) goto done;
    kn_free(f->points);
    f->points = NULL;
    f->capacity = 0;
    KN_NEW_RAW(f->points, n);
    f->capacity = n;
done:
    return status;
}

/* The parts of a list at a level, those with enough persons, in the order of their first points. */
static kn_status split(frame *f, path *p, const kn_bound_column *column, uint32_t level, const uint32_t *points,
                       uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = p->all->problem;
    const uint32_t *node = column->node[level], *codes = column->codes;
    miner *own = p->own;
    uint32_t n_seen = 0, n_kept = 0;
    KN_TRY(reserve(f, n, err));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = node[codes[points[i]]];
        if (own->starts[v] == 0) own->seen[n_seen++] = v;
        own->counts[v] += problem->persons[points[i]];
        own->starts[v]++;
    }
    f->ends.n = 0;
    for (uint32_t i = 0; i < n_seen; i++) {
        const uint32_t v = own->seen[i], size = own->starts[v];
        own->starts[v] = KN_NONE;
        if (own->counts[v] < problem->k) continue;
        own->starts[v] = n_kept;
        n_kept += size;
        KN_PUSH(&f->ends, n_kept);
    }
    for (uint32_t i = 0; n_kept > 0 && i < n; i++) {
        const uint32_t v = node[codes[points[i]]];
        if (own->starts[v] != KN_NONE) f->points[own->starts[v]++] = points[i];
    }
    own->work += 2 * (uint64_t)n;
done:
    for (uint32_t i = 0; i < n_seen; i++) own->counts[own->seen[i]] = own->starts[own->seen[i]] = 0;
    return status;
}

static kn_status emit(path *p, const uint32_t *points, uint32_t n, uint32_t price, kn_error *err)
{
    kn_status status = KN_OK;
    mining *all = p->all;
    kn_group group = {.points = points, .n_points = n, .price = price};
    for (uint32_t i = 0; i < n; i++) group.n_rows += all->problem->rows[points[i]];
    p->own->work += (1 + all->walk->member_steps) * (uint64_t)n;
    KN_TRY(all->visit(all->context, &group, p->job, p->worker, err));
    if (atomic_load_explicit(&all->walk->enough, memory_order_relaxed)) atomic_store(&all->stop, true);
done:
    return status;
}

/* --- Down the columns -------------------------------------------------------------------------------------------- */

static kn_status descend(path *p, const uint32_t *points, uint32_t n, uint32_t c, uint32_t level, uint32_t price,
                         kn_error *err);

/* The next column, with this price of the cell chosen in column c. */
static kn_status go_on(path *p, const uint32_t *points, uint32_t n, uint32_t c, uint32_t before, uint32_t price,
                       kn_error *err)
{
    const mining *all = p->all;
    const kn_bound_problem *problem = all->problem;
    const uint64_t here = (uint64_t)before + price;
    p->own->work += CHOICE_STEPS;
    if (here + all->rest_least[c + 1] > all->walk->price_limit || !has_values(problem, p->own, points, n) ||
        is_dominated(p, points, n, c + 1))
        return KN_OK;
    return descend(p, points, n, c + 1, c + 1 < problem->n_columns ? problem->columns[c + 1].n_levels : 0,
                   (uint32_t)here, err);
}

/* Some values in their order; of many, those of all values that have points. */
static void sort_values(miner *own, uint32_t n_seen, uint32_t n_values)
{
    uint32_t *seen = own->seen, n = 0;
    for (uint32_t value = 0; n_seen > FEW_VALUES && value < n_values; value++)
        if (own->starts[value] > 0) seen[n++] = value;
    for (uint32_t i = 1; n_seen <= FEW_VALUES && i < n_seen; i++) {
        const uint32_t value = seen[i];
        uint32_t at = i;
        for (; at > 0 && seen[at - 1] > value; at--) seen[at] = seen[at - 1];
        seen[at] = value;
    }
    own->work += n_seen > FEW_VALUES ? n_values : 2 * n_seen;
}

/* The points of each value side by side, in the order of the values. */
static kn_status part_by_value(frame *f, path *p, const kn_bound_column *column, const uint32_t *points, uint32_t n,
                               kn_error *err)
{
    kn_status status = KN_OK;
    miner *own = p->own;
    uint32_t n_seen = 0, n_placed = 0;
    KN_TRY(reserve(f, n, err));
    f->ends.n = f->values.n = f->persons.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t value = column->codes[points[i]];
        if (own->starts[value]++ == 0) own->seen[n_seen++] = value;
    }
    sort_values(own, n_seen, column->n_nodes);
    for (uint32_t i = 0; i < n_seen; i++) {
        const uint32_t size = own->starts[own->seen[i]];
        own->starts[own->seen[i]] = n_placed;
        own->counts[own->seen[i]] = i;
        n_placed += size;
        KN_PUSH(&f->ends, n_placed);
        KN_PUSH(&f->values, own->seen[i]);
        KN_PUSH(&f->persons, 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t value = column->codes[points[i]];
        f->points[own->starts[value]++] = points[i];
        f->persons.items[own->counts[value]] += p->all->problem->persons[points[i]];
    }
    own->work += 3 * (uint64_t)n + 2 * n_seen;
done:
    for (uint32_t i = 0; i < n_seen; i++) own->counts[own->seen[i]] = own->starts[own->seen[i]] = 0;
    return status;
}

/* The points of two parts, one after the other. */
static kn_status join_parts(frame *out, const frame *f, size_t a, size_t b, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t parts[] = {a, b};
    uint32_t n = 0;
    KN_TRY(reserve(out, f->ends.items[f->ends.n - 1], err));
    for (int i = 0; i < 2; i++) {
        const uint32_t start = parts[i] > 0 ? f->ends.items[parts[i] - 1] : 0;
        memcpy(out->points + n, f->points + start, (f->ends.items[parts[i]] - start) * sizeof *out->points);
        n += f->ends.items[parts[i]] - start;
    }
done:
    return status;
}

/* The cells whose first value is that of part i. */
static kn_status descend_from(path *p, frame *f, size_t i, uint32_t c, uint32_t price, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_column *column = &p->all->problem->columns[c];
    const bool is_interval = column->shape == KN_SHAPE_INTERVALS;
    const uint32_t first = f->values.items[i], start = i > 0 ? f->ends.items[i - 1] : 0;
    uint64_t n_persons = 0;
    for (size_t j = i; j < f->ends.n; j++) {
        p->own->work++;
        const uint32_t last = f->values.items[j], this = column->pair_price[(size_t)first * column->n_nodes + last];
        if (is_interval && j > i && last == column->apart) break;
        n_persons = is_interval || j == i ? n_persons + f->persons.items[j] : f->persons.items[i] + f->persons.items[j];
        const bool is_dear = (uint64_t)price + this + p->all->rest_least[c + 1] > p->all->walk->price_limit;
        if (is_interval && is_dear) break;
        if (n_persons < p->all->problem->k || is_dear) continue;
        p->own->levels[c] = first;
        p->own->lasts[c] = last;
        if (is_interval || j == i) {
            KN_TRY(go_on(p, f->points + start, f->ends.items[j] - start, c, price, this, err));
        } else {
            const uint32_t n = f->ends.items[i] - start + f->ends.items[j] - f->ends.items[j - 1];
            p->own->work += n;
            KN_TRY(join_parts(f + 1, f, i, j, err));
            KN_TRY(go_on(p, f[1].points, n, c, price, this, err));
        }
    }
done:
    return status;
}

/* The same as `descend` for a column whose cells lie between values. */
static kn_status descend_between(path *p, const uint32_t *points, uint32_t n, uint32_t c, uint32_t price, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_column *column = &p->all->problem->columns[c];
    /* Everything counts as one more first value. */
    const uint32_t n_jobs = c < p->all->n_fixed ? column_jobs(column) : 1, job = n_jobs > 1 ? p->fixed[c] : 0;
    frame *f = &p->own->frames[p->all->first_frame[c]];
    if (column->n_nodes % n_jobs == job && (column->apart != KN_NONE || column->shape == KN_SHAPE_PAIRS)) {
        p->own->levels[c] = p->own->lasts[c] = column->n_nodes;
        KN_TRY(go_on(p, points, n, c, price, column->all_price, err));
    }
    KN_TRY(part_by_value(f, p, column, points, n, err));
    for (size_t i = 0; i < f->ends.n; i++)
        if (f->values.items[i] % n_jobs == job) KN_TRY(descend_from(p, f, i, c, price, err));
done:
    return status;
}

/* `points` lie below one node of each column before `c`, whose levels are chosen, and below one of column c at `level`,
 * or, for level n_levels, anywhere. Visits what they can still be split into. */
static kn_status descend(path *p, const uint32_t *points, uint32_t n, uint32_t c, uint32_t level, uint32_t price,
                         kn_error *err)
{
    kn_status status = KN_OK;
    mining *all = p->all;
    const kn_bound_problem *problem = all->problem;
    const kn_bound_column *column = &problem->columns[c];
    const bool is_fixed = c < all->n_fixed;
    if (p->own->work - p->own->reported > TICK_WORK) {
        KN_TRY(kn_tick(problem->task->ticker, "bound", -1, err));
        report_work(p);
    }
    if (atomic_load_explicit(&all->stop, memory_order_relaxed)) return KN_OK;
    if (c == problem->n_columns) return emit(p, points, n, price, err);
    if (column->shape != KN_SHAPE_TREE) return descend_between(p, points, n, c, price, err);
    if (level == column->n_levels && column->top_is_root) level--;
    if (level < column->n_levels && !(is_fixed && level != p->fixed[c])) {
        p->own->levels[c] = level;
        KN_TRY(go_on(p, points, n, c, price, column->price[level][column->codes[points[0]]], err));
    }
    if (level == 0 || (is_fixed && level == p->fixed[c])) goto done;
    frame *f = &p->own->frames[all->first_frame[c] + level - 1];
    KN_TRY(split(f, p, column, level - 1, points, n, err));
    for (size_t i = 0; i < f->ends.n; i++) {
        const uint32_t start = i > 0 ? f->ends.items[i - 1] : 0;
        KN_TRY(descend(p, f->points + start, f->ends.items[i] - start, c, level - 1, price, err));
    }
done:
    return status;
}

static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    mining *all = context;
    const kn_bound_problem *problem = all->problem;
    path p = {.all = all, .own = &all->miners[worker], .job = job, .worker = worker};
    uint32_t *points = NULL;
    uint64_t n_persons = 0;
    KN_TRY(kn_tick(problem->task->ticker, "bound", (double)job / (double)all->n_jobs, err));
    size_t rest = job;
    for (uint32_t c = all->n_fixed; c-- > 0; rest /= column_jobs(&problem->columns[c]))
        p.fixed[c] = (uint32_t)(rest % column_jobs(&problem->columns[c]));
    KN_NEW_RAW(points, problem->n_points);
    for (uint32_t i = 0; i < problem->n_points; i++) {
        points[i] = i;
        n_persons += problem->persons[i];
    }
    p.own->work += problem->n_points;
    if (n_persons >= problem->k && n_persons > 0)
        KN_TRY(descend(&p, points, problem->n_points, 0, problem->n_columns > 0 ? problem->columns[0].n_levels : 0, 0,
                       err));
    report_work(&p);
done:
    kn_free(points);
    return status;
}

static kn_status new_miner(miner *own, const mining *all, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = all->problem;
    uint32_t most_nodes = 0;
    for (uint32_t c = 0; c < problem->n_columns; c++)
        if (problem->columns[c].n_nodes > most_nodes) most_nodes = problem->columns[c].n_nodes;
    KN_NEW(own->frames, all->first_frame[problem->n_columns]);
    KN_NEW(own->levels, problem->n_columns);
    KN_NEW(own->lasts, problem->n_columns);
    KN_NEW(own->marks, problem->n_needs);
    for (uint32_t d = 0; d < problem->n_needs; d++) KN_NEW(own->marks[d], problem->needs[d].n_values);
    KN_NEW(own->counts, most_nodes);
    KN_NEW(own->starts, most_nodes);
    KN_NEW(own->seen, most_nodes);
done:
    return status;
}

static void free_miner(miner *own, const mining *all)
{
    for (uint32_t i = 0; own->frames != NULL && i < all->first_frame[all->problem->n_columns]; i++) {
        kn_free(own->frames[i].points);
        kn_free(own->frames[i].ends.items);
        kn_free(own->frames[i].values.items);
        kn_free(own->frames[i].persons.items);
    }
    kn_free(own->frames);
    kn_free(own->levels);
    kn_free(own->lasts);
    for (uint32_t d = 0; own->marks != NULL && d < all->problem->n_needs; d++) kn_free(own->marks[d]);
    kn_free(own->marks);
    kn_free(own->counts);
    kn_free(own->starts);
    kn_free(own->seen);
}

kn_status kn_each_group(kn_group_walk *walk, const kn_bound_problem *problem, kn_group_visitor visit, void *context,
                        kn_error *err)
{
    kn_status status = KN_OK;
    mining all = {.problem = problem, .walk = walk, .visit = visit, .context = context};
    const unsigned n_threads = kn_pool_threads(problem->task->pool);
    walk->work = 0;
    walk->done = false;
    all.n_fixed = count_fixed(problem, &all.n_jobs);
    KN_NEW(all.rest_least, (size_t)problem->n_columns + 1);
    KN_NEW(all.first_frame, (size_t)problem->n_columns + 1);
    for (uint32_t c = 0; c < problem->n_columns; c++)
        all.first_frame[c + 1] =
            all.first_frame[c] + (problem->columns[c].shape == KN_SHAPE_TREE ? problem->columns[c].n_levels : 2);
    for (uint32_t c = problem->n_columns; c-- > 0;)
        all.rest_least[c] = all.rest_least[c + 1] + problem->columns[c].least;
    KN_NEW(all.miners, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(new_miner(&all.miners[i], &all, err));
    KN_TRY(kn_pool_run(problem->task->pool, all.n_jobs, run_job, &all, err));
    walk->work = atomic_load(&all.work);
    if (problem->spent != NULL) *problem->spent += walk->work;
    walk->done = !atomic_load(&all.stop);
done:
    for (unsigned i = 0; all.miners != NULL && i < n_threads; i++) free_miner(&all.miners[i], &all);
    kn_free(all.miners);
    kn_free(all.rest_least);
    kn_free(all.first_frame);
    return status;
}
