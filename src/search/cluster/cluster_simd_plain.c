/* The engine of `cluster` for any machine; the reference for the others. */
#include "search/cluster/cluster_engine.h"

static bool usable(void) { return true; }

const kn_cluster_engine kn_cluster_engine_plain = {"plain", usable, run};
