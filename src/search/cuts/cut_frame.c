/* Frames: [BA] 6.2, incremental classes. Taking a letter copies the frame and splits the classes that the letter runs
 * through; dropping one merges items that only it told apart, so that later work is on as few items as the allset has
 * classes. Departs from the paper in copying instead of recovering from a stack: a copy of some hundred items is
 * cheaper than sorting them back, and the items below shrink independently.
 *
 * Cost: taking, one pass over the items; dropping, a hash insert per item of the classes that a dropped cut crosses. */
#include "search/cuts/cut_frame.h"

#include "base/hash.h"
#include "search/cuts/cut_exact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- Workers --------------------------------------------------------------------------------------------------- */

kn_status kn_cut_worker_new(kn_cut_worker **out, const kn_cuts *cuts, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_worker *worker = NULL;
    *out = NULL;
    KN_NEW(worker, 1);
    worker->cuts = cuts;
    KN_NEW(worker->frames, cuts->n_letters + 2);
    KN_NEW(worker->offset, cuts->n_columns + 1);
    for (uint32_t q = 0; q < cuts->n_columns; q++)
        worker->offset[q + 1] = worker->offset[q] + cuts->columns[q].n_positions;
    worker->n_positions = worker->offset[cuts->n_columns];
    KN_NEW_ALIGNED(worker->sums, (size_t)worker->n_positions * cuts->n_lanes);
    KN_NEW(worker->letters, cuts->n_letters);
    KN_NEW(worker->splits, cuts->n_letters);
    KN_NEW(worker->split_letter, cuts->n_letters);
    KN_NEW(worker->split_worth, cuts->n_letters);
    uint32_t most_cuts = 3; /* a single cut has two parts, and two neighbours */
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        if (cuts->letters[letter].n_cuts > most_cuts) most_cuts = cuts->letters[letter].n_cuts;
    KN_NEW(worker->part_lanes, (most_cuts + (size_t)1) * cuts->n_lanes);
    KN_NEW(worker->drop, cuts->n_letters);
    KN_NEW(worker->lookup, worker->n_positions);
    KN_NEW(worker->dropped, worker->n_positions);
    KN_NEW(worker->dropped_q, worker->n_positions);
    KN_NEW(worker->joined, worker->n_positions);
    KN_NEW(worker->least_price, worker->n_positions);
    KN_NEW(worker->floor_sums, worker->n_positions);
    KN_NEW(worker->item_floor, cuts->items.n);
    worker->n_slots = 16;
    while (worker->n_slots < 2 * (uint64_t)cuts->items.n) worker->n_slots *= 2;
    KN_NEW(worker->slots, worker->n_slots);
    KN_NEW_RAW(worker->merged.keys, (size_t)cuts->items.n * cuts->n_keys);
    KN_NEW_ALIGNED(worker->merged.lanes, (size_t)cuts->items.n * cuts->n_lanes);
    KN_TRY(kn_cut_exact_new(&worker->exact, cuts, err));
    *out = worker;
    worker = NULL;
done:
    kn_cut_worker_free(worker);
    return status;
}

static void frame_free(kn_cut_frame *frame)
{
    kn_free(frame->state);
    kn_free(frame->items.keys);
    kn_free(frame->items.lanes);
    kn_free(frame->begin);
    kn_free(frame->lanes);
    kn_free(frame->low);
    kn_free(frame->high);
    kn_free(frame->tail);
    kn_free(frame->tail_start);
    kn_free(frame->part_first);
    kn_free(frame->part_last);
    kn_free(frame->all_last);
}

void kn_cut_worker_free(kn_cut_worker *worker)
{
    if (worker == NULL) return;
    for (uint32_t depth = 0; depth < worker->n_frames; depth++) frame_free(&worker->frames[depth]);
    kn_free(worker->frames);
    kn_free(worker->offset);
    kn_free(worker->sums);
    kn_free(worker->letters);
    kn_free(worker->splits);
    kn_free(worker->split_letter);
    kn_free(worker->split_worth);
    kn_free(worker->part_lanes);
    kn_free(worker->drop);
    kn_free(worker->lookup);
    kn_free(worker->dropped);
    kn_free(worker->dropped_q);
    kn_free(worker->joined);
    kn_free(worker->least_price);
    kn_free(worker->floor_sums);
    kn_free(worker->item_floor);
    kn_free(worker->slots);
    kn_free(worker->merged.keys);
    kn_free(worker->merged.lanes);
    kn_cut_exact_free(worker->exact);
    kn_free(worker);
}

kn_status kn_cut_frame_at(kn_cut_frame **out, kn_cut_worker *worker, uint32_t depth, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = worker->cuts;
    assert(depth <= worker->n_frames && depth < cuts->n_letters + 2);
    kn_cut_frame *frame = *out = &worker->frames[depth];
    if (depth < worker->n_frames) return KN_OK;
    worker->n_frames++; /* freed with the worker, whatever of it there is */
    KN_NEW(frame->state, cuts->n_letters);
    KN_NEW(frame->tail, worker->n_positions);
    KN_NEW(frame->tail_start, cuts->n_columns + 1);
    KN_NEW(frame->part_first, worker->n_positions);
    KN_NEW(frame->part_last, worker->n_positions);
    KN_NEW(frame->all_last, worker->n_positions);
done:
    if (status != KN_OK) {
        frame_free(frame);
        *frame = (kn_cut_frame){0};
        worker->n_frames--;
    }
    return status;
}

static kn_status make_room(kn_cut_frame *frame, const kn_cuts *cuts, size_t n_items, size_t n_classes, kn_error *err)
{
    kn_status status = KN_OK;
    if (n_items > frame->items_capacity) {
        kn_free(frame->items.keys);
        kn_free(frame->items.lanes);
        frame->items.keys = NULL;
        frame->items.lanes = NULL;
        frame->items_capacity = 0;
        KN_NEW_RAW(frame->items.keys, n_items * cuts->n_keys);
        KN_NEW_ALIGNED(frame->items.lanes, n_items * cuts->n_lanes);
        frame->items_capacity = n_items;
    }
    if (n_classes > frame->classes_capacity) {
        kn_free(frame->begin);
        kn_free(frame->lanes);
        kn_free(frame->low);
        kn_free(frame->high);
        frame->begin = NULL;
        frame->lanes = NULL;
        frame->low = frame->high = NULL;
        frame->classes_capacity = 0;
        KN_NEW_RAW(frame->begin, n_classes + 1);
        KN_NEW_RAW(frame->lanes, n_classes * cuts->n_lanes);
        KN_NEW_RAW(frame->low, n_classes * cuts->n_keys);
        KN_NEW_RAW(frame->high, n_classes * cuts->n_keys);
        frame->classes_capacity = n_classes;
    }
done:
    return status;
}

/* --- Letters --------------------------------------------------------------------------------------------------- */

/* What follows from the states of the letters. */
static void look_at_letters(const kn_cut_worker *worker, kn_cut_frame *frame)
{
    const kn_cuts *cuts = worker->cuts;
    uint32_t n = 0;
    frame->n_tail = 0;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        frame->n_tail += frame->state[letter] == KN_LETTER_TAIL;
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        const kn_cut_column *column = &cuts->columns[q];
        uint16_t *part_first = frame->part_first + worker->offset[q], *part_last = frame->part_last + worker->offset[q];
        uint16_t *all_last = frame->all_last + worker->offset[q];
        uint32_t head = 0, all = 0;
        frame->tail_start[q] = n;
        for (uint32_t p = 0; p < column->n_positions; p++) {
            uint8_t state = p > 0 ? frame->state[column->letter_at[p]] : KN_LETTER_OUT;
            if (state == KN_LETTER_TAIL) frame->tail[n++] = (uint16_t)p;
            if (state == KN_LETTER_HEAD) head = p;
            if (state != KN_LETTER_OUT) all = p;
            part_first[p] = (uint16_t)head;
            part_last[head] = (uint16_t)p;
            all_last[all] = (uint16_t)p;
            worker->lookup[worker->offset[q] + p] = (uint16_t)all;
        }
        for (uint32_t p = 0; p < column->n_positions; p++) part_last[p] = part_last[part_first[p]];
    }
    frame->tail_start[cuts->n_columns] = n;
}

/* --- Items ----------------------------------------------------------------------------------------------------- */

static void copy_items(const kn_cuts *cuts, kn_items *to, uint32_t at, const kn_items *from, uint32_t begin, uint32_t n)
{
    memmove(to->keys + (size_t)at * cuts->n_keys, from->keys + (size_t)begin * cuts->n_keys,
            (size_t)n * cuts->n_keys * sizeof *to->keys);
    memmove(to->lanes + (size_t)at * cuts->n_lanes, from->lanes + (size_t)begin * cuts->n_lanes,
            (size_t)n * cuts->n_lanes * sizeof *to->lanes);
}

static inline void copy_item(const kn_cuts *cuts, kn_items *to, uint32_t at, const kn_items *from, uint32_t i)
{
    const uint16_t *key = from->keys + (size_t)i * cuts->n_keys;
    const double *lanes = from->lanes + (size_t)i * cuts->n_lanes;
    uint16_t *to_key = to->keys + (size_t)at * cuts->n_keys;
    double *to_lanes = to->lanes + (size_t)at * cuts->n_lanes;
    for (uint32_t q = 0; q < cuts->n_keys; q += 4) memcpy(to_key + q, key + q, 4 * sizeof *key);
    for (uint32_t lane = 0; lane < cuts->n_lanes; lane += 2) memcpy(to_lanes + lane, lanes + lane, 2 * sizeof *lanes);
}

/* Items begin..end of `from` at the places that worker->lookup gives them, equal ones as one, to worker->merged.
 * `moved`: the columns in which places may differ. With `kept`, items that cannot become equal to another, because no
 * place next to theirs is given up (worker->joined), go to `kept` instead, from begin on: returns their number. A key
 * is `n_words` words; the compiler knows the common numbers. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "positions are moved inside words");
static inline __attribute__((always_inline)) uint32_t merge_words(kn_cut_worker *worker, kn_items *kept,
                                                                  const kn_items *from, uint32_t begin, uint32_t end,
                                                                  const uint32_t *moved, uint32_t n_moved,
                                                                  uint32_t n_words)
{
    const kn_cuts *cuts = worker->cuts;
    const uint32_t n_keys = 4 * n_words, n_lanes = cuts->n_lanes, stamp = worker->stamp;
    kn_items *merged = &worker->merged;
    uint32_t n_kept = 0;
    int n_bits = 4;
    while (1u << n_bits < 2 * (end - begin)) n_bits++;
    const uint32_t mask = (1u << n_bits) - 1;
    merged->n = 0;
    for (uint32_t i = begin; i < end; i++) {
        const uint16_t *old = from->keys + (size_t)i * n_keys;
        const double *lanes = from->lanes + (size_t)i * n_lanes;
        uint64_t words[KN_MOST_COLUMNS / 4], hash = 0, other; /* in registers: narrow stores before wide loads stall */
        uint32_t joined = kept == NULL;
        memcpy(words, old, n_words * sizeof *words);
        for (uint32_t m = 0; m < n_moved; m++) {
            const uint32_t q = moved[m], at = worker->offset[q] + old[q];
            words[q / 4] ^= (uint64_t)(old[q] ^ worker->lookup[at]) << (16 * (q % 4));
            joined |= worker->joined[at];
        }
        if (!joined) {
            memcpy(kept->keys + (begin + (size_t)n_kept) * n_keys, words, n_words * sizeof *words);
            memmove(kept->lanes + (begin + (size_t)n_kept++) * n_lanes, lanes, n_lanes * sizeof *lanes);
            continue;
        }
        for (uint32_t w = 0; w < n_words; w++) {
            hash = kn_hash_combine(hash, words[w]);
        }
        uint32_t slot = (uint32_t)(hash >> (64 - n_bits)), there = merged->n;
        for (; worker->slots[slot].stamp == stamp; slot = (slot + 1) & mask) {
            const uint16_t *key = merged->keys + (size_t)worker->slots[slot].item * n_keys;
            uint64_t differ = 0;
            for (uint32_t w = 0; w < n_words; w++) {
                memcpy(&other, key + 4 * w, sizeof other);
                differ |= words[w] ^ other;
            }
            if (differ == 0) {
                there = worker->slots[slot].item;
                break;
            }
        }
        double *sum = merged->lanes + (size_t)there * n_lanes;
        if (there == merged->n) {
            worker->slots[slot] = (kn_cut_slot){stamp, merged->n++};
            memcpy(merged->keys + (size_t)there * n_keys, words, n_words * sizeof *words);
            memcpy(sum, lanes, n_lanes * sizeof *sum);
        } else {
            for (uint32_t lane = 0; lane < n_lanes; lane++) sum[lane] += lanes[lane];
        }
    }
    return n_kept;
}

/* Empties the hash table. */
static void next_stamp(kn_cut_worker *worker)
{
    if (++worker->stamp != 0) return;
    memset(worker->slots, 0, worker->n_slots * sizeof *worker->slots); /* once in four thousand million */
    worker->stamp = 1;
}

static uint32_t merge(kn_cut_worker *worker, kn_items *kept, const kn_items *from, uint32_t begin, uint32_t end,
                      const uint32_t *moved, uint32_t n_moved)
{
    const uint32_t n_words = worker->cuts->n_keys / 4;
    next_stamp(worker);
    switch (n_words) {
    case 1: return merge_words(worker, kept, from, begin, end, moved, n_moved, 1);
    case 2: return merge_words(worker, kept, from, begin, end, moved, n_moved, 2);
    case 3: return merge_words(worker, kept, from, begin, end, moved, n_moved, 3);
    default: return merge_words(worker, kept, from, begin, end, moved, n_moved, n_words);
    }
}

/* What the rows of the merged items cost at least, now that there are fewer; returns their sum. */
static double price_merged(kn_cut_worker *worker)
{
    const kn_cuts *cuts = worker->cuts;
    double sum = 0;
    for (uint32_t i = 0; i < worker->merged.n; i++) {
        double *lanes = worker->merged.lanes + (size_t)i * cuts->n_lanes;
        if (cuts->bound->item != NULL) lanes[KN_LANE_BOUND] = cuts->bound->item(cuts, lanes);
        sum += lanes[KN_LANE_BOUND];
    }
    return sum;
}

static void merge_all(kn_cut_worker *worker)
{
    uint32_t moved[KN_MOST_COLUMNS];
    for (uint32_t q = 0; q < worker->cuts->n_columns; q++) moved[q] = q;
    merge(worker, NULL, &worker->cuts->items, 0, worker->cuts->items.n, moved, worker->cuts->n_columns);
    price_merged(worker);
}

/* Sums and extent of a class from its items. */
static void look_at_class(const kn_cuts *cuts, kn_cut_frame *frame, uint32_t class, uint32_t end)
{
    const uint32_t n_keys = cuts->n_keys, n_lanes = cuts->n_lanes, begin = frame->begin[class];
    uint16_t *low = frame->low + (size_t) class * n_keys, *high = frame->high + (size_t) class * n_keys;
    double *lanes = frame->lanes + (size_t) class * n_lanes;
    memset(lanes, 0, n_lanes * sizeof *lanes);
    memset(low, 0xFF, n_keys * sizeof *low);
    memset(high, 0, n_keys * sizeof *high);
    for (uint32_t i = begin; i < end; i++) {
        const uint16_t *key = frame->items.keys + (size_t)i * n_keys;
        const double *item = frame->items.lanes + (size_t)i * n_lanes;
        for (uint32_t q = 0; q < n_keys; q++) {
            low[q] = key[q] < low[q] ? key[q] : low[q];
            high[q] = key[q] > high[q] ? key[q] : high[q];
        }
        for (uint32_t lane = 0; lane < n_lanes; lane++) lanes[lane] += item[lane];
    }
}

/* The items that were put behind the last class become a class, or fall out. */
static void close_class(const kn_cuts *cuts, kn_cut_frame *frame, uint32_t end)
{
    uint32_t class = frame->n_classes;
    if (end == frame->begin[class]) return;
    look_at_class(cuts, frame, class, end);
    const double *lanes = frame->lanes + (size_t) class * cuts->n_lanes;
    if (kn_cuts_hold(cuts, lanes)) {
        frame->begin[++frame->n_classes] = end;
    } else {
        frame->n_suppressed += lanes[KN_LANE_ROWS];
    }
}

static bool crosses(const kn_letter *letter, const uint16_t *low, const uint16_t *high)
{
    for (uint32_t i = 0; i < letter->n_cuts; i++)
        if (letter->cuts[i] > low[letter->q] && letter->cuts[i] <= high[letter->q]) return true;
    return false;
}

static void split_class(const kn_cuts *cuts, kn_cut_frame *to, const kn_cut_frame *from, uint32_t class,
                        const kn_letter *letter)
{
    const uint32_t n_keys = cuts->n_keys, q = letter->q;
    for (uint32_t part = 0; part <= letter->n_cuts; part++) {
        uint32_t first = part > 0 ? letter->cuts[part - 1] : 0;
        uint32_t past = part < letter->n_cuts ? letter->cuts[part] : UINT32_MAX;
        uint32_t end = to->begin[to->n_classes];
        if (past <= from->low[(size_t) class * n_keys + q] || first > from->high[(size_t) class * n_keys + q]) continue;
        for (uint32_t i = from->begin[class]; i < from->begin[class + 1]; i++) {
            uint32_t position = from->items.keys[(size_t)i * n_keys + q];
            if (position >= first && position < past) copy_item(cuts, &to->items, end++, &from->items, i);
        }
        close_class(cuts, to, end);
    }
}

kn_status kn_cut_frame_take(kn_cut_worker *worker, kn_cut_frame *child, const kn_cut_frame *frame, uint32_t letter,
                            kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = worker->cuts;
    const kn_letter *taken = &cuts->letters[letter];
    size_t n_classes = frame->n_classes + (size_t)frame->n_classes * taken->n_cuts + 1;
    KN_TRY(
        make_room(child, cuts, frame->items.n, n_classes < frame->items.n + 1 ? n_classes : frame->items.n + 1, err));
    memcpy(child->state, frame->state, cuts->n_letters);
    child->state[letter] = KN_LETTER_HEAD;
    child->n_suppressed = frame->n_suppressed;
    child->chosen = KN_NONE;
    child->n_classes = 0;
    child->begin[0] = 0;
    for (uint32_t c = 0; c < frame->n_classes; c++) {
        const uint16_t *low = frame->low + (size_t)c * cuts->n_keys, *high = frame->high + (size_t)c * cuts->n_keys;
        uint32_t n = frame->begin[c + 1] - frame->begin[c], to = child->n_classes;
        if (crosses(taken, low, high)) {
            split_class(cuts, child, frame, c, taken);
            continue;
        }
        copy_items(cuts, &child->items, child->begin[to], &frame->items, frame->begin[c], n);
        memcpy(child->low + (size_t)to * cuts->n_keys, low, cuts->n_keys * sizeof *low);
        memcpy(child->high + (size_t)to * cuts->n_keys, high, cuts->n_keys * sizeof *high);
        memcpy(child->lanes + (size_t)to * cuts->n_lanes, frame->lanes + (size_t)c * cuts->n_lanes,
               cuts->n_lanes * sizeof *child->lanes);
        child->begin[++child->n_classes] = child->begin[to] + n;
    }
    child->items.n = child->begin[child->n_classes];
    look_at_letters(worker, child);
done:
    return status;
}

/* Letters that need one that is gone are gone. */
static void drop_dependent(const kn_cuts *cuts, uint8_t *drop, uint8_t *state)
{
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        uint32_t parent = cuts->letters[letter].parent;
        if (parent != KN_NONE && state[parent] == KN_LETTER_OUT && state[letter] == KN_LETTER_TAIL) drop[letter] = 1;
        if (drop[letter]) state[letter] = KN_LETTER_OUT;
    }
}

/* Puts positions of keys where worker->lookup says. Prices of parts are looked up by their first positions. */
static void move_keys(const kn_cut_worker *worker, uint16_t *keys, size_t n)
{
    const kn_cuts *cuts = worker->cuts;
    for (size_t i = 0; i < n; i++, keys += cuts->n_keys)
        for (uint32_t q = 0; q < cuts->n_columns; q++) keys[q] = worker->lookup[worker->offset[q] + keys[q]];
}

/* The cuts of the letters that are dropped, and the positions of parts that they end in: worker->dropped, ->joined. */
static uint32_t list_drops(kn_cut_worker *worker)
{
    const kn_cuts *cuts = worker->cuts;
    uint32_t n = 0;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        for (uint32_t i = 0; worker->drop[letter] && i < cuts->letters[letter].n_cuts; i++) {
            worker->dropped_q[n] = (uint16_t)cuts->letters[letter].q;
            worker->dropped[n++] = cuts->letters[letter].cuts[i];
        }
    memset(worker->joined, 0, worker->n_positions * sizeof *worker->joined);
    for (uint32_t d = 0; d < n; d++) {
        const uint32_t at = worker->offset[worker->dropped_q[d]];
        worker->joined[at + worker->lookup[at + worker->dropped[d]]] = 1;
    }
    for (uint32_t q = 0; q < cuts->n_columns; q++)
        for (uint32_t at = worker->offset[q]; at < worker->offset[q + 1]; at++)
            worker->joined[at] = worker->joined[worker->offset[q] + worker->lookup[at]];
    return n;
}

/* Merges the items of a class that became equal; its items then begin at `to`. Returns where they end. */
static uint32_t drop_in_class(kn_cut_worker *worker, kn_cut_frame *frame, uint32_t c, uint32_t to, uint32_t n_dropped)
{
    const kn_cuts *cuts = worker->cuts;
    const uint32_t begin = frame->begin[c], n = frame->begin[c + 1] - begin;
    uint16_t *low = frame->low + (size_t)c * cuts->n_keys, *high = frame->high + (size_t)c * cuts->n_keys;
    uint32_t moved[KN_MOST_COLUMNS], n_moved = 0, end = to + n;
    for (uint32_t d = 0; d < n_dropped && n > 1; d++) {
        const uint32_t q = worker->dropped_q[d];
        if (worker->dropped[d] > low[q] && worker->dropped[d] <= high[q] && (n_moved == 0 || moved[n_moved - 1] != q))
            moved[n_moved++] = q;
    }
    if (to != begin) copy_items(cuts, &frame->items, to, &frame->items, begin, n);
    if (n_moved > 0) {
        double *bound = frame->lanes + (size_t)c * cuts->n_lanes + KN_LANE_BOUND, before = 0;
        const uint32_t n_kept = merge(worker, &frame->items, &frame->items, to, to + n, moved, n_moved);
        for (uint32_t i = 0; i < n_kept; i++)
            before += frame->items.lanes[(size_t)(to + i) * cuts->n_lanes + KN_LANE_BOUND];
        *bound = before + price_merged(worker);
        copy_items(cuts, &frame->items, to + n_kept, &worker->merged, 0, worker->merged.n);
        end = to + n_kept + worker->merged.n;
        for (uint32_t m = 0; m < n_moved; m++) {
            const uint16_t *lookup = worker->lookup + worker->offset[moved[m]];
            low[moved[m]] = lookup[low[moved[m]]];
            high[moved[m]] = lookup[high[moved[m]]];
        }
    }
    if (cuts->bound->by_cell) {
        move_keys(worker, frame->items.keys + (size_t)to * cuts->n_keys, end - to);
        move_keys(worker, low, 1);
        move_keys(worker, high, 1);
    }
    return end;
}

void kn_cut_frame_drop(kn_cut_worker *worker, kn_cut_frame *frame)
{
    const kn_cuts *cuts = worker->cuts;
    drop_dependent(cuts, worker->drop, frame->state);
    look_at_letters(worker, frame);
    uint32_t end = 0, n_dropped = list_drops(worker);
    for (uint32_t c = 0; c < frame->n_classes; c++) {
        const uint32_t to = end;
        end = drop_in_class(worker, frame, c, to, n_dropped);
        frame->begin[c] = to;
    }
    frame->begin[frame->n_classes] = frame->items.n = end;
    memset(worker->drop, 0, cuts->n_letters);
}

/* The classes of the head that the merged items are in: returns their number. first_of[class]: an item of it. */
static uint32_t find_classes(uint32_t *class_of, uint32_t *first_of, kn_cut_worker *worker, const kn_cut_frame *frame)
{
    const kn_cuts *cuts = worker->cuts;
    const uint32_t n_keys = cuts->n_keys;
    uint32_t n_classes = 0;
    next_stamp(worker);
    for (uint32_t i = 0; i < worker->merged.n; i++) {
        uint16_t part[KN_MOST_COLUMNS];
        const uint16_t *key = worker->merged.keys + (size_t)i * n_keys;
        uint64_t hash = 0;
        for (uint32_t q = 0; q < cuts->n_columns; q++) {
            part[q] = frame->part_first[worker->offset[q] + key[q]];
            hash = kn_hash_combine(hash, part[q]);
        }
        uint32_t slot = (uint32_t)hash & (worker->n_slots - 1);
        for (; worker->slots[slot].stamp == worker->stamp; slot = (slot + 1) & (worker->n_slots - 1)) {
            const uint16_t *other = worker->merged.keys + (size_t)first_of[worker->slots[slot].item] * n_keys;
            uint32_t q = 0;
            while (q < cuts->n_columns && frame->part_first[worker->offset[q] + other[q]] == part[q]) q++;
            if (q == cuts->n_columns) break;
        }
        if (worker->slots[slot].stamp != worker->stamp) {
            worker->slots[slot] = (kn_cut_slot){worker->stamp, n_classes};
            first_of[n_classes++] = i;
        }
        class_of[i] = worker->slots[slot].item;
    }
    return n_classes;
}

/* Sorts the merged items into the classes of the head; those that fail fall out. */
static kn_status group(kn_cut_worker *worker, kn_cut_frame *frame, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = worker->merged.n;
    uint32_t *class_of = NULL, *start = NULL, *order = NULL, *first_of = NULL;
    KN_NEW_RAW(class_of, n);
    KN_NEW_RAW(order, n);
    KN_NEW_RAW(first_of, n);
    KN_NEW(start, n + (size_t)2);
    const uint32_t n_classes = find_classes(class_of, first_of, worker, frame);
    for (uint32_t i = 0; i < n; i++) start[class_of[i] + 1]++;
    for (uint32_t c = 0; c < n_classes; c++) start[c + 1] += start[c];
    for (uint32_t i = n; i-- > 0;) order[--start[class_of[i] + 1]] = i; /* now start[c + 1] is where class c begins */
    for (uint32_t c = 0; c < n_classes; c++) {
        const uint32_t begin = start[c + 1], past = c + 1 < n_classes ? start[c + 2] : n;
        uint32_t end = frame->begin[frame->n_classes];
        for (uint32_t i = begin; i < past; i++)
            copy_item(worker->cuts, &frame->items, end++, &worker->merged, order[i]);
        close_class(worker->cuts, frame, end);
    }
    frame->items.n = frame->begin[frame->n_classes];
done:
    kn_free(class_of);
    kn_free(order);
    kn_free(first_of);
    kn_free(start);
    return status;
}

kn_status kn_cut_frame_start(kn_cut_worker *worker, kn_cut_frame *frame, const uint8_t *state, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = worker->cuts;
    memcpy(frame->state, state, cuts->n_letters);
    look_at_letters(worker, frame);
    merge_all(worker);
    KN_TRY(make_room(frame, cuts, worker->merged.n, worker->merged.n + (size_t)1, err));
    frame->n_suppressed = 0;
    frame->chosen = KN_NONE;
    frame->n_classes = 0;
    frame->begin[0] = 0;
    KN_TRY(group(worker, frame, err));
done:
    return status;
}

kn_status kn_cut_merged_items(kn_cut_worker *worker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_frame *frame;
    KN_TRY(kn_cut_frame_at(&frame, worker, 0, err));
    memset(frame->state, KN_LETTER_TAIL, worker->cuts->n_letters);
    look_at_letters(worker, frame);
    merge_all(worker);
    const kn_items *items = worker->cuts->tuples->n_repeats > 0 ? &worker->cuts->items : &worker->merged;
    KN_TRY(make_room(frame, worker->cuts, items->n, 1, err));
    copy_items(worker->cuts, &frame->items, 0, items, 0, items->n);
    frame->items.n = items->n;
done:
    return status;
}

kn_status kn_cut_letters_cost(double *cost, double *n_suppressed, kn_cut_worker *worker, const uint8_t *in,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = worker->cuts;
    kn_cut_frame *frame;
    kn_cut_cost exact;
    uint8_t *state = NULL;
    if (worker->exact != NULL) {
        memcpy(worker->exact->in, in, cuts->n_letters);
        KN_TRY(kn_cut_exact_cost(&exact, worker->exact, err));
        *cost = exact.has_class ? exact.cost : INFINITY;
        *n_suppressed = exact.n_suppressed;
        goto done;
    }
    KN_NEW(state, cuts->n_letters);
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        state[letter] = in[letter] ? KN_LETTER_HEAD : KN_LETTER_OUT;
    KN_TRY(kn_cut_frame_at(&frame, worker, 0, err));
    KN_TRY(kn_cut_frame_start(worker, frame, state, err));
    cuts->bound->evaluate(worker, frame);
    *cost = frame->n_classes > 0 ? worker->cost : INFINITY;
    *n_suppressed = frame->n_suppressed;
done:
    kn_free(state);
    return status;
}
