/* Large-neighbourhood search: take a class and one to three near ones, build classes anew from their records and from
 * records that other near classes can spare ("donors"), refine them by single moves and swaps, and keep the result
 * when it is not worse (plateaus matter: most paths to a better state lead over equal ones). Every state that is kept
 * holds all models. Dear classes are taken more often: in tables with many equal rows half of the classes lose
 * nothing, and tries around those change nothing.
 *
 * Records that do not fit go as "guests" to any class of the block that contains them already: that costs its price
 * and changes nothing for the others there, so guests are independent of each other, and a class that has become too
 * dear can be given up although its neighbours have no use for its records.
 *
 * While there is heat, a site may also become dearer, by an exponentially distributed part of its price: what is built
 * from a few classes is soon as good as these allow, and the way to anything better leads over something worse. */
#include "search/cluster/cluster_site.h"

/* Groups that cost more by so great a part (one in HOPELESS) are not refined. Under models that look at sensitive
 * values most groups are dear at first: 10,000 people, t-closeness, after 700,000 looks 0.2077 in 14.6 CPU seconds
 * without a limit, 0.2079 in 6.4 with 2, 0.2110 in 4.9 with 4. */
enum { HOPELESS = 7, HOPELESS_BY_VALUES = 2 };

static int64_t exact_class(kn_cluster_block *block, uint32_t h)
{
    kn_cluster_class *class = &block->classes[h];
    if (!class->has_exact)
        class->exact =
            kn_cluster_exact(block, class_members(block, h), (uint32_t) class->size, class_pattern(block, h));
    class->has_exact = true;
    return class->exact;
}

/* What the records of the chosen classes, the suppressed ones and the donors that leave pay now. Donors that stay at
 * home count neither here nor afterwards; nor does what their homes gain. */
static int64_t exact_before(kn_cluster_block *block, const uint32_t *chosen, uint32_t n_chosen, uint32_t n_suppressed)
{
    const kn_cluster_site *site = &block->site;
    int64_t total = n_suppressed * block->problem->exact_root, home_price = 0;
    uint32_t home = KN_NONE;
    for (uint32_t g = 0; g < n_chosen; g++) total += block->classes[chosen[g]].size * exact_class(block, chosen[g]);
    memset(site->taken, 0, site->n);
    for (uint32_t g = 0; g < site->n_groups; g++)
        for (int32_t x = 0; x < site->size[g]; x++) site->taken[site->members[g][x]] = 1;
    for (uint32_t x = site->first_donor; x < site->n; x++) {
        if (!site->taken[x]) continue;
        if (block->class_of[site->record[x]] != home) {
            home = block->class_of[site->record[x]];
            home_price = exact_class(block, home);
        }
        total += home_price;
    }
    return total;
}

/* The same records afterwards; nor does it count that guests may find their classes cheaper. */
static int64_t exact_after(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    int64_t total = site->n_suppressed * block->problem->exact_root;
    for (int32_t x = 0; x < site->size[OUTSIDE]; x++) {
        uint32_t guest = site->members[OUTSIDE][x];
        if (guest < site->first_donor && site->home[guest] != KN_NONE) total += exact_class(block, site->home[guest]);
    }
    for (uint32_t g = 0; g < site->n_groups; g++) {
        for (int32_t x = 0; x < site->size[g]; x++) block->targets[x] = site->record[site->members[g][x]];
        total +=
            site->size[g] * kn_cluster_exact(block, block->targets, (uint32_t)site->size[g], site_pattern(block, g));
    }
    return total;
}

/* By units where they leave no doubt, otherwise by exact prices; not much worse where there is heat. */
static bool site_is_not_worse(kn_cluster_block *block, int64_t before, const uint32_t *chosen, uint32_t n_chosen,
                              uint32_t n_suppressed)
{
    const kn_cluster_problem *problem = block->problem;
    const double allowed = kn_cluster_allowed(block, block->site.heat);
    int64_t after = site_total(block), doubt = 0;
    block->site.gains = after < before;
    before = (int64_t)((double)before * allowed);
    if (!problem->units_exact)
        doubt = problem->units_close ? (int64_t)block->site.n * problem->tuples->n_qis : INT64_MAX / 4;
    if (after > before + doubt) return false;
    if (after + doubt < before || doubt == 0) return true;
    before = exact_before(block, chosen, n_chosen, n_suppressed);
    after = exact_after(block);
    block->site.gains = after < before;
    return after <= (int64_t)((double)before * allowed);
}

/* Does class h hold once its donors have left and its guests have come? `taken` marks the records in the groups. */
static bool home_holds(kn_cluster_block *block, uint32_t h)
{
    const kn_cluster_site *site = &block->site;
    const uint32_t *members = class_members(block, h);
    uint32_t n = (uint32_t)block->classes[h].size;
    int32_t n_persons = block->classes[h].persons;
    memcpy(block->targets, members, n * sizeof *block->targets);
    for (uint32_t x = site->first_donor; x < site->n; x++) {
        if (site->home[x] != h || !site->taken[x]) continue;
        block->targets[block->place[site->record[x]]] = KN_NONE;
        n_persons -= (int32_t)site_person(block, x);
    }
    uint32_t n_kept = 0;
    for (uint32_t y = 0; y < n; y++)
        if (block->targets[y] != KN_NONE) block->targets[n_kept++] = block->targets[y];
    for (int32_t y = 0; y < site->size[OUTSIDE]; y++) {
        uint32_t x = site->members[OUTSIDE][y];
        if (x >= site->first_donor || site->home[x] != h) continue;
        block->targets[n_kept++] = site->record[x];
        n_persons += (int32_t)site_person(block, x);
    }
    return kn_cluster_holds(block, block->targets, n_kept, n_persons);
}

/* Do all classes that donors leave and that guests join hold afterwards? Sizes are seen to already. */
static bool homes_hold(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    if (block->problem->counts_only || site->way != KN_CLUSTER_EXCHANGE) return true;
    memset(site->taken, 1, site->n);
    for (int32_t y = 0; y < site->size[OUTSIDE]; y++) site->taken[site->members[OUTSIDE][y]] = 0;
    for (uint32_t x = 0; x < site->n; x++) {
        bool moves = site->taken[x] == (x >= site->first_donor);
        uint32_t h = moves && site->home_known[x] ? site->home[x] : KN_NONE, earlier = 0;
        while (earlier < x && !(site->taken[earlier] == (earlier >= site->first_donor) && site->home[earlier] == h))
            earlier++;
        if (h == KN_NONE || earlier < x || home_holds(block, h)) continue;
        return false;
    }
    return true;
}

/* Donors that have found a group leave their homes. */
static void donors_leave(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    memset(site->taken, 0, site->n);
    for (int32_t x = 0; x < site->size[OUTSIDE]; x++) site->taken[site->members[OUTSIDE][x]] = 1;
    for (uint32_t x = site->first_donor; x < site->n; x++)
        if (!site->taken[x]) class_remove(block, site->record[x]);
    for (uint32_t x = site->first_donor, last = KN_NONE; x < site->n; x++) {
        uint32_t home = block->class_of[site->record[x]];
        if (site->taken[x] || home == last) continue;
        kn_class_refresh(block, home);
        last = home;
    }
}

/* The groups take the place of the chosen classes. */
static void site_keep(kn_cluster_block *block, uint32_t *chosen, uint32_t n_chosen, uint32_t n_suppressed)
{
    kn_cluster_site *site = &block->site;
    for (uint32_t g = 0; g < n_chosen; g++) block->classes[chosen[g]].size = block->classes[chosen[g]].persons = 0;
    donors_leave(block);
    for (uint32_t g = 0; g < site->n_groups; g++) {
        uint32_t h = g < n_chosen ? chosen[g] : kn_class_new(block);
        for (int32_t x = 0; x < site->size[g]; x++) class_add(block, h, site->record[site->members[g][x]]);
        class_put_pattern(block, h, site_pattern(block, g), class_members(block, h)[0]);
        class_set_gate(block, h);
    }
    block->n_suppressed -= n_suppressed;
    for (int32_t x = 0; x < site->size[OUTSIDE]; x++) {
        uint32_t record = site->record[site->members[OUTSIDE][x]], home = site->home[site->members[OUTSIDE][x]];
        if (site->members[OUTSIDE][x] >= site->first_donor) continue;
        if (home != KN_NONE) {
            class_add(block, home, record);
            kn_class_refresh(block, home); /* donors may have left it smaller */
            continue;
        }
        block->suppressed[block->n_suppressed++] = record;
        block->class_of[record] = KN_NONE;
    }
    while (n_chosen > site->n_groups) { /* the highest first: class_delete moves the last class */
        uint32_t highest = site->n_groups;
        for (uint32_t g = site->n_groups + 1; g < n_chosen; g++)
            if (chosen[g] > chosen[highest]) highest = g;
        kn_class_delete(block, chosen[highest]);
        chosen[highest] = chosen[--n_chosen];
    }
}

static bool rebuild_once(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    kn_cluster_site *site = &block->site;
    uint32_t chosen[MAX_CHOSEN + MAX_DONOR_CLASSES], n_near, n_chosen = kn_site_choose(block, chosen, &n_near);
    if (n_chosen == 0 || (n_chosen < 2 && block->n_classes > 1)) return false;
    uint32_t n_suppressed = kn_site_take_suppressed(block);
    site->first_donor = site->n;
    site->chosen = chosen;
    site->n_chosen = n_chosen;
    site->homes_known = false;
    for (uint32_t g = n_chosen; g < n_near && site->way == KN_CLUSTER_EXCHANGE; g++)
        kn_site_take_donors(block, chosen[g]);
    uint32_t max_suppressed = block->max_suppressed - (block->n_suppressed - n_suppressed);
    int64_t before = (int64_t)n_suppressed * problem->root_units, donors = 0;
    for (uint32_t g = 0; g < n_chosen; g++)
        before += (int64_t)block->classes[chosen[g]].size * block->classes[chosen[g]].price;
    for (uint32_t x = site->first_donor; x < site->n; x++) donors += site->outside_price[x];
    const int64_t hopeless = before / (problem->counts_only ? HOPELESS : HOPELESS_BY_VALUES);
    const int64_t most = problem->units_lead ? before + hopeless + donors : INT64_MAX;
    before += donors;
    block->work += site->n / 8;
    site->n_tried[site->way]++;
    if (site->way == KN_CLUSTER_STEP) {
        if (!kn_site_step(block, chosen, n_chosen, max_suppressed)) return false;
    } else {
        if (!kn_site_build(block, max_suppressed, most)) return false;
        if (!problem->counts_only && !kn_site_mend(block)) return false;
        if (site_total(block) > most) return false;
        kn_site_refine(block, max_suppressed);
    }
    if (!site_is_not_worse(block, before, chosen, n_chosen, n_suppressed)) return false;
    if (!homes_hold(block) || block->n_classes + site->n_groups > block->class_capacity) return false;
    site->n_gained[site->way] += site->gains;
    site_keep(block, chosen, n_chosen, n_suppressed);
    return true;
}

void kn_cluster_rebuild(kn_cluster_block *block, const kn_cluster_job *job)
{
    uint64_t n_tries = (uint64_t)(job->tries_per_class * block->n_classes) + 1;
    memset(block->site.n_tried, 0, sizeof block->site.n_tried);
    memset(block->site.n_gained, 0, sizeof block->site.n_gained);
    block->site.heat = job->heat;
    kn_cluster_near_noise(block, job->near_noise);
    for (uint64_t i = 0; i < n_tries && block->work < job->max_work && !engine_should_stop(block, i * 16); i++)
        rebuild_once(block);
}
