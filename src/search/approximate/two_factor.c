/* 2-anonymity from a minimum-weight [1,2]-factor: at most twice the best loss, 1.5 times on binary data.
 *
 * [AF] 5 (Aggarwal et al. 2005, Theorem 6). In: distinct tuples. Out: classes of two and three rows. The factor
 * (factor.h) is a set of edges with one or two at every row; its paths are the classes. Rows with equal values make
 * edges of weight 0 and so longer paths and cycles; these are cut into runs of two and three, the cheapest way.
 *
 * A class costs at most three times its edges, since prices are sub-additive. The best classes of two or three rows
 * have a factor of at most half their cost on binary data, of two thirds for any monotone prices: so the ratios 1.5 and
 * 2, on any alphabet, tree or interval. Cost: some matchings of n rows and n times the edges that pricing opens. */
#include "search/approximate/approximate.h"
#include "search/approximate/factor.h"

static kn_status two_factor_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    static const kn_factor_claim claim = {.name = "two-factor",
                                          .theorem = "Aggarwal et al. 2005, Theorem 6, for any alphabet",
                                          .theorem_binary = "Aggarwal et al. 2005, Theorem 6",
                                          .k = 2,
                                          .ratio = 2,
                                          .ratio_binary = 1.5,
                                          .proof = KN_PROOF_NO_SUPPRESSION};
    return kn_factor_search(answer, task, &claim, err);
}

const kn_algorithm kn_algorithm_two_factor = {
    .name = "two-factor",
    .summary = "k=2: pairs and triples from a minimum-weight [1,2]-factor; at most twice the best loss",
    .citation = "Aggarwal et al., Approximation algorithms for k-anonymity, 2005, section 5",
    .recoding = KN_RECODING_LOCAL,
    .params = kn_factor_params,
    .n_params = KN_FACTOR_N_PARAMS,
    .needs_cell_measure = true,
    .only_k = 2,
    .all_or_nothing = true,
    .search = two_factor_search,
};
