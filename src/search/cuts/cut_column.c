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
 * Cost: positions times (items, merged by group and position), half of it; for the items a pass. */
#include "search/cuts/cut_column.h"

#include "search/cuts/cut_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct kn_cut_path {
    const kn_cuts *cuts;
    const kn_items *items;
    uint32_t *sorted;             /* [q * items + i]: items by position in column q ... */
    uint32_t *start;              /* [offset + q + position], one more than positions: ... and its first */
    uint32_t *group_of, n_groups; /* [class] */
    uint32_t *group_at;           /* [group]: the pair of the position at hand */
    double *group_lanes;          /* [group * n_lanes + lane]: of the part at hand */
    double *others;               /* [group]: what a row pays in the other columns; cell measures */
    uint32_t n_pairs, *pair_group, *pair_start; /* rows of a group at a position; [position]: its first pair */
    double *pair_lanes;
    double *best; /* [position], n_positions + 1: of the paths that end before it ... */
    uint32_t *from;
    double *suppressed, *cost; /* ... and what they suppress and cost */
    uint8_t *before;           /* [letter] */
};

kn_status kn_cut_path_new(kn_cut_path **out, const kn_cuts *cuts, const kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_path *path = NULL;
    uint32_t *next = NULL, most = 0;
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
    KN_NEW(path->group_of, items->n);
    KN_NEW(path->group_at, items->n);
    KN_NEW(path->group_lanes, (size_t)items->n * cuts->n_lanes);
    KN_NEW(path->others, items->n);
    KN_NEW(path->pair_group, items->n);
    KN_NEW(path->pair_lanes, (size_t)items->n * cuts->n_lanes);
    KN_NEW(path->pair_start, most + (size_t)1);
    KN_NEW(path->best, most + (size_t)1);
    KN_NEW(path->from, most + (size_t)1);
    KN_NEW(path->suppressed, most + (size_t)1);
    KN_NEW(path->cost, most + (size_t)1);
    KN_NEW(path->before, cuts->n_letters);
    KN_NEW(path->start, n_positions + cuts->n_columns);
    KN_NEW(next, most);
    for (uint32_t q = 0, at = 0; q < cuts->n_columns; at += cuts->columns[q++].n_positions + 1) {
        uint32_t *start = path->start + at;
        for (uint32_t i = 0; i < items->n; i++) start[items->keys[(size_t)i * cuts->n_keys + q] + 1]++;
        for (uint32_t p = 0; p < cuts->columns[q].n_positions; p++) start[p + 1] += start[p];
        memcpy(next, start, cuts->columns[q].n_positions * sizeof *next);
        for (uint32_t i = 0; i < items->n; i++)
            path->sorted[(size_t)q * items->n + next[items->keys[(size_t)i * cuts->n_keys + q]]++] = i;
    }
    *out = path;
    path = NULL;
done:
    kn_free(next);
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
    kn_free(path->group_lanes);
    kn_free(path->others);
    kn_free(path->pair_group);
    kn_free(path->pair_lanes);
    kn_free(path->pair_start);
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

/* Rows by position and group. */
static void find_pairs(kn_cut_path *path, const kn_cut_moves *m, uint32_t q)
{
    const uint32_t n_lanes = path->cuts->n_lanes, n_positions = path->cuts->columns[q].n_positions;
    const uint32_t *sorted = path->sorted + (size_t)q * path->items->n, *start = path->start + m->offset[q] + q;
    path->n_pairs = 0;
    memset(path->group_at, 0xFF, path->n_groups * sizeof *path->group_at);
    for (uint32_t p = 0; p < n_positions; p++) {
        path->pair_start[p] = path->n_pairs;
        for (uint32_t i = start[p]; i < start[p + 1]; i++) {
            const uint32_t group = path->group_of[m->class_of[sorted[i]]];
            const double *lanes = path->items->lanes + (size_t)sorted[i] * n_lanes;
            uint32_t pair = path->group_at[group];
            const bool is_new = pair == KN_NONE || pair < path->pair_start[p];
            if (is_new) pair = path->group_at[group] = path->n_pairs++;
            double *sum = path->pair_lanes + (size_t)pair * n_lanes;
            path->pair_group[pair] = group;
            if (is_new) memcpy(sum, lanes, n_lanes * sizeof *sum);
            else kn_add_lanes(sum, lanes, n_lanes);
        }
    }
    path->pair_start[n_positions] = path->n_pairs;
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

/* A path of this value may end the paths that end before `p`: true when it is taken. */
static bool draw_part(kn_cut_path *path, uint32_t p, double value, double temperature, kn_rng *rng)
{
    const double others = path->best[p], apart = fabs(value - others) / temperature;
    const bool taken = kn_rng_unit(rng) * (1 + exp((value - others) / temperature)) < 1;
    path->best[p] = isinf(others) ? value : fmin(value, others) - temperature * log1p(exp(-apart));
    return taken;
}

/* Paths over the parts that begin at `first`. `dearer`: what a suppressed row costs beyond its price; with `rng` they
 * are drawn. */
static void extend(kn_cut_path *path, uint32_t q, uint32_t first, double dearer, double temperature, kn_rng *rng)
{
    const kn_cuts *cuts = path->cuts;
    const uint32_t n_lanes = cuts->n_lanes;
    part_cost part = {0};
    memset(path->group_lanes, 0, (size_t)path->n_groups * n_lanes * sizeof *path->group_lanes);
    for (uint32_t last = first; last < cuts->columns[q].n_positions; last++) {
        for (uint32_t pair = path->pair_start[last]; pair < path->pair_start[last + 1]; pair++) {
            const uint32_t group = path->pair_group[pair];
            double *sum = path->group_lanes + (size_t)group * n_lanes;
            const double *lanes = path->pair_lanes + (size_t)pair * n_lanes;
            add_group(&part, path, group, -1);
            kn_add_lanes(sum, lanes, n_lanes);
            add_group(&part, path, group, 1);
        }
        double cost = part.cost + cuts->bound->suppressed(cuts, part.suppressed);
        if (cuts->bound->by_cell) cost += part.rows * kn_cuts_price(cuts, q, first, last);
        const double value = path->best[first] + cost + dearer * part.suppressed;
        if (rng != NULL) {
            if (draw_part(path, last + 1, value, temperature, rng)) path->from[last + 1] = first;
            continue;
        }
        if (!(value < path->best[last + 1])) continue;
        path->best[last + 1] = value;
        path->from[last + 1] = first;
        path->cost[last + 1] = path->cost[first] + cost;
        path->suppressed[last + 1] = path->suppressed[first] + part.suppressed;
    }
}

/* The shortest path within the limit, or with next to the fewest suppressed rows where there is none. */
static void find_path(kn_cut_path *path, uint32_t q)
{
    const kn_cuts *cuts = path->cuts;
    const uint32_t n = cuts->columns[q].n_positions;
    const double row = fmax(cuts->bound->suppressed(cuts, 1), 1), most = row * cuts->n_rows;
    for (double dearer = cuts->max_suppressed > 0 ? 0 : most;; dearer = fmin(dearer > 0 ? 4 * dearer : row, most)) {
        for (uint32_t p = 1; p <= n; p++) path->best[p] = INFINITY;
        for (uint32_t p = 0; p < n; p++) extend(path, q, p, dearer, 0, NULL);
        if (path->suppressed[n] <= (double)cuts->max_suppressed || dearer == most) return;
    }
}

static void put_path(const kn_cut_path *path, uint8_t *in, uint32_t q)
{
    const kn_cut_column *column = &path->cuts->columns[q];
    for (uint32_t p = 1; p < column->n_positions; p++) in[column->letter_at[p]] = 0;
    for (uint32_t p = path->from[column->n_positions]; p > 0; p = path->from[p]) in[column->letter_at[p]] = 1;
}

void kn_cut_column_draw(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q, double temperature,
                        double dearer, kn_rng *rng)
{
    const kn_cut_column *column = &path->cuts->columns[q];
    assert(column->form != KN_PART_NODE);
    find_groups(path, moves, q);
    find_pairs(path, moves, q);
    for (uint32_t p = 1; p <= column->n_positions; p++) path->best[p] = INFINITY;
    for (uint32_t p = 0; p < column->n_positions; p++) extend(path, q, p, dearer, temperature, rng);
    memcpy(path->before, in, path->cuts->n_letters);
    put_path(path, in, q);
    if (memcmp(path->before, in, path->cuts->n_letters) != 0) kn_cut_moves_look(moves, in, false);
}

bool kn_cut_column_best(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q)
{
    const kn_cuts *cuts = path->cuts;
    const kn_cut_column *column = &cuts->columns[q];
    const double now = kn_cut_value(cuts, &moves->now);
    if (column->form == KN_PART_NODE || column->n_positions < 2) return false;
    find_groups(path, moves, q);
    find_pairs(path, moves, q);
    find_path(path, q);
    const uint32_t n = column->n_positions;
    const kn_cut_cost found = {path->cost[n], path->suppressed[n], path->suppressed[n] < cuts->n_rows};
    if (!(kn_cut_value(cuts, &found) < now - 1e-12 * fabs(now))) return false;
    memcpy(path->before, in, cuts->n_letters);
    put_path(path, in, q);
    kn_cut_moves_look(moves, in, false);
    if (kn_cut_value(cuts, &moves->now) < now) return true;
    memcpy(in, path->before, cuts->n_letters); /* persons were counted twice */
    kn_cut_moves_look(moves, in, false);
    return false;
}
