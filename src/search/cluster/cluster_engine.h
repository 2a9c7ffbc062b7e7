/* The engine: everything that runs on a block. Its files are compiled once per instruction set (meson.build): KN_SET is
 * the name of the set, and what the files share has it at the end of its name, so that all sets stand side by side in
 * the library and one is chosen at run time (cluster.c). The code is the same; the answers are too. */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_ENGINE_H
#define KN_SEARCH_CLUSTER_CLUSTER_ENGINE_H

#include "search/cluster/cluster.h"

#define KN_WITH_SUFFIX_(name, suffix) name##_##suffix
#define KN_WITH_SUFFIX(name, suffix)  KN_WITH_SUFFIX_(name, suffix)
#define KN_PER_SET(name)              KN_WITH_SUFFIX(name, KN_SET)

#define kn_class_refresh            KN_PER_SET(kn_class_refresh)
#define kn_class_take               KN_PER_SET(kn_class_take)
#define kn_class_join_without       KN_PER_SET(kn_class_join_without)
#define kn_class_grow               KN_PER_SET(kn_class_grow)
#define kn_class_new                KN_PER_SET(kn_class_new)
#define kn_class_delete             KN_PER_SET(kn_class_delete)
#define kn_classes_drop_empty       KN_PER_SET(kn_classes_drop_empty)
#define kn_class_is_good            KN_PER_SET(kn_class_is_good)
#define kn_classes_split            KN_PER_SET(kn_classes_split)
#define kn_class_find_best          KN_PER_SET(kn_class_find_best)
#define kn_cluster_anneal           KN_PER_SET(kn_cluster_anneal)
#define kn_cluster_repair           KN_PER_SET(kn_cluster_repair)
#define kn_cluster_rebuild          KN_PER_SET(kn_cluster_rebuild)
#define kn_site_choose              KN_PER_SET(kn_site_choose)
#define kn_site_take_suppressed     KN_PER_SET(kn_site_take_suppressed)
#define kn_site_take_donors         KN_PER_SET(kn_site_take_donors)
#define kn_site_home                KN_PER_SET(kn_site_home)
#define kn_site_may_go_outside      KN_PER_SET(kn_site_may_go_outside)
#define kn_site_group_new           KN_PER_SET(kn_site_group_new)
#define kn_site_group_add           KN_PER_SET(kn_site_group_add)
#define kn_site_group_merge         KN_PER_SET(kn_site_group_merge)
#define kn_site_group_count         KN_PER_SET(kn_site_group_count)
#define kn_site_group_counted_holds KN_PER_SET(kn_site_group_counted_holds)
#define kn_site_group_holds         KN_PER_SET(kn_site_group_holds)
#define kn_site_group_refresh       KN_PER_SET(kn_site_group_refresh)
#define kn_site_seed_group          KN_PER_SET(kn_site_seed_group)
#define kn_site_start               KN_PER_SET(kn_site_start)
#define kn_site_build               KN_PER_SET(kn_site_build)
#define kn_site_mend                KN_PER_SET(kn_site_mend)
#define kn_site_refine              KN_PER_SET(kn_site_refine)
#define kn_site_step                KN_PER_SET(kn_site_step)
#define kn_cluster_run              KN_PER_SET(kn_cluster_run)

/* The jobs: records move under noise; every class is made to hold; near classes are built anew.
 * Annealing: the temperature falls geometrically, the penalty rises linearly; greedy sweeps take records in turn. */
void kn_cluster_anneal(kn_cluster_block *block, const kn_cluster_job *job);
void kn_cluster_repair(kn_cluster_block *block, const kn_cluster_job *job);
void kn_cluster_rebuild(kn_cluster_block *block, const kn_cluster_job *job);

#endif
