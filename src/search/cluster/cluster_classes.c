/* The classes of a block: their members stand in one arena, each class with some room to grow, and their patterns lane
 * by lane in chunks of classes, where a scan reads them. A class that has twice the persons it needs is split. */
#include "search/cluster/cluster_classes.h"

/* The join of all members; there must be one. */
KN_INLINE void class_join(const kn_cluster_block *block, uint32_t h, kn_lanes *pattern)
{
    const uint32_t *members = class_members(block, h);
    lanes_copy(block, pattern, record_lanes(block, members[0]));
    for (int32_t x = 1; x < block->classes[h].size; x++)
        lanes_join(block, pattern, pattern, record_lanes(block, members[x]));
}

uint32_t kn_class_join_without(kn_cluster_block *block, uint32_t h, uint32_t except, kn_lanes *pattern)
{
    const uint32_t *members = class_members(block, h);
    uint32_t size = (uint32_t)block->classes[h].size, x = members[0] == except ? 1 : 0;
    lanes_copy(block, pattern, record_lanes(block, members[x]));
    for (x++; x < size; x++) {
        if (x == JOINS_PER_LOOK) class_get_pattern(block, h, block->pattern_a);
        if (x % JOINS_PER_LOOK == 0) lanes_close(block, pattern);
        if (x % JOINS_PER_LOOK == 0 && lanes_same(block, pattern, block->pattern_a)) return x;
        if (members[x] != except) lanes_join(block, pattern, pattern, record_lanes(block, members[x]));
    }
    return size;
}

void kn_class_refresh(kn_cluster_block *block, uint32_t h)
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

void kn_class_grow(kn_cluster_block *block, uint32_t h)
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

void kn_class_take(kn_cluster_block *block, uint32_t h, uint32_t record)
{
    class_get_pattern(block, h, block->pattern_b);
    lanes_join(block, block->pattern_b, block->pattern_b, record_lanes(block, record));
    class_add(block, h, record);
    class_put_pattern(block, h, block->pattern_b, record);
    class_set_gate(block, h);
}

uint32_t kn_class_new(kn_cluster_block *block)
{
    uint32_t h = block->n_classes++;
    block->classes[h] = (kn_cluster_class){0};
    class_set_gate(block, h);
    return h;
}

void kn_class_delete(kn_cluster_block *block, uint32_t h)
{
    uint32_t last = --block->n_classes;
    if (h != last) {
        block->classes[h] = block->classes[last];
        for (uint32_t j = 0; j < block->n_lanes; j++) *centre_lane(block, j, h) = *centre_lane(block, j, last);
        class_get_pattern(block, last, class_pattern(block, h));
        const uint32_t *members = class_members(block, h);
        for (int32_t x = 0; x < block->classes[h].size; x++) block->class_of[members[x]] = h;
        class_set_gate(block, h);
    }
    block->classes[last] = (kn_cluster_class){0};
    class_set_gate(block, last);
}

void kn_classes_drop_empty(kn_cluster_block *block)
{
    for (uint32_t h = block->n_classes; h-- > 0;)
        if (block->classes[h].size == 0) kn_class_delete(block, h);
}

bool kn_class_is_good(kn_cluster_block *block, uint32_t h)
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
    uint32_t other = kn_class_new(block);
    block->classes[h].size = block->classes[h].persons = 0;
    for (uint32_t x = 0; x < n; x++) class_add(block, x < n_left ? h : other, block->scratch[x]);
    kn_class_refresh(block, h);
    kn_class_refresh(block, other);
}

typedef struct class_division {
    int64_t price; /* of both parts; in: only what is below counts */
    uint32_t j;    /* the lane, or KN_NONE */
    uint16_t value;
} class_division;

/* The cheapest division by a value of a starred lane; a few values are tried. */
static void find_division(kn_cluster_block *block, uint32_t h, class_division *best)
{
    uint32_t n = (uint32_t)block->classes[h].size;
    int32_t k = (int32_t)block->problem->k, persons_left, persons_right;
    for (uint32_t j = 0; j < block->n_equal; j++) {
        if (*centre_lane(block, j, h) != KN_STAR) continue;
        for (int tries = 0; tries < 2; tries++) {
            uint32_t someone = class_members(block, h)[kn_rng_below(&block->rng, n)];
            uint16_t value = ((const uint16_t *)record_lanes(block, someone))[j];
            uint32_t n_left = members_by_value(block, h, j, value);
            if (value == KN_STAR || n_left == n) continue;
            int64_t price = part_price(block, block->scratch, n_left, &persons_left) +
                            part_price(block, block->scratch + n_left, n - n_left, &persons_right);
            if (persons_left >= k && persons_right >= k && price < best->price)
                *best = (class_division){price, j, value};
        }
    }
}

/* By the best value that was found; if none helps, in random halves. */
static bool class_split(kn_cluster_block *block, uint32_t h)
{
    uint32_t n = (uint32_t)block->classes[h].size;
    class_division best = {(int64_t)n * block->classes[h].price, KN_NONE, 0};
    find_division(block, h, &best);
    if (best.j != KN_NONE) {
        class_cut(block, h, n, members_by_value(block, h, best.j, best.value));
        return true;
    }
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

void kn_classes_split(kn_cluster_block *block)
{
    for (uint32_t h = 0; h < block->n_classes; h++)
        while (block->classes[h].persons >= 2 * (int32_t)block->problem->k && block->classes[h].size > 1 &&
               block->n_classes < block->class_capacity && !engine_should_stop(block, 0))
            if (!class_split(block, h)) break;
}
