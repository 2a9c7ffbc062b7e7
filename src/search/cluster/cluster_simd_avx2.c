/* The engine of `cluster` for x86 with AVX2; chosen at run time. */
#if defined(__x86_64__)
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#include "search/cluster/cluster_engine.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const kn_cluster_engine kn_cluster_engine_avx2 = {"avx2", usable, run};
#endif
