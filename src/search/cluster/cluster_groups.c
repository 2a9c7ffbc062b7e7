/* The groups of a site: the classes to be. Their members are numbers of the site's records; one more group holds the
 * records that stay outside. */
#include "search/cluster/cluster_site.h"

enum { PART = 16, LARGE_GROUP = 3 * PART };

uint32_t kn_site_group_new(kn_cluster_block *block, uint32_t x)
{
    kn_cluster_site *site = &block->site;
    uint32_t g = site->n_groups++;
    site->members[g][0] = x;
    site->size[g] = 1;
    site->persons[g] = (int32_t)site_person(block, x);
    if (x >= site->first_donor) note_outside(site, x, false);
    lanes_copy(block, site_pattern(block, g), site_lanes(block, x));
    site->price[g] = site_price(block, site_pattern(block, g), x);
    return g;
}

void kn_site_group_add(kn_cluster_block *block, uint32_t g, uint32_t x)
{
    kn_cluster_site *site = &block->site;
    site->members[g][site->size[g]++] = x;
    if ((g == OUTSIDE) != (x >= site->first_donor)) note_outside(site, x, g == OUTSIDE);
    if (g == OUTSIDE) return;
    site->persons[g] += (int32_t)site_person(block, x);
    lanes_join(block, site_pattern(block, g), site_pattern(block, g), site_lanes(block, x));
    site->price[g] = site_price(block, site_pattern(block, g), x);
}

void kn_site_group_merge(kn_cluster_block *block, uint32_t g, uint32_t into)
{
    kn_cluster_site *site = &block->site;
    memcpy(site->members[into] + site->size[into], site->members[g], (size_t)site->size[g] * sizeof *site->members[g]);
    site->size[into] += site->size[g];
    site->persons[into] += site->persons[g];
    lanes_join(block, site_pattern(block, into), site_pattern(block, into), site_pattern(block, g));
    site->price[into] = site_price(block, site_pattern(block, into), site->members[into][0]);
    uint32_t last = --site->n_groups;
    if (g == last) return;
    uint32_t *emptied = site->members[g];
    site->members[g] = site->members[last];
    site->members[last] = emptied;
    site->size[g] = site->size[last];
    site->persons[g] = site->persons[last];
    site->price[g] = site->price[last];
    lanes_copy(block, site_pattern(block, g), site_pattern(block, last));
}

void kn_site_group_count(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_site *site = &block->site;
    if (block->problem->counts_only) return;
    for (int32_t x = 0; x < site->size[g]; x++) block->targets[x] = site->record[site->members[g][x]];
    kn_cluster_count(block, block->targets, (uint32_t)site->size[g]);
}

bool kn_site_group_counted_holds(const kn_cluster_block *block, uint32_t g)
{
    const kn_cluster_site *site = &block->site;
    if (site->persons[g] < (int32_t)block->problem->k) return false;
    return block->problem->counts_only || kn_cluster_counted_hold(block, (uint32_t)site->size[g], site->persons[g]);
}

bool kn_site_group_holds(kn_cluster_block *block, uint32_t g)
{
    if (block->site.persons[g] < (int32_t)block->problem->k) return false;
    kn_site_group_count(block, g);
    return kn_site_group_counted_holds(block, g);
}

/* What the group is without each of n members, which follow each other: `rest` is the join of all others, or NULL.
 * `tail` has room for n patterns. */
static void refresh_part(kn_cluster_block *block, uint32_t g, const uint32_t *members, int32_t n, const kn_lanes *rest,
                         kn_lanes *tail)
{
    kn_cluster_site *site = &block->site;
    const uint32_t nv = block->n_vectors, *all = site->members[g];
    kn_lanes *head = block->pattern_a;
    for (int32_t x = n - 1; x > 0; x--) {
        const kn_lanes *behind = x < n - 1 ? tail + (size_t)(x + 1) * nv : rest;
        if (behind != NULL) lanes_join(block, tail + (size_t)x * nv, behind, site_lanes(block, members[x]));
        else lanes_copy(block, tail + (size_t)x * nv, site_lanes(block, members[x]));
    }
    for (int32_t x = 0; x < n; x++) {
        const kn_lanes *behind = x < n - 1 ? tail + (size_t)(x + 1) * nv : rest;
        kn_lanes *without = site->without + (size_t)members[x] * nv;
        if (x == 0) lanes_copy(block, without, behind);
        else if (behind == NULL) lanes_copy(block, without, head);
        else lanes_join(block, without, head, behind);
        if (x == 0) lanes_copy(block, head, site_lanes(block, members[0]));
        else lanes_join(block, head, head, site_lanes(block, members[x]));
        site->is_spare[members[x]] = lanes_same(block, without, site_pattern(block, g));
        site->without_price[members[x]] =
            site->is_spare[members[x]]
                ? site->price[g]
                : site_price(block, without, members[x] == all[0] ? all[site->size[g] - 1] : all[0]);
        if (site->without_price[members[x]] < site->least_without[g])
            site->least_without[g] = site->without_price[members[x]];
    }
}

/* The joins of the group's parts behind each other in `joins`, and then of each with all that follow it. */
static void join_parts(kn_cluster_block *block, uint32_t g, uint32_t n_parts, kn_lanes *joins)
{
    const kn_cluster_site *site = &block->site;
    const uint32_t nv = block->n_vectors, n = (uint32_t)site->size[g];
    for (uint32_t p = n_parts; p-- > 0;) {
        kn_lanes *join = joins + (size_t)p * nv, *behind = joins + (size_t)(n_parts + p) * nv;
        const uint32_t *members = site->members[g] + p * PART;
        lanes_copy(block, join, site_lanes(block, members[0]));
        for (uint32_t x = 1; x < PART && p * PART + x < n; x++)
            lanes_join(block, join, join, site_lanes(block, members[x]));
        if (p + 1 < n_parts) lanes_join(block, behind, join, behind + nv);
        else lanes_copy(block, behind, join);
    }
}

/* A large group has mostly records that are like others: where all parts but one have the whole pattern already, no
 * record of that one is missed. */
static void refresh_large(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_site *site = &block->site;
    const uint32_t nv = block->n_vectors, n = (uint32_t)site->size[g], n_parts = (n + PART - 1) / PART;
    kn_lanes *joins = site->tail, *behind = joins + (size_t)n_parts * nv, *scratch = behind + (size_t)n_parts * nv;
    kn_lanes *head = block->pattern_b, *rest = scratch + (size_t)PART * nv;
    join_parts(block, g, n_parts, joins);
    lanes_copy(block, site_pattern(block, g), behind);
    site->least_without[g] = site->price[g] = site_price(block, behind, site->members[g][0]);
    for (uint32_t p = 0; p < n_parts; p++) {
        const uint32_t *members = site->members[g] + p * PART, size = n - p * PART < PART ? n - p * PART : PART;
        const kn_lanes *after = behind + (size_t)(p + 1) * nv;
        if (p == 0) lanes_copy(block, rest, after);
        else if (p + 1 == n_parts) lanes_copy(block, rest, head);
        else lanes_join(block, rest, head, after);
        if (p == 0) lanes_copy(block, head, joins);
        else lanes_join(block, head, head, joins + (size_t)p * nv);
        if (!lanes_same(block, rest, site_pattern(block, g))) {
            refresh_part(block, g, members, (int32_t)size, rest, scratch);
            continue;
        }
        for (uint32_t x = 0; x < size; x++) {
            site->is_spare[members[x]] = 1;
            site->without_price[members[x]] = site->price[g];
        }
    }
}

void kn_site_group_refresh(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_site *site = &block->site;
    const uint32_t *members = site->members[g];
    int32_t n = site->size[g];
    if (n >= LARGE_GROUP) {
        refresh_large(block, g);
    } else {
        lanes_copy(block, site_pattern(block, g), site_lanes(block, members[0]));
        for (int32_t x = 1; x < n; x++)
            lanes_join(block, site_pattern(block, g), site_pattern(block, g), site_lanes(block, members[x]));
        site->least_without[g] = site->price[g] = site_price(block, site_pattern(block, g), members[0]);
        if (n > 1) {
            refresh_part(block, g, members, n, NULL, site->tail);
        } else {
            site->is_spare[members[0]] = 1;
            site->least_without[g] = site->without_price[members[0]] = 0;
        }
    }
    site->persons[g] = 0;
    for (int32_t x = 0; x < n; x++) site->persons[g] += (int32_t)site_person(block, members[x]);
}
