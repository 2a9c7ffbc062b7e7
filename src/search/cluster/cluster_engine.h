/* The engine: everything that runs on a block, as one text that each instruction set compiles for itself.
 * Include it once per file, after naming the engine: #define KN_ENGINE kn_cluster_engine_plain. */
#include "search/cluster/cluster_rebuild.h"
#include "search/cluster/cluster_repair.h"

static void run(kn_cluster_block *block, const kn_cluster_job *job)
{
    for (uint32_t h = 0; h < block->n_classes; h++) class_refresh(block, h);
    switch (job->op) {
    case KN_CLUSTER_GREEDY:
    case KN_CLUSTER_ANNEAL: anneal(block, job); break;
    case KN_CLUSTER_REPAIR: break;
    case KN_CLUSTER_REBUILD: rebuild(block, job); break;
    }
    if (job->repair) repair(block, job);
}
