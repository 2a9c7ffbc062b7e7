/* Annealing: one record after the other moves to the class where price, penalty and noise are least.
 *
 * With noise T * ln(-ln u) per candidate (negated Gumbel) the least sum is a draw from the Boltzmann distribution
 * over all classes of the block at temperature T ("heat bath"), so one scan gives one fair move. Classes below k
 * persons pay a linear penalty. A scan looks at every class of the block: about n_lanes vector steps per 16 classes;
 * the gate (cluster_classes.h) leaves a handful for which the exact sum is worked out. */
#include "search/cluster/cluster_classes.h"

KN_INLINE int64_t joining_costs(const kn_cluster_block *block, uint32_t h, int32_t price, int32_t n_persons)
{
    const kn_cluster_class *class = &block->classes[h];
    return (int64_t)(class->size + 1) * price - (int64_t) class->size * class->price +
           missing_persons_penalty(block, class->persons + n_persons, class->size + 1) -
           missing_persons_penalty(block, class->persons, class->size);
}

/* Which classes of half a chunk may beat what is `most` for each: the gate of cluster_classes.h with noise. */
KN_INLINE uint32_t scan_gate(const kn_cluster_block *block, uint32_t first, kn_lanes price, kn_lanes noise,
                             const kn_lanes *most)
{
    kn_lanes rise = price - *(const kn_lanes *)(const void *)(block->price16 + first);
    rise = lanes_least(rise, (kn_lanes){0} + (uint16_t)GATE_MAX_RISE);
    kn_lanes cost = add_saturated(price, rise * *(const kn_lanes *)(const void *)(block->factor + first));
    cost = add_saturated(cost, noise);
    return lanes_not_above(&cost, most);
}

/* Prices of a chunk and, as bits, which of its classes may cost less than `least`; false: none. */
KN_INLINE bool scan_chunk(const kn_cluster_block *block, uint32_t first, int32_t base, uint32_t offset, int64_t least,
                          kn_lanes price[2], uint32_t mask[2])
{
    kn_lanes noise[2], most[2];
    const int64_t least16 = least < INT16_MIN ? INT16_MIN : least > INT16_MAX ? INT16_MAX : least;
    scan_noise(block, offset, first, noise);
    for (uint32_t half = 0; half < 2; half++)
        most[half] = add_saturated((kn_lanes){0} + (uint16_t)least16,
                                   *(const kn_lanes *)(const void *)(block->slack + first + half * KN_LANES));
    if (!scan_prices_below(block, first, base, noise, most, price)) return false;
    for (uint32_t half = 0; half < 2; half++)
        mask[half] = scan_gate(block, first + half * KN_LANES, price[half], noise[half], &most[half]);
    return (mask[0] | mask[1]) != 0;
}

void kn_class_find_best(kn_cluster_block *block, uint32_t record, uint32_t self, scan_result *result)
{
    uint32_t offset = (uint32_t)kn_rng_next(&block->rng) & block->noise_mask;
    int32_t n_persons = block->person[record], base = block->base[record];
    bool monotone = block->problem->monotone;
    scan_begin(block, record_lanes(block, record), record);
    for (uint32_t first = 0; first < block->n_classes; first += KN_CHUNK) {
        kn_lanes price[2];
        uint32_t may_beat[2] = {0x55555555u, 0x55555555u};
        if (!monotone) scan_prices(block, first, base, price);
        else if (!scan_chunk(block, first, base, offset, result->least, price, may_beat)) continue;
        for (uint32_t half = 0; half < 2; half++) {
            for (uint32_t mask = may_beat[half]; mask != 0; mask &= mask - 1) {
                uint32_t h = first + half * KN_LANES + (uint32_t)__builtin_ctz(mask) / 2;
                if (h >= block->n_classes || h == self || !class_is_open(block, h)) continue;
                int64_t cost = joining_costs(block, h, (int16_t)price[half][h % KN_LANES], n_persons) +
                               block->noise[(offset + h) & block->noise_mask];
                if (cost >= result->least) continue;
                result->least = cost;
                result->class_index = h;
            }
        }
    }
    block->work++;
}

static void anneal_step(kn_cluster_block *block, uint32_t record)
{
    uint32_t from = block->class_of[record];
    const kn_cluster_class *class = &block->classes[from];
    int64_t gain = (int64_t) class->size * class->price + missing_persons_penalty(block, class->persons, class->size);
    if (class->size > 1) {
        uint32_t witness = class_members(block, from)[class_members(block, from)[0] == record];
        block->work += kn_class_join_without(block, from, record, block->pattern_b) / JOINS_PER_LOOK;
        int32_t n_persons = class->persons - block->person[record];
        gain -= (int64_t)(class->size - 1) * lanes_price(block, block->pattern_b, witness) +
                missing_persons_penalty(block, n_persons, class->size - 1);
    }
    gain += block->noise[kn_rng_next(&block->rng) & block->noise_mask];
    scan_result best = {gain, KN_NONE};
    kn_class_find_best(block, record, from, &best);
    if (best.class_index == KN_NONE) return;
    class_remove(block, record);
    if (class->size > 0) {
        class_put_pattern(block, from, block->pattern_b, class_members(block, from)[0]);
        class_set_gate(block, from);
    } else {
        kn_class_refresh(block, from);
    }
    kn_class_take(block, best.class_index, record);
}

void kn_cluster_anneal(kn_cluster_block *block, const kn_cluster_job *job)
{
    uint32_t n = block->n_records;
    kn_classes_split(block);
    for (uint32_t sweep = 0; sweep < job->n_sweeps && !atomic_load(block->stop); sweep++) {
        double part = job->n_sweeps > 1 ? (double)sweep / (job->n_sweeps - 1) : 0;
        kn_cluster_cool(block, job, part);
        for (uint32_t h = 0; h < block->n_classes; h++) class_set_gate(block, h);
        for (uint32_t x = 0; x < n && !engine_should_stop(block, x); x++) {
            uint32_t record = job->op == KN_CLUSTER_GREEDY ? x : kn_rng_below(&block->rng, n);
            if (block->class_of[record] != KN_NONE) anneal_step(block, record);
        }
        kn_classes_drop_empty(block);
        kn_classes_split(block);
    }
}
