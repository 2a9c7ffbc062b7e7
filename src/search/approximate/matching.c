/* Matchings, less what LEMON does. */
#include "search/approximate/matching.h"

#include "base/memory.h"
#include "base/tick.h"

static bool stop(void *context) { return kn_tick(context, "matching", -1, NULL) != KN_OK; }

kn_status kn_matching_find(kn_matching *out, const kn_matching_problem *problem, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t n = problem->n_vertices;
    *out = (kn_matching){0};
    KN_NEW(out->used, problem->n_edges);
    KN_NEW(out->dual, n);
    KN_NEW(out->blossom, n);
    KN_NEW(out->parent, n);
    KN_NEW(out->depth, n);
    KN_NEW(out->sum, n);
    switch (kn_lemon_find(out, problem, stop, ticker)) {
    case KN_OK: break;
    case KN_NOT_MET: KN_FAIL(KN_NOT_MET, "the graph has no perfect matching");
    case KN_INTERRUPTED: KN_TRY(kn_tick(ticker, "matching", -1, err)); KN_FAIL(KN_INTERRUPTED, "interrupted");
    case KN_USAGE:
        KN_FAIL(
            KN_RESOURCES,
            "this kanon was built without LEMON, which finds matchings; install it (Debian: liblemon-dev) and build "
            "again, or choose algorithm forest or cover");
    default: KN_FAIL(KN_RESOURCES, "out of memory");
    }
done:
    if (status != KN_OK) kn_matching_free(out);
    return status;
}

void kn_matching_free(kn_matching *matching)
{
    kn_free(matching->used);
    kn_free(matching->dual);
    kn_free(matching->blossom);
    kn_free(matching->parent);
    kn_free(matching->depth);
    kn_free(matching->sum);
    *matching = (kn_matching){0};
}

/* As measured with LEMON 1.3.1 on 64 bits, rounded up. */
size_t kn_matching_bytes(uint32_t n_vertices, size_t n_edges) { return 500 * (size_t)n_vertices + 200 * n_edges; }
