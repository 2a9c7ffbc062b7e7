/* Heaviest matchings in general graphs, with the dual that proves them: the C side of LEMON.
 *
 * Dezso, Juttner, Kovacs, LEMON, an open source C++ graph template library, 2011; the algorithm is Edmonds' with
 * O(nm log n). Weights are whole numbers, so the answer is exact.
 *
 * For every edge of the graph
 *     dual(a) + dual(b) + (sum of the values of the blossoms that hold both) >= KN_MATCHING_SCALE * weight
 * and any edge that is not in the graph and satisfies it would not change the answer: so a large graph can be solved on
 * some of its edges, and those that the dual says are missing are added. Memory is C++'s own and in no account. */
#ifndef KN_SEARCH_APPROXIMATE_MATCHING_H
#define KN_SEARCH_APPROXIMATE_MATCHING_H

#include <kanon.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KN_MATCHING_SCALE = 4 };

typedef struct kn_matching_edge {
    uint32_t a, b;
    int64_t weight;
} kn_matching_edge;

typedef struct kn_matching {
    bool *used;        /* [edge] */
    int64_t *dual;     /* [vertex]; not below 0 where the matching need not be perfect */
    uint32_t *blossom; /* [vertex]: the smallest that holds it; UINT32_MAX: none */
    uint32_t n_blossoms;
    uint32_t *parent; /* [blossom]: the next larger one that holds it; UINT32_MAX: none */
    uint32_t *depth;  /* [blossom]: how many hold it, itself included */
    int64_t *sum;     /* [blossom]: its value and those of all that hold it */
} kn_matching;

typedef struct kn_matching_problem {
    uint32_t n_vertices;
    size_t n_edges;                /* below 2^30 */
    const kn_matching_edge *edges; /* no loops, weights below 2^58 */
    bool perfect;                  /* every vertex must be matched */
} kn_matching_problem;

struct kn_ticker;
/* KN_NOT_MET where a perfect matching is asked for and there is none; KN_RESOURCES where kanon was built without
 * LEMON. */
kn_status kn_matching_find(kn_matching *out, const kn_matching_problem *problem, struct kn_ticker *ticker,
                           kn_error *err);
void kn_matching_free(kn_matching *matching); /* what it holds */
/* About how much memory that takes. */
size_t kn_matching_bytes(uint32_t n_vertices, size_t n_edges);

/* Sum of the values of the blossoms that hold both vertices. */
static inline int64_t kn_matching_common(const kn_matching *matching, uint32_t a, uint32_t b)
{
    uint32_t x = matching->blossom[a], y = matching->blossom[b];
    while (x != y) {
        if (x == UINT32_MAX || y == UINT32_MAX) return 0;
        if (matching->depth[x] >= matching->depth[y]) x = matching->parent[x];
        else y = matching->parent[y];
    }
    return x == UINT32_MAX ? 0 : matching->sum[x];
}

/* The C++ side: fills arrays that are there, those by blossom with room for one per vertex. `stop` is asked now and
 * then. KN_USAGE: there is no LEMON. */
kn_status kn_lemon_find(kn_matching *out, const kn_matching_problem *problem, bool (*stop)(void *context),
                        void *context);

#ifdef __cplusplus
}
#endif

#endif
