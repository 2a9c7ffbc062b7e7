/* The classes of a block: members, patterns, prices, and the gate that spares the scan most of them.
 * Part of the engine (cluster_engine.h). */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_CLASSES_H
#define KN_SEARCH_CLUSTER_CLUSTER_CLASSES_H

#include "search/cluster/cluster_lanes.h"

enum { JOINS_PER_LOOK = 64 }; /* records that are joined in the time of a look */

KN_INLINE uint32_t *class_members(const kn_cluster_block *block, uint32_t h)
{
    return block->arena + block->classes[h].first;
}

KN_INLINE int64_t missing_persons_penalty(const kn_cluster_block *block, int32_t n_persons, int32_t size)
{
    int32_t k = (int32_t)block->problem->k;
    return n_persons >= k || size == 0 ? 0 : (int64_t)block->penalty * (k - n_persons);
}

/* A class takes no more records than that in the annealing: twice the persons it needs. */
KN_INLINE bool class_is_open(const kn_cluster_block *block, uint32_t h)
{
    return block->classes[h].size > 0 && block->classes[h].persons < 2 * (int32_t)block->problem->k;
}

/* The gate: a record that joins a class of s records at price p, which rises to c, costs c + s * (c - p) and perhaps
 * spares a penalty ("slack"). In 16 bits, saturated, with rise and size cut off, that is close enough to tell the few
 * classes for which the exact sum is worked out. */
enum { GATE_MAX_SIZE = 15, GATE_MAX_RISE = INT16_MAX / GATE_MAX_SIZE };

KN_INLINE void class_set_gate(kn_cluster_block *block, uint32_t h)
{
    const kn_cluster_class *class = &block->classes[h];
    int32_t slack = class->persons < (int32_t)block->problem->k ? block->penalty : 0;
    if (!class_is_open(block, h)) slack = INT16_MIN;
    block->slack[h] = (int16_t)(slack < INT16_MAX ? slack : INT16_MAX);
    block->price16[h] = (uint16_t) class->price;
    block->factor[h] = (uint16_t)(class->size < GATE_MAX_SIZE ? class->size : GATE_MAX_SIZE);
}

KN_INLINE void class_put_pattern(kn_cluster_block *block, uint32_t h, const kn_lanes *pattern, uint32_t record)
{
    const uint16_t *values = (const uint16_t *)pattern;
    for (uint32_t j = 0; j < block->n_lanes; j++) *centre_lane(block, j, h) = values[lane_in_record(block, j)];
    block->classes[h].price = lanes_price(block, pattern, record);
}

/* The join of all members; there must be one. */
KN_INLINE void class_join(const kn_cluster_block *block, uint32_t h, kn_lanes *pattern)
{
    const uint32_t *members = class_members(block, h);
    lanes_copy(block, pattern, record_lanes(block, members[0]));
    for (int32_t x = 1; x < block->classes[h].size; x++)
        lanes_join(block, pattern, pattern, record_lanes(block, members[x]));
}

/* The join of all members but one; there must be another. In a large class a few others mostly make the whole pattern
 * again, so that is asked for now and then. Uses pattern_a. Returns how many were joined. */
KN_INLINE uint32_t class_join_without(kn_cluster_block *block, uint32_t h, uint32_t except, kn_lanes *pattern)
{
    const uint32_t *members = class_members(block, h);
    uint32_t size = (uint32_t)block->classes[h].size, x = members[0] == except ? 1 : 0;
    lanes_copy(block, pattern, record_lanes(block, members[x]));
    for (x++; x < size; x++) {
        if (x == JOINS_PER_LOOK) class_get_pattern(block, h, block->pattern_a);
        if (x % JOINS_PER_LOOK == 0 && lanes_same(block, pattern, block->pattern_a)) return x;
        if (members[x] != except) lanes_join(block, pattern, pattern, record_lanes(block, members[x]));
    }
    return size;
}

KN_INLINE void class_refresh(kn_cluster_block *block, uint32_t h)
{
    if (block->classes[h].size > 0) {
        class_join(block, h, block->pattern_a);
        class_put_pattern(block, h, block->pattern_a, class_members(block, h)[0]);
    } else {
        block->classes[h].price = 0;
    }
    class_set_gate(block, h);
}

/* Moves all members together, each class with room to grow. */
static void arena_pack(kn_cluster_block *block)
{
    size_t n = 0;
    uint32_t *packed = block->arena_spare;
    for (uint32_t h = 0; h < block->n_classes; h++) {
        kn_cluster_class *class = &block->classes[h];
        memcpy(packed + n, class_members(block, h), (size_t) class->size * sizeof *packed);
        class->first = (uint32_t)n;
        class->capacity = (uint32_t)(class->size + class->size / 2 + 4);
        n += class->capacity;
    }
    block->arena_spare = block->arena;
    block->arena = packed;
    block->arena_n = n;
}

static void class_grow(kn_cluster_block *block, uint32_t h)
{
    kn_cluster_class *class = &block->classes[h];
    uint32_t capacity = (uint32_t) class->size * 2 + 4;
    if (block->arena_n + capacity > block->arena_capacity) {
        arena_pack(block);
        return;
    }
    memcpy(block->arena + block->arena_n, class_members(block, h), (size_t) class->size * sizeof *block->arena);
    class->first = (uint32_t)block->arena_n;
    class->capacity = capacity;
    block->arena_n += capacity;
}

KN_INLINE void class_add(kn_cluster_block *block, uint32_t h, uint32_t record)
{
    kn_cluster_class *class = &block->classes[h];
    if ((uint32_t) class->size == class->capacity) class_grow(block, h);
    class_members(block, h)[class->size] = record;
    block->class_of[record] = h;
    block->place[record] = (uint32_t) class->size++;
    class->persons += block->person[record];
}

/* The same with pattern, price and gate. Uses pattern_b. */
KN_INLINE void class_take(kn_cluster_block *block, uint32_t h, uint32_t record)
{
    class_get_pattern(block, h, block->pattern_b);
    lanes_join(block, block->pattern_b, block->pattern_b, record_lanes(block, record));
    class_add(block, h, record);
    class_put_pattern(block, h, block->pattern_b, record);
    class_set_gate(block, h);
}

KN_INLINE void class_remove(kn_cluster_block *block, uint32_t record)
{
    uint32_t h = block->class_of[record], x = block->place[record];
    uint32_t *members = class_members(block, h), last = members[--block->classes[h].size];
    block->classes[h].persons -= block->person[record];
    members[x] = last;
    block->place[last] = x;
}

/* An empty class at the end. */
KN_INLINE uint32_t class_new(kn_cluster_block *block)
{
    uint32_t h = block->n_classes++;
    block->classes[h] = (kn_cluster_class){0};
    class_set_gate(block, h);
    return h;
}

/* Empties class h and fills the hole with the last one, if there is one. */
static void class_delete(kn_cluster_block *block, uint32_t h)
{
    uint32_t last = --block->n_classes;
    if (h != last) {
        block->classes[h] = block->classes[last];
        for (uint32_t j = 0; j < block->n_lanes; j++) *centre_lane(block, j, h) = *centre_lane(block, j, last);
        const uint32_t *members = class_members(block, h);
        for (int32_t x = 0; x < block->classes[h].size; x++) block->class_of[members[x]] = h;
        class_set_gate(block, h);
    }
    block->classes[last] = (kn_cluster_class){0};
    class_set_gate(block, last);
}

static void classes_drop_empty(kn_cluster_block *block)
{
    for (uint32_t h = block->n_classes; h-- > 0;)
        if (block->classes[h].size == 0) class_delete(block, h);
}

KN_INLINE bool class_is_good(kn_cluster_block *block, uint32_t h)
{
    const kn_cluster_class *class = &block->classes[h];
    if (class->persons < (int32_t)block->problem->k) return false;
    return block->problem->counts_only ||
           kn_cluster_holds(block, class_members(block, h), (uint32_t) class->size, class->persons);
}

/* --- Splitting classes that have become large ------------------------------------------------------------------- */

/* Sorts members into those that have `value` in equal lane j (left, first) and the others; returns how many have. */
static uint32_t members_by_value(kn_cluster_block *block, uint32_t h, uint32_t j, uint16_t value)
{
    const uint32_t *members = class_members(block, h);
    uint32_t n = (uint32_t)block->classes[h].size, n_left = 0, n_right = 0;
    for (uint32_t x = 0; x < n; x++) {
        if (((const uint16_t *)record_lanes(block, members[x]))[j] == value) block->scratch[n_left++] = members[x];
        else block->scratch[n - ++n_right] = members[x];
    }
    return n_left;
}

KN_INLINE int64_t part_price(kn_cluster_block *block, const uint32_t *members, uint32_t n, int32_t *n_persons)
{
    *n_persons = block->person[members[0]];
    lanes_copy(block, block->pattern_a, record_lanes(block, members[0]));
    for (uint32_t x = 1; x < n; x++) {
        lanes_join(block, block->pattern_a, block->pattern_a, record_lanes(block, members[x]));
        *n_persons += block->person[members[x]];
    }
    return (int64_t)n * lanes_price(block, block->pattern_a, members[0]);
}

/* Puts the first n_left of the n records in scratch into h, the others into a new class. */
static void class_cut(kn_cluster_block *block, uint32_t h, uint32_t n, uint32_t n_left)
{
    uint32_t other = class_new(block);
    block->classes[h].size = block->classes[h].persons = 0;
    for (uint32_t x = 0; x < n; x++) class_add(block, x < n_left ? h : other, block->scratch[x]);
    class_refresh(block, h);
    class_refresh(block, other);
}

/* By the best of a few values of starred lanes; if none helps, in random halves when `anyhow`. */
static bool class_split(kn_cluster_block *block, uint32_t h, bool anyhow)
{
    uint32_t n = (uint32_t)block->classes[h].size, best_j = KN_NONE;
    int32_t k = (int32_t)block->problem->k, persons_left, persons_right;
    int64_t best = (int64_t)n * block->classes[h].price;
    uint16_t best_value = 0;
    for (uint32_t j = 0; j < block->n_equal; j++) {
        if (*centre_lane(block, j, h) != KN_STAR) continue;
        for (int tries = 0; tries < 2; tries++) {
            uint32_t someone = class_members(block, h)[kn_rng_below(&block->rng, n)];
            uint16_t value = ((const uint16_t *)record_lanes(block, someone))[j];
            uint32_t n_left = members_by_value(block, h, j, value);
            if (value == KN_STAR || n_left == n) continue;
            int64_t price = part_price(block, block->scratch, n_left, &persons_left) +
                            part_price(block, block->scratch + n_left, n - n_left, &persons_right);
            if (persons_left >= k && persons_right >= k && price < best) {
                best = price;
                best_j = j;
                best_value = value;
            }
        }
    }
    if (best_j != KN_NONE) {
        class_cut(block, h, n, members_by_value(block, h, best_j, best_value));
        return true;
    }
    if (!anyhow) return false;
    memcpy(block->scratch, class_members(block, h), n * sizeof *block->scratch);
    for (uint32_t x = n - 1; x > 0; x--) {
        uint32_t y = kn_rng_below(&block->rng, x + 1), record = block->scratch[x];
        block->scratch[x] = block->scratch[y];
        block->scratch[y] = record;
    }
    int32_t persons_half = block->classes[h].persons / 2, persons = 0;
    uint32_t n_left = 0;
    while (persons < persons_half || n_left == 0) persons += block->person[block->scratch[n_left++]];
    if (n_left == n) return false;
    class_cut(block, h, n, n_left);
    return true;
}

static void classes_split(kn_cluster_block *block)
{
    for (uint32_t h = 0; h < block->n_classes; h++)
        while (block->classes[h].persons >= 2 * (int32_t)block->problem->k && block->classes[h].size > 1 &&
               block->n_classes < block->class_capacity)
            if (!class_split(block, h, true)) break;
}

#endif
