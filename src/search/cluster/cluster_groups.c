/* The groups of a site: the classes to be. Their members are numbers of the site's records; one more group holds the
 * records that stay outside. */
#include "search/cluster/cluster_site.h"

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

void kn_site_group_refresh(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_site *site = &block->site;
    const uint32_t *members = site->members[g], nv = block->n_vectors;
    int32_t n = site->size[g];
    lanes_copy(block, site->tail + (size_t)(n - 1) * nv, site_lanes(block, members[n - 1]));
    for (int32_t x = n - 2; x >= 0; x--)
        lanes_join(block, site->tail + (size_t)x * nv, site->tail + (size_t)(x + 1) * nv,
                   site_lanes(block, members[x]));
    lanes_copy(block, site_pattern(block, g), site->tail);
    site->price[g] = site_price(block, site->tail, members[0]);
    site->least_without[g] = site->price[g];
    kn_lanes *head = block->pattern_a;
    for (int32_t x = 0; x < n; x++) {
        kn_lanes *without = site->without + (size_t)members[x] * nv;
        if (x == 0) lanes_copy(block, without, n > 1 ? site->tail + nv : site->tail);
        else if (x == n - 1) lanes_copy(block, without, head);
        else lanes_join(block, without, head, site->tail + (size_t)(x + 1) * nv);
        site->without_price[members[x]] = n > 1 ? site_price(block, without, members[x == 0 ? n - 1 : 0]) : 0;
        if (site->without_price[members[x]] < site->least_without[g])
            site->least_without[g] = site->without_price[members[x]];
        if (x == 0) lanes_copy(block, head, site_lanes(block, members[0]));
        else lanes_join(block, head, head, site_lanes(block, members[x]));
    }
    site->persons[g] = 0;
    for (int32_t x = 0; x < n; x++) site->persons[g] += (int32_t)site_person(block, members[x]);
}
