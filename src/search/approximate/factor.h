/* Minimum-weight factors of the complete graph whose vertices are rows and whose weights are distances (near.h), for
 * two_factor.c and three_factor.c.
 *
 *   k=2   a [1,2]-factor: every vertex has one or two edges. [AF] 5
 *   k=3   a 2-factor: every vertex has two edges, no edge twice. [AF] 6
 *
 * By a heaviest matching (matching.h):
 *
 *   k=2   each vertex has a copy that must be matched and one that may; an edge of weight w joins the two that must
 *         (2M - w) and each of them with the other's second copy (M - w). Taking an edge twice never pays.
 *   k=3   each vertex has two copies, each edge a gadget of two vertices, joined with each other (0) and each with both
 *         copies of one end (-w): a perfect matching takes the gadget's own edge, or the edge once.
 *
 * Exact on the complete graph: solved on near neighbours; then every edge that is not there is held against the dual,
 * box by box, and those that it says are missing are added, until there are none. Distances are rounded to 2^-34 of the
 * largest possible one. */
#ifndef KN_SEARCH_APPROXIMATE_FACTOR_H
#define KN_SEARCH_APPROXIMATE_FACTOR_H

#include "search/search.h"

typedef struct kn_factor {
    uint32_t n;          /* rows */
    uint32_t *row;       /* [vertex] */
    uint32_t (*mate)[2]; /* [vertex]: the vertices at its edges; KN_NONE */
    double weight;
    uint32_t n_rounds; /* matchings that it took */
    size_t n_edges;    /* of the last one, not counting copies */
} kn_factor;

/* k is 2 or 3, and there are at least k rows. `block` > 0: at most about so many rows at a time, each part by itself.
 * `n_near`: neighbours of each row to begin with; the answer is the same for any number. */
kn_status kn_factor_find(kn_factor *out, uint32_t *n_blocks, const kn_task *task, uint32_t k, uint32_t block,
                         uint32_t n_near, kn_error *err);
enum { KN_FACTOR_NEAR = 8 };
void kn_factor_free(kn_factor *factor); /* what it holds */

/* What the two algorithms are, but for their constants. */
typedef struct kn_factor_claim {
    const char *name, *theorem, *theorem_binary;
    uint32_t k;
    double ratio, ratio_binary; /* any alphabet or tree; at most two values in every column */
    unsigned proof;
} kn_factor_claim;
kn_status kn_factor_search(kn_answer *answer, const kn_task *task, const kn_factor_claim *claim, kn_error *err);
extern const kn_param kn_factor_params[];
enum { KN_FACTOR_N_PARAMS = 2 };

#endif
