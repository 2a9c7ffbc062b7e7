/* All neighbours of a set of letters at once.
 *
 * Items are grouped into the classes of the set. One letter more: every class that is released is looked at once per
 * column, running sums over its positions give both sides of every cut. One letter less: the classes on both sides of
 * it are grouped again. Exact, for every measure: a cell measure also prices the classes that the letter does not
 * split.
 *
 * Cost: items times columns, plus classes times letters in force. */
#include "search/cuts/cut_moves.h"

#include "base/hash.h"
#include "search/cuts/cut_kernel.h"

#include <math.h>
#include <string.h>

kn_status kn_cut_moves_new(kn_cut_moves **out, const kn_cuts *cuts, const kn_items *items, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_moves *m = NULL;
    *out = NULL;
    KN_NEW(m, 1);
    m->cuts = cuts;
    m->items = items;
    KN_NEW(m->flipped, cuts->n_letters);
    KN_NEW(m->offset, cuts->n_columns + (size_t)1);
    for (uint32_t q = 0; q < cuts->n_columns; q++) m->offset[q + 1] = m->offset[q] + cuts->columns[q].n_positions;
    m->n_positions = m->offset[cuts->n_columns];
    KN_NEW(m->part_first, m->n_positions);
    KN_NEW(m->part_last, m->n_positions);
    KN_NEW(m->sums, (size_t)m->n_positions * cuts->n_lanes);
    KN_NEW(m->parts, (m->n_positions + (size_t)1) * cuts->n_lanes);
    KN_NEW(m->keys, (items->n + (size_t)1) * cuts->n_keys);
    KN_NEW(m->merged_keys, (items->n + (size_t)1) * cuts->n_keys);
    KN_NEW(m->lanes, (items->n + (size_t)1) * cuts->n_lanes);
    KN_NEW(m->merged_lanes, (items->n + (size_t)1) * cuts->n_lanes);
    KN_NEW(m->class_of, items->n);
    KN_NEW(m->members, items->n);
    KN_NEW(m->start, items->n + (size_t)2);
    m->n_slots = 16;
    while (m->n_slots < 2 * (uint64_t)items->n) m->n_slots *= 2;
    KN_NEW(m->slots, m->n_slots);
    KN_NEW(m->stamps, m->n_slots);
    KN_NEW(m->barred, cuts->n_letters);
    if (cuts->tuples->n_repeats > 0) KN_NEW(m->last_person, items->n);
    *out = m;
    m = NULL;
done:
    kn_cut_moves_free(m);
    return status;
}

void kn_cut_moves_free(kn_cut_moves *m)
{
    if (m == NULL) return;
    kn_free(m->flipped);
    kn_free(m->offset);
    kn_free(m->part_first);
    kn_free(m->part_last);
    kn_free(m->sums);
    kn_free(m->parts);
    kn_free(m->keys);
    kn_free(m->merged_keys);
    kn_free(m->lanes);
    kn_free(m->merged_lanes);
    kn_free(m->class_of);
    kn_free(m->members);
    kn_free(m->start);
    kn_free(m->slots);
    kn_free(m->stamps);
    kn_free(m->barred);
    kn_free(m->last_person);
    kn_free(m);
}

double kn_cut_value(const kn_cuts *cuts, const kn_cut_cost *cost)
{
    const double over = cost->n_suppressed - (double)cuts->max_suppressed;
    double price = 10 * cuts->bound->suppressed(cuts, 1);
    if (price < 10) price = 10;
    if (over <= 0 && cost->has_class) return cost->cost;
    return cost->cost + (cuts->n_rows + (over > 0 ? over : 0)) * price;
}

bool kn_cut_may_flip(const kn_cuts *cuts, const uint8_t *in, uint32_t letter)
{
    const uint32_t parent = cuts->letters[letter].parent;
    if (!in[letter]) return parent == KN_NONE || in[parent];
    for (uint32_t other = letter + 1; cuts->has_parents && other < cuts->n_letters; other++)
        if (in[other] && cuts->letters[other].parent == letter) return false;
    return true;
}

void kn_cut_tidy(const kn_cuts *cuts, uint8_t *in)
{
    for (uint32_t letter = 0; cuts->has_parents && letter < cuts->n_letters; letter++)
        if (cuts->letters[letter].parent != KN_NONE && !in[cuts->letters[letter].parent]) in[letter] = 0;
}

/* KN_NONE: none gains. */
static uint32_t best_flip(const kn_cut_moves *m, const uint8_t *in, unsigned kinds)
{
    const kn_cuts *cuts = m->cuts;
    uint32_t best = KN_NONE;
    double least = kn_cut_value(cuts, &m->now);
    least -= 1e-12 * fabs(least);
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        if ((kinds & (in[letter] ? KN_FLIP_OUT : KN_FLIP_IN)) == 0 || m->barred[letter]) continue;
        if (isinf(m->flipped[letter].cost)) continue;
        const double value = kn_cut_value(cuts, &m->flipped[letter]);
        if (value < least) least = value, best = letter;
    }
    return best;
}

bool kn_cut_flip(kn_cut_moves *m, uint8_t *in, unsigned kinds, uint64_t *n_looks)
{
    const kn_cuts *cuts = m->cuts;
    const double before = kn_cut_value(cuts, &m->now);
    memset(m->barred, 0, cuts->n_letters);
    for (uint32_t letter; (letter = best_flip(m, in, kinds)) != KN_NONE;) {
        in[letter] ^= 1;
        kn_cut_moves_look(m, in, true);
        ++*n_looks;
        if (cuts->tuples->n_repeats == 0 || kn_cut_value(cuts, &m->now) < before) return true;
        in[letter] ^= 1; /* it promised too much */
        kn_cut_moves_look(m, in, true);
        ++*n_looks;
        m->barred[letter] = 1;
    }
    return false;
}

uint64_t kn_cut_descend(kn_cut_moves *m, uint8_t *in, uint32_t most_flips, kn_ticker *ticker)
{
    uint64_t n_looks = 1;
    kn_cut_moves_look(m, in, true);
    for (uint32_t n = 0; n < most_flips && !kn_ticker_out_of_time(ticker); n++)
        if (!kn_cut_flip(m, in, KN_FLIP_OUT | KN_FLIP_IN, &n_looks)) break;
    return n_looks;
}

/* --- Grouping -------------------------------------------------------------------------------------------------- */

/* The place of the group with m->...keys[*n], found or made. */
static uint32_t find_group(kn_cut_moves *m, uint16_t *keys, uint32_t *n, uint32_t n_slots)
{
    const uint32_t n_keys = m->cuts->n_keys;
    const uint16_t *key = keys + (size_t)*n * n_keys;
    uint64_t hash = 0, word;
    for (uint32_t w = 0; w < n_keys / 4; w++) {
        memcpy(&word, key + 4 * w, sizeof word);
        hash = kn_hash_combine(hash, word);
    }
    uint32_t slot = (uint32_t)hash & (n_slots - 1);
    for (; m->stamps[slot] == m->stamp; slot = (slot + 1) & (n_slots - 1)) {
        const uint16_t *other = keys + (size_t)m->slots[slot] * n_keys;
        uint64_t one, two, differ = 0;
        for (uint32_t q = 0; q < n_keys; q += 4) { /* whole words: faster than memcmp for so few */
            memcpy(&one, key + q, sizeof one);
            memcpy(&two, other + q, sizeof two);
            differ |= one ^ two;
        }
        if (differ == 0) return m->slots[slot];
    }
    m->stamps[slot] = m->stamp;
    return m->slots[slot] = (*n)++;
}

static void next_stamp(kn_cut_moves *m)
{
    if (++m->stamp != 0) return;
    memset(m->stamps, 0, m->n_slots * sizeof *m->stamps);
    m->stamp = 1;
}

static void find_parts(kn_cut_moves *m, const uint8_t *in)
{
    for (uint32_t q = 0; q < m->cuts->n_columns; q++) {
        const kn_cut_column *column = &m->cuts->columns[q];
        uint16_t *first = m->part_first + m->offset[q], *last = m->part_last + m->offset[q];
        for (uint32_t p = 0; p < column->n_positions; p++)
            first[p] = p > 0 && !in[column->letter_at[p]] ? first[p - 1] : (uint16_t)p;
        for (uint32_t p = column->n_positions; p-- > 0;)
            last[p] = p + 1 < column->n_positions && first[p + 1] == first[p] ? last[p + 1] : (uint16_t)p;
    }
}

static void group_items(kn_cut_moves *m)
{
    const kn_cuts *cuts = m->cuts;
    const uint32_t n_keys = cuts->n_keys, n_lanes = cuts->n_lanes;
    next_stamp(m);
    m->n_classes = 0;
    for (uint32_t i = 0; i < m->items->n; i++) {
        const uint16_t *item = m->items->keys + (size_t)i * n_keys;
        const double *lanes = m->items->lanes + (size_t)i * n_lanes;
        uint16_t *key = m->keys + (size_t)m->n_classes * n_keys;
        const uint32_t n_before = m->n_classes;
        for (uint32_t q = 0; q < cuts->n_columns; q++) key[q] = m->part_first[m->offset[q] + item[q]];
        uint32_t c = m->class_of[i] = find_group(m, m->keys, &m->n_classes, m->n_slots);
        double *sum = m->lanes + (size_t)c * n_lanes;
        if (m->n_classes > n_before) memcpy(sum, lanes, n_lanes * sizeof *sum);
        else kn_add_lanes(sum, lanes, n_lanes);
    }
}

/* Who has several items of a class was counted in each of them. Items are tuples here, see kn_cut_merged_items. */
static void count_persons_once(kn_cut_moves *m)
{
    const kn_tuples *t = m->cuts->tuples;
    if (t->n_repeats == 0) return;
    memset(m->last_person, 0xFF, m->n_classes * sizeof *m->last_person);
    for (uint32_t i = 0; i < t->n_repeats; i++) {
        const uint32_t c = m->class_of[t->repeats[i].tuple], person = t->repeats[i].person;
        if (m->last_person[c] == person) m->lanes[(size_t)c * m->cuts->n_lanes + m->cuts->person_lane]--;
        m->last_person[c] = person;
    }
}

static void list_members(kn_cut_moves *m)
{
    memset(m->start, 0, (m->n_classes + (size_t)2) * sizeof *m->start);
    for (uint32_t i = 0; i < m->items->n; i++) m->start[m->class_of[i] + 2]++;
    for (uint32_t c = 0; c < m->n_classes; c++) m->start[c + 2] += m->start[c + 1];
    for (uint32_t i = 0; i < m->items->n; i++) m->members[m->start[m->class_of[i] + 1]++] = i;
}

/* Adds a class to a cost, or takes it out (sign -1). */
static void add_class(kn_cut_cost *to, const kn_cut_moves *m, const double *lanes, const uint16_t *first,
                      const uint16_t *last, double sign)
{
    const kn_cuts *cuts = m->cuts;
    if (kn_cuts_hold(cuts, lanes)) {
        to->cost += sign * cuts->bound->price(cuts, lanes, first, last);
        to->has_class = true;
    } else {
        to->cost += sign * cuts->bound->suppressed(cuts, lanes[KN_LANE_ROWS]);
        to->n_suppressed += sign * lanes[KN_LANE_ROWS];
    }
}

/* The last positions of the parts that begin at `first`. */
static void find_lasts(uint16_t *last, const kn_cut_moves *m, const uint16_t *first)
{
    for (uint32_t q = 0; q < m->cuts->n_columns; q++) last[q] = m->part_last[m->offset[q] + first[q]];
}

/* --- One letter more ------------------------------------------------------------------------------------------- */

/* Running sums of a class over the positions of its part in column q. */
static void sum_column(kn_cut_moves *m, uint32_t c, uint32_t q, uint32_t first, uint32_t last)
{
    const uint32_t n_lanes = m->cuts->n_lanes;
    memset(m->sums + (size_t)first * n_lanes, 0, (last - first + (size_t)1) * n_lanes * sizeof *m->sums);
    for (uint32_t i = m->start[c]; i < m->start[c + 1]; i++) {
        const uint32_t item = m->members[i];
        double *sum = m->sums + (size_t)m->items->keys[(size_t)item * m->cuts->n_keys + q] * n_lanes;
        const double *lanes = m->items->lanes + (size_t)item * n_lanes;
        kn_add_lanes(sum, lanes, n_lanes);
    }
    for (uint32_t p = first + 1; p <= last; p++)
        for (uint32_t lane = 0; lane < n_lanes; lane++)
            m->sums[(size_t)p * n_lanes + lane] += m->sums[((size_t)p - 1) * n_lanes + lane];
}

/* What one class becomes when a letter splits its part first..last of column q. */
static void add_split(kn_cut_moves *m, uint32_t letter, const uint16_t *firsts, const uint16_t *lasts)
{
    const kn_cuts *cuts = m->cuts;
    const kn_letter *split = &cuts->letters[letter];
    const uint32_t n_lanes = cuts->n_lanes, q = split->q;
    uint16_t first[KN_MOST_COLUMNS], last[KN_MOST_COLUMNS];
    memcpy(first, firsts, cuts->n_columns * sizeof *first);
    memcpy(last, lasts, cuts->n_columns * sizeof *last);
    for (uint32_t i = 0; i <= split->n_cuts; i++) {
        first[q] = i > 0 ? split->cuts[i - 1] : firsts[q];
        last[q] = i < split->n_cuts ? (uint16_t)(split->cuts[i] - 1) : lasts[q];
        for (uint32_t lane = 0; lane < n_lanes; lane++)
            m->parts[lane] = m->sums[(size_t)last[q] * n_lanes + lane] -
                             (first[q] > firsts[q] ? m->sums[((size_t)first[q] - 1) * n_lanes + lane] : 0);
        if (m->parts[KN_LANE_ROWS] > 0) add_class(&m->flipped[letter], m, m->parts, first, last, 1);
    }
}

static void look_at_more(kn_cut_moves *m, const uint8_t *in)
{
    const kn_cuts *cuts = m->cuts;
    uint16_t last[KN_MOST_COLUMNS];
    for (uint32_t c = 0; c < m->n_classes; c++) {
        const uint16_t *first = m->keys + (size_t)c * cuts->n_keys;
        const double *lanes = m->lanes + (size_t)c * cuts->n_lanes;
        if (cuts->hereditary && !kn_cuts_hold(cuts, lanes)) continue; /* it stays suppressed */
        if (m->start[c + 1] - m->start[c] == 1 && !cuts->bound->by_cell) continue;
        find_lasts(last, m, first);
        for (uint32_t q = 0; q < cuts->n_columns; q++) {
            if (first[q] == last[q]) continue;
            sum_column(m, c, q, first[q], last[q]);
            for (uint32_t p = first[q] + 1u; p <= last[q]; p++) {
                const uint32_t letter = cuts->columns[q].letter_at[p];
                if (!kn_cut_may_flip(cuts, in, letter) || p != cuts->letters[letter].cuts[0]) continue;
                add_class(&m->flipped[letter], m, lanes, first, last, -1);
                add_split(m, letter, first, last);
            }
        }
    }
}

/* --- One letter less ------------------------------------------------------------------------------------------- */

/* The part that the parts of a letter in force were before it, and are again without it. */
static void whole_part(const kn_cut_moves *m, const kn_letter *letter, uint16_t *first, uint16_t *last)
{
    const uint32_t at = m->offset[letter->q];
    *first = m->part_first[at + letter->cuts[0] - 1];
    *last = m->part_last[at + letter->cuts[letter->n_cuts - 1]];
}

static void look_at_less(kn_cut_moves *m, uint32_t letter)
{
    const kn_cuts *cuts = m->cuts;
    const kn_letter *gone = &cuts->letters[letter];
    const uint32_t n_keys = cuts->n_keys, n_lanes = cuts->n_lanes, q = gone->q;
    uint16_t whole_first, whole_last, last[KN_MOST_COLUMNS];
    uint32_t n = 0;
    whole_part(m, gone, &whole_first, &whole_last);
    next_stamp(m);
    for (uint32_t c = 0; c < m->n_classes; c++) {
        const uint16_t *first = m->keys + (size_t)c * n_keys;
        const double *lanes = m->lanes + (size_t)c * n_lanes;
        if (first[q] < whole_first || first[q] > whole_last) continue;
        uint16_t *key = m->merged_keys + (size_t)n * n_keys;
        const uint32_t n_before = n;
        memcpy(key, first, n_keys * sizeof *key);
        key[q] = whole_first;
        find_lasts(last, m, first);
        add_class(&m->flipped[letter], m, lanes, first, last, -1);
        double *sum = m->merged_lanes + (size_t)find_group(m, m->merged_keys, &n, m->n_slots) * n_lanes;
        if (n > n_before) memcpy(sum, lanes, n_lanes * sizeof *sum);
        else kn_add_lanes(sum, lanes, n_lanes);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t *first = m->merged_keys + (size_t)i * n_keys;
        find_lasts(last, m, first);
        last[q] = whole_last;
        add_class(&m->flipped[letter], m, m->merged_lanes + (size_t)i * n_lanes, first, last, 1);
    }
}

uint32_t kn_cut_moves_groups(kn_cut_moves *m, uint32_t *group_of, uint32_t q)
{
    const uint32_t n_keys = m->cuts->n_keys;
    uint32_t n = 0;
    next_stamp(m);
    for (uint32_t c = 0; c < m->n_classes; c++) {
        uint16_t *key = m->merged_keys + (size_t)n * n_keys;
        memcpy(key, m->keys + (size_t)c * n_keys, n_keys * sizeof *key);
        key[q] = 0;
        group_of[c] = find_group(m, m->merged_keys, &n, m->n_slots);
    }
    return n;
}

/* Fills `now` from the classes. */
static void price_classes(kn_cut_moves *m)
{
    const kn_cuts *cuts = m->cuts;
    uint16_t last[KN_MOST_COLUMNS];
    count_persons_once(m);
    m->now = (kn_cut_cost){0};
    for (uint32_t c = 0; c < m->n_classes; c++) {
        const uint16_t *first = m->keys + (size_t)c * cuts->n_keys;
        find_lasts(last, m, first);
        add_class(&m->now, m, m->lanes + (size_t)c * cuts->n_lanes, first, last, 1);
    }
}

void kn_cut_moves_look(kn_cut_moves *m, const uint8_t *in, bool all)
{
    const kn_cuts *cuts = m->cuts;
    find_parts(m, in);
    group_items(m);
    price_classes(m);
    m->work += (all ? 4 * cuts->n_columns : 4) * (uint64_t)m->items->n;
    if (!all) return;
    list_members(m);
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        m->flipped[letter] = m->now;
        if (!kn_cut_may_flip(cuts, in, letter)) m->flipped[letter].cost = INFINITY;
        else if (in[letter]) look_at_less(m, letter);
    }
    look_at_more(m, in);
}

void kn_cut_moves_take(kn_cut_moves *m, const uint8_t *in, const uint32_t *cell_of, const uint32_t *class_of_cell,
                       uint32_t n_classes)
{
    uint16_t *keys = m->keys;
    double *lanes = m->lanes;
    for (uint32_t i = 0; i < m->items->n; i++) m->class_of[i] = class_of_cell[cell_of[i]];
    m->keys = m->merged_keys;
    m->lanes = m->merged_lanes;
    m->merged_keys = keys;
    m->merged_lanes = lanes;
    m->n_classes = n_classes;
    m->work += m->items->n;
    find_parts(m, in);
    price_classes(m);
}
