/* The classes of a block, as the engine sees and changes them: small readers and writers here, inlined into the loops
 * of annealing and rebuilding; the rest in cluster_classes.c. */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_CLASSES_H
#define KN_SEARCH_CLUSTER_CLUSTER_CLASSES_H

#include "search/cluster/cluster_engine.h"
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
    lanes_copy(block, class_pattern(block, h), pattern);
    lanes_close(block, class_pattern(block, h));
    lanes_fold(block, class_pattern(block, h), centre_lane(block, 0, h), KN_CHUNK);
    block->classes[h].price = lanes_price(block, pattern, record);
    block->classes[h].has_exact = block->classes[h].has_above = false;
}

void kn_class_grow(kn_cluster_block *block, uint32_t h);

KN_INLINE void class_add(kn_cluster_block *block, uint32_t h, uint32_t record)
{
    kn_cluster_class *class = &block->classes[h];
    if ((uint32_t) class->size == class->capacity) kn_class_grow(block, h);
    class_members(block, h)[class->size] = record;
    block->class_of[record] = h;
    block->place[record] = (uint32_t) class->size++;
    class->persons += block->person[record];
}

KN_INLINE void class_remove(kn_cluster_block *block, uint32_t record)
{
    uint32_t h = block->class_of[record], x = block->place[record];
    uint32_t *members = class_members(block, h), last = members[--block->classes[h].size];
    block->classes[h].persons -= block->person[record];
    members[x] = last;
    block->place[last] = x;
}

/* The join of all members but one; there must be another. In a large class a few others mostly make the whole pattern
 * again, so that is asked for now and then. Uses pattern_a. Returns how many were joined. */
uint32_t kn_class_join_without(kn_cluster_block *block, uint32_t h, uint32_t except, kn_lanes *pattern);
void kn_class_refresh(kn_cluster_block *block, uint32_t h);
/* The same with pattern, price and gate. Uses pattern_b. */
void kn_class_take(kn_cluster_block *block, uint32_t h, uint32_t record);
/* An empty class at the end. */
uint32_t kn_class_new(kn_cluster_block *block);
/* Empties class h and fills the hole with the last one, if there is one. */
void kn_class_delete(kn_cluster_block *block, uint32_t h);
void kn_classes_drop_empty(kn_cluster_block *block);
bool kn_class_is_good(kn_cluster_block *block, uint32_t h);
void kn_classes_split(kn_cluster_block *block);

typedef struct scan_result {
    int64_t least; /* in: only what is below counts */
    uint32_t class_index;
} scan_result;

/* The class that the record joins at the least cost below result->least, other than `self`; noise included. */
void kn_class_find_best(kn_cluster_block *block, uint32_t record, uint32_t self, scan_result *result);

KN_INLINE bool engine_should_stop(kn_cluster_block *block, uint64_t step)
{
    if (step % 256 == 0) kn_cluster_poll(block);
    return atomic_load_explicit(block->stop, memory_order_relaxed);
}

#endif
