/* The best cuts of one column while all others stay.
 *
 * With the other columns' letters as they are, rows fall into groups that no cut of this column joins, and what a part
 * i..j of this column costs depends on nothing else in it: the sum over the groups of what their rows at i..j cost as a
 * class. So the best set of cuts is a shortest path over the positions, and is found among all of them at once. Of all
 * letters that could be flipped in this column none gains then, nor do several together.
 *
 * The limit of suppressed rows is one on the whole path: a suppressed row is made dearer until the path keeps it, which
 * gives a good path, and the best one where none may be suppressed or all may.
 *
 * A random set of cuts comes from the same pass: with temperature t every set is drawn with a chance proportional to
 * exp(-cost / t). The sum of these weights over the paths that end before a position goes along instead of the least
 * cost, as -t times its logarithm, and the last part of such a path is drawn by its share of the sum while the sum is
 * made: what heat-bath annealing asks for, over all sets of cuts of a column at once.
 *
 * Where persons have several tuples, groups count them for each (cut_moves.h): the path is looked at before it is
 * taken.
 *
 * A part is made longer only while the paths over it can matter: its released classes only grow, and once they alone
 * cost more than the cuts that are there now, no longer part is in the best set, nor, beyond so many temperatures that
 * its chance is below rounding, in a random one. (A class that breaks a model as it grows is suppressed and costs no
 * less. Not for average class, where a class is a gain.)
 *
 * A column of very many positions is cut at some of them only: where it is cut now, and at others drawn at random, ever
 * new ones. What lies between two of them is a *step*; in other columns a step is a position.
 *
 * Cost: steps times (items, merged by group and step), half of it at most; for the items a pass. */
#include "search/cuts/cut_column.h"

#include "search/cuts/cut_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct kn_cut_path {
    const kn_cuts *cuts;
    const kn_items *items;
    uint32_t *sorted;                    /* [q * items + i]: items by position in column q ... */
    uint32_t *start;                     /* [offset + q + position], one more than positions: ... and its first */
    uint32_t most_steps, n_steps, *step; /* [step], n_steps + 1: its first position */
    bool *marked;                        /* [position]: a step begins there */
    bool has_now;                        /* all cuts that the column has are between steps */
    bool *grows;                         /* [column]: a longer part costs no less */
    uint32_t *group_of, n_groups;        /* [class] */
    uint32_t *member;                    /* [group]: one of its classes */
    uint32_t *pair_of;                   /* [item] */
    uint32_t *class_of_pair;
    uint32_t *group_at;                         /* [group]: the pair of the step at hand */
    double *group_lanes;                        /* [group * n_lanes + lane]: of the part at hand */
    double *others;                             /* [group]: what a row pays in the other columns; cell measures */
    uint32_t n_pairs, *pair_group, *pair_start; /* rows of a group in a step; [step]: its first pair */
    double *pair_lanes;
    double *best; /* [step], n_steps + 1: of the paths that end before it ... */
    uint32_t *from;
    double *suppressed, *cost; /* ... and what they suppress and cost */
    uint8_t *before;           /* [letter] */
};

enum { WORK_PER_PART = 8 };

/* Which path is looked for. */
typedef struct way {
    double dearer;      /* what a suppressed row costs beyond its price */
    double most;        /* what costs more does not matter */
    double temperature; /* for draws */
    kn_rng *rng;        /* NULL: the best */
} way;

/* Items by position, for every column. */
static kn_status sort_items(kn_cut_path *path, uint32_t most_positions, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = path->cuts;
    const kn_items *items = path->items;
    uint32_t *next = NULL;
    KN_NEW(next, most_positions);
    for (uint32_t q = 0, at = 0; q < cuts->n_columns; at += cuts->columns[q++].n_positions + 1) {
        uint32_t *start = path->start + at;
        for (uint32_t i = 0; i < items->n; i++) start[items->keys[(size_t)i * cuts->n_keys + q] + 1]++;
        for (uint32_t p = 0; p < cuts->columns[q].n_positions; p++) start[p + 1] += start[p];
        memcpy(next, start, cuts->columns[q].n_positions * sizeof *next);
        for (uint32_t i = 0; i < items->n; i++)
            path->sorted[(size_t)q * items->n + next[items->keys[(size_t)i * cuts->n_keys + q]]++] = i;
    }
done:
    kn_free(next);
    return status;
}

static bool prices_grow(const kn_cut_column *column)
{
    const uint32_t n = column->n_positions;
    for (uint32_t i = 0; column->prices != NULL && i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (column->prices[(size_t)i * n + j] < column->prices[(size_t)i * n + j - 1]) return false;
    return true;
}

/* Steps that a column may have, so that no look at one takes much longer than half a second: as many as positions
 * nearly always. Where parts end early a look is not half as much work as this says. */
static uint32_t most_steps(const kn_cuts *cuts, const kn_items *items)
{
    enum { LEAST = 64, MOST_WORK = 1 << 27 };
    const uint64_t most = cuts->bound->grows && !cuts->bound->by_cell ? MOST_WORK : MOST_WORK / 8;
    uint32_t n = LEAST;
    while (n < KN_MOST_POSITIONS && n * ((uint64_t)items->n + WORK_PER_PART * n) < most) n++;
    return n;
}

kn_status kn_cut_path_new(kn_cut_path **out, const kn_cuts *cuts, const kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_path *path = NULL;
    uint32_t most = 0;
    size_t n_positions = 0;
    *out = NULL;
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        if (cuts->columns[q].n_positions > most) most = cuts->columns[q].n_positions;
        n_positions += cuts->columns[q].n_positions;
    }
    KN_NEW(path, 1);
    path->cuts = cuts;
    path->items = items;
    KN_NEW(path->sorted, (size_t)items->n * cuts->n_columns);
    KN_NEW(path->start, n_positions + cuts->n_columns);
    KN_NEW(path->group_of, items->n);
    KN_NEW(path->group_at, items->n);
    KN_NEW(path->member, items->n);
    KN_NEW(path->pair_of, items->n);
    KN_NEW(path->class_of_pair, items->n);
    KN_NEW(path->group_lanes, (size_t)items->n * cuts->n_lanes);
    KN_NEW(path->others, items->n);
    KN_NEW(path->pair_group, items->n);
    KN_NEW(path->pair_lanes, (size_t)items->n * cuts->n_lanes);
    KN_NEW(path->marked, most);
    KN_NEW(path->grows, cuts->n_columns);
    path->most_steps = most_steps(cuts, items);
    const size_t n_steps = (most < path->most_steps ? most : path->most_steps) + (size_t)2;
    KN_NEW(path->step, n_steps);
    KN_NEW(path->pair_start, n_steps);
    KN_NEW(path->best, n_steps);
    KN_NEW(path->from, n_steps);
    KN_NEW(path->suppressed, n_steps);
    KN_NEW(path->cost, n_steps);
    KN_NEW(path->before, cuts->n_letters);
    for (uint32_t q = 0; q < cuts->n_columns; q++)
        path->grows[q] = cuts->bound->grows && prices_grow(&cuts->columns[q]);
    KN_TRY(sort_items(path, most, err));
    *out = path;
    path = NULL;
done:
    kn_cut_path_free(path);
    return status;
}

void kn_cut_path_free(kn_cut_path *path)
{
    if (path == NULL) return;
    kn_free(path->sorted);
    kn_free(path->start);
    kn_free(path->group_of);
    kn_free(path->group_at);
    kn_free(path->member);
    kn_free(path->pair_of);
    kn_free(path->class_of_pair);
    kn_free(path->group_lanes);
    kn_free(path->others);
    kn_free(path->pair_group);
    kn_free(path->pair_lanes);
    kn_free(path->pair_start);
    kn_free(path->marked);
    kn_free(path->grows);
    kn_free(path->step);
    kn_free(path->best);
    kn_free(path->from);
    kn_free(path->suppressed);
    kn_free(path->cost);
    kn_free(path->before);
    kn_free(path);
}

/* Classes that differ in column q alone are a group. */
static void find_groups(kn_cut_path *path, kn_cut_moves *m, uint32_t q)
{
    const kn_cuts *cuts = path->cuts;
    path->n_groups = kn_cut_moves_groups(m, path->group_of, q);
    for (uint32_t c = 0; c < m->n_classes; c++) path->member[path->group_of[c]] = c;
    if (!cuts->bound->by_cell) return;
    for (uint32_t c = 0; c < m->n_classes; c++) {
        const uint16_t *first = m->keys + (size_t)c * cuts->n_keys;
        double row = 0;
        for (uint32_t other = 0; other < cuts->n_columns; other++)
            if (other != q)
                row += kn_cuts_price(cuts, other, first[other], m->part_last[m->offset[other] + first[other]]);
        path->others[path->group_of[c]] = row;
    }
}

/* Marks where a column of more positions may be cut: where it is, near there, and anywhere. */
static void mark_steps(kn_cut_path *path, const uint8_t *in, uint32_t q, kn_rng *rng)
{
    const kn_cut_column *column = &path->cuts->columns[q];
    const uint32_t n = column->n_positions, half = path->most_steps / 2;
    uint32_t n_cuts = 0, n_marked = 0, *cut = path->from;
    memset(path->marked, 0, n);
    for (uint32_t p = 1; p < n; p++) n_cuts += in[column->letter_at[p]];
    path->has_now = n_cuts <= half;
    for (uint32_t p = 1; p < n && n_marked < half; p++)
        if (in[column->letter_at[p]] && kn_rng_below(rng, n_cuts) < half) path->marked[cut[n_marked++] = p] = true;
    for (uint32_t i = n_marked; i < path->most_steps; i++) {
        uint32_t p = 1 + kn_rng_below(rng, n - 1), reach = 4u << kn_rng_below(rng, 6);
        if (n_marked > 0 && i % 2 == 0) p = cut[kn_rng_below(rng, n_marked)] + kn_rng_below(rng, reach) - reach / 2;
        if (p > 0 && p < n) path->marked[p] = true;
    }
}

/* Where the column may be cut. */
static void find_steps(kn_cut_path *path, const uint8_t *in, uint32_t q, kn_rng *rng)
{
    const uint32_t n = path->cuts->columns[q].n_positions;
    const bool all = n <= path->most_steps;
    path->has_now = true;
    if (!all) mark_steps(path, in, q, rng);
    path->n_steps = 0;
    for (uint32_t p = 0; p < n; p++)
        if (all || p == 0 || path->marked[p]) path->step[path->n_steps++] = p;
    path->step[path->n_steps] = n;
}

/* Rows by step and group. */
static void find_pairs(kn_cut_path *path, const kn_cut_moves *m, uint32_t q)
{
    const uint32_t n_lanes = path->cuts->n_lanes;
    const uint32_t *sorted = path->sorted + (size_t)q * path->items->n, *start = path->start + m->offset[q] + q;
    path->n_pairs = 0;
    memset(path->group_at, 0xFF, path->n_groups * sizeof *path->group_at);
    for (uint32_t s = 0; s < path->n_steps; s++) {
        path->pair_start[s] = path->n_pairs;
        for (uint32_t i = start[path->step[s]]; i < start[path->step[s + 1]]; i++) {
            const uint32_t group = path->group_of[m->class_of[sorted[i]]];
            const double *lanes = path->items->lanes + (size_t)sorted[i] * n_lanes;
            uint32_t pair = path->group_at[group];
            const bool is_new = pair == KN_NONE || pair < path->pair_start[s];
            if (is_new) pair = path->group_at[group] = path->n_pairs++;
            double *sum = path->pair_lanes + (size_t)pair * n_lanes;
            path->pair_of[sorted[i]] = pair;
            path->pair_group[pair] = group;
            if (is_new) memcpy(sum, lanes, n_lanes * sizeof *sum);
            else kn_add_lanes(sum, lanes, n_lanes);
        }
    }
    path->pair_start[path->n_steps] = path->n_pairs;
}

static void look_at_column(kn_cut_path *path, kn_cut_moves *moves, const uint8_t *in, uint32_t q, kn_rng *rng)
{
    find_steps(path, in, q, rng);
    find_groups(path, moves, q);
    find_pairs(path, moves, q);
    moves->work += 2 * (uint64_t)path->items->n;
}

/* Of the part at hand: what its classes cost, less, under cell measures, what its rows pay in this column. */
typedef struct part_cost {
    double cost, rows, suppressed;
} part_cost;

static inline void add_group(part_cost *part, const kn_cut_path *path, uint32_t group, double sign)
{
    const kn_cuts *cuts = path->cuts;
    const double *lanes = path->group_lanes + (size_t)group * cuts->n_lanes, rows = lanes[KN_LANE_ROWS];
    if (rows == 0) return;
    if (!kn_cuts_hold(cuts, lanes)) {
        part->suppressed += sign * rows;
    } else if (cuts->bound->by_cell) {
        part->cost += sign * rows * path->others[group];
        part->rows += sign * rows;
    } else {
        part->cost += sign * cuts->bound->price(cuts, lanes, NULL, NULL);
    }
}

/* A path of this value may end the paths that end before step `s`: true when it is taken. */
static bool draw_part(kn_cut_path *path, uint32_t s, double value, const way *by)
{
    const double others = path->best[s], apart = fabs(value - others) / by->temperature;
    const bool taken = kn_rng_unit(by->rng) * (1 + exp((value - others) / by->temperature)) < 1;
    path->best[s] = isinf(others) ? value : fmin(value, others) - by->temperature * log1p(exp(-apart));
    return taken;
}

/* Adds the rows of a step to the part at hand. */
static void add_step(part_cost *part, kn_cut_path *path, uint32_t s)
{
    const uint32_t n_lanes = path->cuts->n_lanes;
    for (uint32_t pair = path->pair_start[s]; pair < path->pair_start[s + 1]; pair++) {
        const uint32_t group = path->pair_group[pair];
        add_group(part, path, group, -1);
        kn_add_lanes(path->group_lanes + (size_t)group * n_lanes, path->pair_lanes + (size_t)pair * n_lanes, n_lanes);
        add_group(part, path, group, 1);
    }
}

/* Paths over the parts that begin at step `first`; returns the step that none of them reaches. */
static uint32_t extend(kn_cut_path *path, uint32_t q, uint32_t first, const way *by)
{
    const kn_cuts *cuts = path->cuts;
    part_cost part = {0};
    uint32_t last = first;
    memset(path->group_lanes, 0, (size_t)path->n_groups * cuts->n_lanes * sizeof *path->group_lanes);
    for (; last < path->n_steps; last++) {
        add_step(&part, path, last);
        double cost = part.cost;
        if (cuts->bound->by_cell)
            cost += part.rows * kn_cuts_price(cuts, q, path->step[first], path->step[last + 1] - 1);
        if (path->best[first] + cost > by->most) return last + 1;
        cost += cuts->bound->suppressed(cuts, part.suppressed);
        const double value = path->best[first] + cost + by->dearer * part.suppressed;
        if (by->rng != NULL) {
            if (draw_part(path, last + 1, value, by)) path->from[last + 1] = first;
            continue;
        }
        if (!(value < path->best[last + 1])) continue;
        path->best[last + 1] = value;
        path->from[last + 1] = first;
        path->cost[last + 1] = path->cost[first] + cost;
        path->suppressed[last + 1] = path->suppressed[first] + part.suppressed;
    }
    return last;
}

static void find_paths(kn_cut_path *path, kn_cut_moves *moves, uint32_t q, const way *by)
{
    for (uint32_t s = 1; s <= path->n_steps; s++) path->best[s] = INFINITY;
    for (uint32_t s = 0; s < path->n_steps; s++) {
        if (isinf(path->best[s])) continue;
        const uint32_t end = extend(path, q, s, by);
        moves->work += path->pair_start[end] - path->pair_start[s] + WORK_PER_PART * (end - s) + path->n_groups / 8;
    }
}

/* What the cuts that are there now cost: nothing dearer is the best. INFINITY where that says nothing of longer parts.
 */
static double most_of(const kn_cut_path *path, const kn_cut_moves *moves, uint32_t q, double dearer)
{
    const double now = moves->now.cost + dearer * moves->now.n_suppressed;
    return path->has_now && path->grows[q] ? now + 1e-9 * fabs(now) : INFINITY;
}

/* The shortest path within the limit, or with next to the fewest suppressed rows where there is none. */
static void find_path(kn_cut_path *path, kn_cut_moves *moves, uint32_t q)
{
    const kn_cuts *cuts = path->cuts;
    const double row = fmax(cuts->bound->suppressed(cuts, 1), 1), most = row * cuts->n_rows;
    for (double dearer = cuts->max_suppressed > 0 ? 0 : most;; dearer = fmin(dearer > 0 ? 4 * dearer : row, most)) {
        find_paths(path, moves, q, &(way){.dearer = dearer, .most = most_of(path, moves, q, dearer)});
        if (path->suppressed[path->n_steps] <= (double)cuts->max_suppressed || dearer == most) return;
    }
}

/* Classes under the letters of `in`, which differ from those looked at in column q alone: of pairs, which are fewer
 * than items. */
static void join_pairs(kn_cut_path *path, kn_cut_moves *m, const uint8_t *in, uint32_t q, uint32_t *n_classes)
{
    const kn_cuts *cuts = path->cuts;
    const uint32_t n_keys = cuts->n_keys, n_lanes = cuts->n_lanes, *letter_at = cuts->columns[q].letter_at;
    uint32_t first = 0, first_class = 0;
    memset(path->group_at, 0xFF, path->n_groups * sizeof *path->group_at);
    for (uint32_t s = 0; s < path->n_steps; s++) {
        if (s > 0 && in[letter_at[path->step[s]]]) first = path->step[s], first_class = *n_classes;
        for (uint32_t pair = path->pair_start[s]; pair < path->pair_start[s + 1]; pair++) {
            const uint32_t group = path->pair_group[pair];
            uint32_t c = path->group_at[group];
            const bool is_new = c == KN_NONE || c < first_class;
            if (is_new) c = path->group_at[group] = (*n_classes)++;
            uint16_t *key = m->merged_keys + (size_t)c * n_keys;
            double *sum = m->merged_lanes + (size_t)c * n_lanes, *lanes = path->pair_lanes + (size_t)pair * n_lanes;
            path->class_of_pair[pair] = c;
            if (!is_new) {
                kn_add_lanes(sum, lanes, n_lanes);
                continue;
            }
            memcpy(sum, lanes, n_lanes * sizeof *sum);
            memcpy(key, m->keys + (size_t)path->member[group] * n_keys, n_keys * sizeof *key);
            key[q] = (uint16_t)first;
        }
    }
}

/* Puts the path's letters in place of those of column q: what kn_cut_moves_look would find, from the pairs. */
static void take_path(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q)
{
    const kn_cut_column *column = &path->cuts->columns[q];
    uint32_t n_classes = 0;
    memcpy(path->before, in, path->cuts->n_letters);
    for (uint32_t p = 1; p < column->n_positions; p++) in[column->letter_at[p]] = 0;
    for (uint32_t s = path->from[path->n_steps]; s > 0; s = path->from[s]) in[column->letter_at[path->step[s]]] = 1;
    if (memcmp(path->before, in, path->cuts->n_letters) == 0) return;
    join_pairs(path, moves, in, q, &n_classes);
    kn_cut_moves_take(moves, in, path->pair_of, path->class_of_pair, n_classes);
}

void kn_cut_column_draw(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q, double temperature,
                        double dearer, kn_rng *rng)
{
    assert(path->cuts->columns[q].form != KN_PART_NODE);
    look_at_column(path, moves, in, q, rng);
    find_paths(path, moves, q, &(way){dearer, most_of(path, moves, q, dearer) + 40 * temperature, temperature, rng});
    take_path(path, moves, in, q);
}

bool kn_cut_column_best(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q, kn_rng *rng)
{
    const kn_cuts *cuts = path->cuts;
    const kn_cut_column *column = &cuts->columns[q];
    const double now = kn_cut_value(cuts, &moves->now);
    if (column->form == KN_PART_NODE || column->n_positions < 2) return false;
    look_at_column(path, moves, in, q, rng);
    find_path(path, moves, q);
    const uint32_t n = path->n_steps;
    const kn_cut_cost found = {path->cost[n], path->suppressed[n], path->suppressed[n] < cuts->n_rows};
    if (!(kn_cut_value(cuts, &found) < now - 1e-12 * fabs(now))) return false;
    take_path(path, moves, in, q);
    if (kn_cut_value(cuts, &moves->now) < now) return true;
    memcpy(in, path->before, cuts->n_letters); /* persons were counted twice */
    kn_cut_moves_look(moves, in, false);
    return false;
}
