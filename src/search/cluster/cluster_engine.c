/* The way into the engine: one job on one block. */
#include "search/cluster/cluster_classes.h"

void kn_cluster_run(kn_cluster_block *block, const kn_cluster_job *job)
{
    for (uint32_t h = 0; h < block->n_classes; h++) kn_class_refresh(block, h);
    switch (job->op) {
    case KN_CLUSTER_GREEDY:
    case KN_CLUSTER_ANNEAL: kn_cluster_anneal(block, job); break;
    case KN_CLUSTER_REPAIR: break;
    case KN_CLUSTER_REBUILD: kn_cluster_rebuild(block, job); break;
    }
    if (job->repair) kn_cluster_repair(block, job);
}
