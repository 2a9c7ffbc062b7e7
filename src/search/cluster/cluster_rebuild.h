/* Large-neighbourhood search: take a class and one to three near ones, build classes anew from their records and from
 * records that other near classes can spare ("donors"), polish them by single moves and swaps, and keep the result
 * when it is not worse (plateaus matter: most paths to a better state lead over equal ones). Every state that is kept
 * holds all models. Dear classes are taken more often: in tables with many equal rows half of the classes lose
 * nothing, and tries around those change nothing.
 *
 * Records that do not fit go as "guests" to any class of the block that contains them already: that costs its price
 * and changes nothing for the others there, so guests are independent of each other, and a class that has become too
 * dear can be given up although its neighbours have no use for its records.
 *
 * Polishing: a swap can only gain if one of the two records is the only deviant on some lane; all others are passed
 * over. Building: cluster_build.h. Part of the engine (cluster_engine.h). */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_REBUILD_H
#define KN_SEARCH_CLUSTER_CLUSTER_REBUILD_H

#include "search/cluster/cluster_build.h"

/* --- Polishing -------------------------------------------------------------------------------------------------- */

/* Pattern and price of a group, and what they would be without each of its records: joins from both ends. */
static void group_refresh(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_sub *sub = &block->sub;
    const uint32_t *members = sub->members[g], nv = block->n_vectors;
    int32_t n = sub->size[g];
    lanes_copy(block, sub->tail + (size_t)(n - 1) * nv, sub_lanes(block, members[n - 1]));
    for (int32_t x = n - 2; x >= 0; x--)
        lanes_join(block, sub->tail + (size_t)x * nv, sub->tail + (size_t)(x + 1) * nv, sub_lanes(block, members[x]));
    lanes_copy(block, sub_pattern(block, g), sub->tail);
    sub->price[g] = sub_price(block, sub->tail, members[0]);
    kn_lanes *head = block->pattern_a;
    for (int32_t x = 0; x < n; x++) {
        kn_lanes *without = sub->without + (size_t)members[x] * nv;
        if (x == 0) lanes_copy(block, without, n > 1 ? sub->tail + nv : sub->tail);
        else if (x == n - 1) lanes_copy(block, without, head);
        else lanes_join(block, without, head, sub->tail + (size_t)(x + 1) * nv);
        sub->without_price[members[x]] = n > 1 ? sub_price(block, without, members[x == 0 ? n - 1 : 0]) : 0;
        if (x == 0) lanes_copy(block, head, sub_lanes(block, members[0]));
        else lanes_join(block, head, head, sub_lanes(block, members[x]));
    }
    sub->persons[g] = 0;
    for (int32_t x = 0; x < n; x++) sub->persons[g] += (int32_t)sub_person(block, members[x]);
}

KN_INLINE void swap_members(kn_cluster_sub *sub, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    uint32_t record = sub->members[a][x];
    sub->members[a][x] = sub->members[b][y];
    sub->members[b][y] = record;
}

/* Moves members[a][x] to the end of group b; true when both hold, otherwise it is undone. */
static bool try_move(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t record = sub->members[a][x];
    sub->members[a][x] = sub->members[a][--sub->size[a]];
    sub->members[b][sub->size[b]++] = record;
    if (a != OUTSIDE) group_refresh(block, a);
    if (b != OUTSIDE) group_refresh(block, b);
    if (block->problem->counts_only ||
        ((a == OUTSIDE || group_holds(block, a)) && (b == OUTSIDE || group_holds(block, b)))) {
        if (a == OUTSIDE || b == OUTSIDE) note_outside(sub, record, b == OUTSIDE);
        return true;
    }
    sub->size[b]--;
    sub->members[a][sub->size[a]++] = sub->members[a][x];
    sub->members[a][x] = record;
    if (a != OUTSIDE) group_refresh(block, a);
    if (b != OUTSIDE) group_refresh(block, b);
    return false;
}

static bool try_swap(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    kn_cluster_sub *sub = &block->sub;
    swap_members(sub, a, x, b, y);
    group_refresh(block, a);
    group_refresh(block, b);
    int32_t k = (int32_t)block->problem->k;
    if (sub->persons[a] >= k && sub->persons[b] >= k &&
        (block->problem->counts_only || (group_holds(block, a) && group_holds(block, b))))
        return true;
    swap_members(sub, a, x, b, y);
    group_refresh(block, a);
    group_refresh(block, b);
    return false;
}

/* Moves members[a][x] to where the total falls most. */
static bool relocate(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t max_suppressed)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t record = sub->members[a][x], best = KN_NONE;
    int64_t gain = sub->outside_price[record];
    if (a != OUTSIDE) {
        if (sub->persons[a] - (int32_t)sub_person(block, record) < (int32_t)block->problem->k) return false;
        gain = (int64_t)sub->size[a] * sub->price[a] - (int64_t)(sub->size[a] - 1) * sub->without_price[record];
    }
    int64_t least = gain;
    for (uint32_t b = 0; b < sub->n_groups; b++) {
        if (b == a) continue;
        int64_t cost = (int64_t)(sub->size[b] + 1) * price_joined(block, sub_pattern(block, b), record) -
                       (int64_t)sub->size[b] * sub->price[b];
        if (cost >= least) continue;
        least = cost;
        best = b;
    }
    if (a != OUTSIDE && may_go_outside(block, record, max_suppressed) && sub->outside_price[record] < least)
        best = OUTSIDE;
    return best != KN_NONE && try_move(block, a, x, best);
}

/* Exchanges members[a][x], the only deviant of its group on some lane, for a record of another group. */
static bool exchange(kn_cluster_block *block, uint32_t a, int32_t x)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t record = sub->members[a][x];
    const kn_lanes *rest = sub->without + (size_t)record * block->n_vectors;
    for (uint32_t b = 0; b < sub->n_groups; b++) {
        if (b == a) continue;
        int64_t now = (int64_t)sub->size[a] * sub->price[a] + (int64_t)sub->size[b] * sub->price[b];
        for (int32_t y = 0; y < sub->size[b]; y++) {
            uint32_t other = sub->members[b][y];
            int64_t cost = (int64_t)sub->size[a] * price_joined(block, rest, other);
            if (cost >= now) continue;
            cost +=
                (int64_t)sub->size[b] * price_joined(block, sub->without + (size_t)other * block->n_vectors, record);
            if (cost < now && try_swap(block, a, x, b, y)) return true;
        }
    }
    return false;
}

static void sub_polish(kn_cluster_block *block, uint32_t max_suppressed)
{
    kn_cluster_sub *sub = &block->sub;
    for (uint32_t g = 0; g < sub->n_groups; g++) group_refresh(block, g);
    bool better = true;
    for (int round = 0; better && round < MAX_POLISH_ROUNDS; round++) {
        better = false;
        for (uint32_t a = 0; a < sub->n_groups; a++)
            for (int32_t x = 0; x < sub->size[a]; x++) {
                if (relocate(block, a, x, max_suppressed)) {
                    better = true;
                    x--;
                    continue;
                }
                uint32_t record = sub->members[a][x];
                if (sub->size[a] > 1 && sub->without_price[record] < sub->price[a] && exchange(block, a, x))
                    better = true;
            }
        for (int32_t x = 0; x < sub->size[OUTSIDE]; x++)
            if (relocate(block, OUTSIDE, x, max_suppressed)) {
                better = true;
                x--;
            }
    }
}

/* --- Or just a step ---------------------------------------------------------------------------------------------- */

/* Where units are only near to prices, polishing leads astray in the end. Then every other try takes the classes as
 * they are and moves one or two records at random; exact prices decide. */
static bool sub_step(kn_cluster_block *block, const uint32_t *chosen, uint32_t n_chosen, uint32_t max_suppressed)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t x = 0, n_moves = 1 + kn_rng_below(&block->rng, MAX_STEP_MOVES);
    sub_start(block);
    sub->n_groups = n_chosen;
    for (uint32_t g = 0; g < n_chosen; g++) {
        sub->size[g] = 0;
        while (sub->size[g] < block->classes[chosen[g]].size) sub->members[g][sub->size[g]++] = x++;
    }
    while (x < sub->n) group_add(block, OUTSIDE, x++);
    for (uint32_t move = 0; move < n_moves; move++) {
        uint32_t a = kn_rng_below(&block->rng, n_chosen + 1), b = kn_rng_below(&block->rng, n_chosen + 1);
        if (a == n_chosen) a = OUTSIDE;
        if (b == n_chosen) b = OUTSIDE;
        if (a == b || sub->size[a] == 0) continue;
        int32_t from = (int32_t)kn_rng_below(&block->rng, (uint32_t)sub->size[a]);
        if (sub->size[b] > 0 && toss_coin(block)) {
            swap_members(sub, a, from, b, (int32_t)kn_rng_below(&block->rng, (uint32_t)sub->size[b]));
        } else {
            sub->members[b][sub->size[b]++] = sub->members[a][from];
            sub->members[a][from] = sub->members[a][--sub->size[a]];
        }
    }
    sub->n_suppressed = (uint32_t)sub->size[OUTSIDE];
    sub->outside_total = (int64_t)sub->size[OUTSIDE] * block->problem->root_units;
    if (sub->n_suppressed > max_suppressed) return false;
    for (uint32_t g = 0; g < n_chosen; g++) {
        if (sub->size[g] == 0) return false;
        group_refresh(block, g);
        if (!group_holds(block, g)) return false;
    }
    return true;
}

/* --- Keeping or leaving ----------------------------------------------------------------------------------------- */

static int64_t exact_class(kn_cluster_block *block, uint32_t h)
{
    class_get_pattern(block, h, block->pattern_a);
    return kn_cluster_exact(block, class_members(block, h), (uint32_t)block->classes[h].size, block->pattern_a);
}

/* What the records of the chosen classes, the suppressed ones and the donors that leave pay now. Donors that stay at
 * home count neither here nor afterwards; nor does what their homes gain. */
static int64_t exact_before(kn_cluster_block *block, const uint32_t *chosen, uint32_t n_chosen, uint32_t n_suppressed)
{
    const kn_cluster_sub *sub = &block->sub;
    int64_t total = n_suppressed * block->problem->exact_root, home_price = 0;
    uint32_t home = KN_NONE;
    for (uint32_t g = 0; g < n_chosen; g++) total += block->classes[chosen[g]].size * exact_class(block, chosen[g]);
    memset(sub->taken, 0, sub->n);
    for (uint32_t g = 0; g < sub->n_groups; g++)
        for (int32_t x = 0; x < sub->size[g]; x++) sub->taken[sub->members[g][x]] = 1;
    for (uint32_t x = sub->first_donor; x < sub->n; x++) {
        if (!sub->taken[x]) continue;
        if (block->class_of[sub->record[x]] != home) {
            home = block->class_of[sub->record[x]];
            home_price = exact_class(block, home);
        }
        total += home_price;
    }
    return total;
}

/* The same records afterwards; nor does it count that guests may find their classes cheaper. */
static int64_t exact_after(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    int64_t total = sub->n_suppressed * block->problem->exact_root;
    for (int32_t x = 0; x < sub->size[OUTSIDE]; x++) {
        uint32_t guest = sub->members[OUTSIDE][x];
        if (guest < sub->first_donor && sub->home[guest] != KN_NONE) total += exact_class(block, sub->home[guest]);
    }
    for (uint32_t g = 0; g < sub->n_groups; g++) {
        for (int32_t x = 0; x < sub->size[g]; x++) block->targets[x] = sub->record[sub->members[g][x]];
        total += sub->size[g] * kn_cluster_exact(block, block->targets, (uint32_t)sub->size[g], sub_pattern(block, g));
    }
    return total;
}

/* By units where they leave no doubt, otherwise by exact prices. */
static bool sub_is_not_worse(kn_cluster_block *block, int64_t before, const uint32_t *chosen, uint32_t n_chosen,
                             uint32_t n_suppressed)
{
    const kn_cluster_problem *problem = block->problem;
    int64_t after = sub_total(block), doubt = 0;
    if (!problem->units_exact)
        doubt = problem->units_close ? (int64_t)block->sub.n * problem->tuples->n_qis : INT64_MAX / 4;
    if (after > before + doubt) return false;
    if (after + doubt < before || doubt == 0) return true;
    return exact_after(block) <= exact_before(block, chosen, n_chosen, n_suppressed);
}

/* Does class h hold once its donors have left and its guests have come? `taken` marks the records in the groups. */
static bool home_holds(kn_cluster_block *block, uint32_t h)
{
    const kn_cluster_sub *sub = &block->sub;
    const uint32_t *members = class_members(block, h);
    uint32_t n = (uint32_t)block->classes[h].size;
    int32_t n_persons = block->classes[h].persons;
    memcpy(block->targets, members, n * sizeof *block->targets);
    for (uint32_t x = sub->first_donor; x < sub->n; x++) {
        if (sub->home[x] != h || !sub->taken[x]) continue;
        block->targets[block->place[sub->record[x]]] = KN_NONE;
        n_persons -= (int32_t)sub_person(block, x);
    }
    uint32_t n_kept = 0;
    for (uint32_t y = 0; y < n; y++)
        if (block->targets[y] != KN_NONE) block->targets[n_kept++] = block->targets[y];
    for (int32_t y = 0; y < sub->size[OUTSIDE]; y++) {
        uint32_t x = sub->members[OUTSIDE][y];
        if (x >= sub->first_donor || sub->home[x] != h) continue;
        block->targets[n_kept++] = sub->record[x];
        n_persons += (int32_t)sub_person(block, x);
    }
    return kn_cluster_holds(block, block->targets, n_kept, n_persons);
}

/* Do all classes that donors leave and that guests join hold afterwards? Sizes are seen to already. */
static bool homes_hold(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    if (block->problem->counts_only || !sub->may_exchange) return true;
    memset(sub->taken, 1, sub->n);
    for (int32_t y = 0; y < sub->size[OUTSIDE]; y++) sub->taken[sub->members[OUTSIDE][y]] = 0;
    for (uint32_t x = 0; x < sub->n; x++) {
        bool moves = sub->taken[x] == (x >= sub->first_donor);
        uint32_t h = moves && sub->home_known[x] ? sub->home[x] : KN_NONE, earlier = 0;
        while (earlier < x && !(sub->taken[earlier] == (earlier >= sub->first_donor) && sub->home[earlier] == h))
            earlier++;
        if (h == KN_NONE || earlier < x || home_holds(block, h)) continue;
        sub->n_refused++;
        return false;
    }
    sub->n_held++;
    return true;
}

/* Donors that have found a group leave their homes. */
static void donors_leave(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    memset(sub->taken, 0, sub->n);
    for (int32_t x = 0; x < sub->size[OUTSIDE]; x++) sub->taken[sub->members[OUTSIDE][x]] = 1;
    for (uint32_t x = sub->first_donor; x < sub->n; x++)
        if (!sub->taken[x]) class_remove(block, sub->record[x]);
    for (uint32_t x = sub->first_donor, last = KN_NONE; x < sub->n; x++) {
        uint32_t home = block->class_of[sub->record[x]];
        if (sub->taken[x] || home == last) continue;
        class_refresh(block, home);
        last = home;
    }
}

/* The groups take the place of the chosen classes. */
static void sub_keep(kn_cluster_block *block, uint32_t *chosen, uint32_t n_chosen, uint32_t n_suppressed)
{
    kn_cluster_sub *sub = &block->sub;
    for (uint32_t g = 0; g < n_chosen; g++) block->classes[chosen[g]].size = block->classes[chosen[g]].persons = 0;
    donors_leave(block);
    for (uint32_t g = 0; g < sub->n_groups; g++) {
        uint32_t h = g < n_chosen ? chosen[g] : class_new(block);
        for (int32_t x = 0; x < sub->size[g]; x++) class_add(block, h, sub->record[sub->members[g][x]]);
        class_put_pattern(block, h, sub_pattern(block, g), class_members(block, h)[0]);
        class_set_gate(block, h);
    }
    block->n_suppressed -= n_suppressed;
    for (int32_t x = 0; x < sub->size[OUTSIDE]; x++) {
        uint32_t record = sub->record[sub->members[OUTSIDE][x]], home = sub->home[sub->members[OUTSIDE][x]];
        if (sub->members[OUTSIDE][x] >= sub->first_donor) continue;
        if (home != KN_NONE) {
            class_add(block, home, record);
            class_refresh(block, home); /* donors may have left it smaller */
            continue;
        }
        block->suppressed[block->n_suppressed++] = record;
        block->class_of[record] = KN_NONE;
    }
    while (n_chosen > sub->n_groups) { /* the highest first: class_delete moves the last class */
        uint32_t highest = sub->n_groups;
        for (uint32_t g = sub->n_groups + 1; g < n_chosen; g++)
            if (chosen[g] > chosen[highest]) highest = g;
        class_delete(block, chosen[highest]);
        chosen[highest] = chosen[--n_chosen];
    }
}

static bool rebuild_once(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    kn_cluster_sub *sub = &block->sub;
    uint32_t chosen[MAX_CHOSEN + MAX_DONOR_CLASSES], n_near, n_chosen = sub_choose(block, chosen, &n_near);
    if (n_chosen == 0 || (n_chosen < 2 && block->n_classes > 1)) return false;
    uint32_t n_suppressed = sub_take_suppressed(block);
    sub->first_donor = sub->n;
    sub->chosen = chosen;
    sub->n_chosen = n_chosen;
    sub->homes_known = false;
    for (uint32_t g = n_chosen; g < n_near && sub->may_exchange; g++) sub_take_donors(block, chosen[g]);
    uint32_t max_suppressed = block->max_suppressed - (block->n_suppressed - n_suppressed);
    int64_t before = (int64_t)n_suppressed * problem->root_units;
    for (uint32_t g = 0; g < n_chosen; g++)
        before += (int64_t)block->classes[chosen[g]].size * block->classes[chosen[g]].price;
    int64_t most = problem->units_close ? before + before / HOPELESS : INT64_MAX;
    for (uint32_t x = sub->first_donor; x < sub->n; x++) {
        before += sub->outside_price[x];
        most += sub->outside_price[x];
    }
    block->work += (uint64_t)sub->n / 8 * (1 + sub->n / 512); /* a large group grows by looks at all that are left */
    if (!problem->units_close && toss_coin(block)) {
        if (!sub_step(block, chosen, n_chosen, max_suppressed)) return false;
    } else {
        if (!sub_build(block, max_suppressed, most)) return false;
        if (!problem->counts_only && !sub_mend(block)) return false;
        if (sub_total(block) > most) return false;
        sub_polish(block, max_suppressed);
    }
    if (!sub_is_not_worse(block, before, chosen, n_chosen, n_suppressed)) return false;
    if (!homes_hold(block) || block->n_classes + sub->n_groups > block->class_capacity) return false;
    sub_keep(block, chosen, n_chosen, n_suppressed);
    return true;
}

static void rebuild(kn_cluster_block *block, const kn_cluster_job *job)
{
    uint64_t n_tries = (uint64_t)(job->tries_per_class * block->n_classes) + 1;
    block->sub.n_held = block->sub.n_refused = 0;
    kn_cluster_near_noise(block, job->near_noise);
    kn_cluster_order_lanes(block);
    for (uint64_t i = 0; i < n_tries && !engine_should_stop(block, i * 16); i++) rebuild_once(block);
}

#endif
