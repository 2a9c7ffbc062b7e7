/* Repair: make every class hold. The smallest class first: its records go one by one where they cost least, or it is
 * merged with the class that makes the cheapest union, whichever is cheaper. Ends because every step leaves one
 * class less; at the worst one class is left. Where another state is at hand it may give up. */
#include "search/cluster/cluster_classes.h"

/* What it costs to send the records of h elsewhere, each on its own; block->targets gets their classes. */
static int64_t cost_of_dissolving(kn_cluster_block *block, uint32_t h)
{
    const kn_cluster_class *class = &block->classes[h];
    int64_t cost = -(int64_t) class->size * class->price;
    for (int32_t x = 0; x < class->size; x++) {
        scan_result best = {INT64_MAX / 4, KN_NONE};
        kn_class_find_best(block, class_members(block, h)[x], h, &best);
        if (best.class_index == KN_NONE) return INT64_MAX / 4;
        block->targets[x] = best.class_index;
        cost += best.least;
    }
    return cost;
}

enum { N_PARTNERS = 8 };

typedef struct partner {
    int64_t cost;
    uint32_t class_index;
} partner;

/* The cheapest unions with h, best first; returns how many. */
static uint32_t find_partners(kn_cluster_block *block, uint32_t h, partner *best, uint32_t n_wanted)
{
    const kn_cluster_class *class = &block->classes[h];
    uint32_t witness = class_members(block, h)[0], n = 0;
    class_get_pattern(block, h, block->pattern_b);
    scan_begin(block, block->pattern_b, witness);
    for (uint32_t first = 0; first < block->n_classes; first += KN_CHUNK) {
        kn_lanes price[2];
        scan_prices(block, first, block->base[witness], price);
        for (uint32_t lane = 0; lane < KN_CHUNK && first + lane < block->n_classes; lane++) {
            const kn_cluster_class *other = &block->classes[first + lane];
            if (first + lane == h || other->size == 0) continue;
            int64_t cost = (int64_t)(other->size + class->size) * ((const int16_t *)price)[lane] -
                           (int64_t)other->size * other->price - (int64_t) class->size * class->price;
            if (n == n_wanted && cost >= best[n - 1].cost) continue;
            uint32_t x = n < n_wanted ? n++ : n - 1;
            for (; x > 0 && best[x - 1].cost > cost; x--) best[x] = best[x - 1];
            best[x] = (partner){cost, first + lane};
        }
    }
    block->work++;
    return n;
}

static void merge_classes(kn_cluster_block *block, uint32_t from, uint32_t into)
{
    uint32_t n = (uint32_t)block->classes[from].size;
    memcpy(block->scratch, class_members(block, from), n * sizeof *block->scratch);
    block->classes[from].size = block->classes[from].persons = 0;
    for (uint32_t x = 0; x < n; x++) class_add(block, into, block->scratch[x]);
    kn_class_refresh(block, into);
    kn_class_refresh(block, from);
}

/* True when the union of the two would hold. */
static bool union_holds(kn_cluster_block *block, uint32_t a, uint32_t b)
{
    const kn_cluster_class *one = &block->classes[a], *other = &block->classes[b];
    memcpy(block->scratch, class_members(block, a), (size_t)one->size * sizeof *block->scratch);
    memcpy(block->scratch + one->size, class_members(block, b), (size_t)other->size * sizeof *block->scratch);
    return kn_cluster_holds(block, block->scratch, (uint32_t)(one->size + other->size), one->persons + other->persons);
}

/* Merges h, now empty, into another class, which is returned: the cheapest with which it holds, else the cheapest. */
static uint32_t merge_with_a_partner(kn_cluster_block *block, uint32_t h)
{
    partner best[N_PARTNERS];
    uint32_t n = find_partners(block, h, best, N_PARTNERS), chosen = 0;
    if (n == 0) return KN_NONE;
    for (uint32_t x = 0; x < n; x++) {
        if (!union_holds(block, h, best[x].class_index)) continue;
        chosen = x;
        break;
    }
    merge_classes(block, h, best[chosen].class_index);
    return best[chosen].class_index;
}

/* A class that is too small: dissolve or merge. False when there is nowhere to go. */
static bool remove_small_class(kn_cluster_block *block, uint32_t h)
{
    partner best;
    uint32_t n = (uint32_t)block->classes[h].size, n_partners = find_partners(block, h, &best, 1);
    if (n_partners == 0) return false;
    if (n > 4 * block->problem->k || cost_of_dissolving(block, h) > best.cost) {
        merge_classes(block, h, best.class_index);
        return true;
    }
    memcpy(block->scratch, class_members(block, h), n * sizeof *block->scratch);
    block->classes[h].size = block->classes[h].persons = 0;
    for (uint32_t x = 0; x < n; x++) kn_class_take(block, block->targets[x], block->scratch[x]);
    kn_class_refresh(block, h);
    return true;
}

static void repair_sizes(kn_cluster_block *block, bool may_give_up)
{
    uint32_t k = block->problem->k;
    int32_t most_small = 0;
    for (uint32_t h = 0; h < block->n_classes; h++)
        if (block->classes[h].persons < (int32_t)k && block->classes[h].size > most_small)
            most_small = block->classes[h].size;
    for (int32_t size = 1; size <= most_small; size++)
        for (uint32_t h = 0; h < block->n_classes; h++) {
            kn_cluster_class *class = &block->classes[h];
            if (class->size != size || class->persons >= (int32_t)k) continue;
            if (may_give_up && engine_should_stop(block, 0)) return;
            if (!remove_small_class(block, h)) return;
        }
}

/* Merges what does not hold until all do or one class is left. Classes before h are known to hold; a merge may spoil
 * one of them (models that are not monotone do that), so the walk goes back to the class that grew. */
static void repair_models(kn_cluster_block *block, bool may_give_up)
{
    for (uint32_t h = 0; h < block->n_classes && block->n_classes > 1;) {
        if (kn_class_is_good(block, h)) {
            h++;
            continue;
        }
        if (may_give_up && engine_should_stop(block, 0)) return;
        uint32_t grown = merge_with_a_partner(block, h);
        if (grown == KN_NONE) return;
        kn_class_delete(block, h); /* the last class now stands here */
        if (grown < h) h = grown;
    }
}

void kn_cluster_repair(kn_cluster_block *block, const kn_cluster_job *job)
{
    block->penalty = 1;
    kn_cluster_noise(block, 0);
    for (uint32_t h = 0; h < block->n_classes; h++) class_set_gate(block, h);
    repair_sizes(block, job->may_give_up);
    kn_classes_drop_empty(block);
    repair_models(block, job->may_give_up);
    if (block->problem->counts_only) kn_classes_split(block);
}
