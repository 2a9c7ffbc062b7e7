/* 3-anonymity from a minimum-weight 2-factor: at most three times the best loss, twice on binary data.
 *
 * [AF] 6 (Aggarwal et al. 2005, Lemmas 10 and 11). In: distinct tuples. Out: classes of three to five rows. The factor
 * (factor.h) is a set of cycles through all rows; a cycle of up to five rows is a class, a longer one is cut into runs
 * of three to five, the cheapest way of all, so no dearer than Lemma 11's.
 *
 * On any tree, and for intervals under LM: the cheapest cycle through a class of 3, 4 or 5 rows weighs at most what the
 * class costs (its edges are no longer than the class's price, and the cheapest cycle no longer than their mean), and
 * the closure of a cycle costs a row at most half its length (a column that goes out of a subtree comes back). With
 * Lemma 11: ratio 3. On binary data the cycle weighs at most two thirds of the class: ratio 2. Sets lack the second
 * property. Cost: some matchings of n rows with a gadget per edge. */
#include "search/approximate/approximate.h"
#include "search/approximate/factor.h"

static kn_status three_factor_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    static const kn_factor_claim claim = {.name = "three-factor",
                                          .theorem = "Aggarwal et al. 2005, Lemma 11, cycles of at most the best loss",
                                          .theorem_binary = "Aggarwal et al. 2005, Lemmas 10 and 11",
                                          .k = 3,
                                          .ratio = 3,
                                          .ratio_binary = 2,
                                          .proof = KN_PROOF_NO_SUPPRESSION | KN_PROOF_NO_SETS};
    return kn_factor_search(answer, task, &claim, err);
}

const kn_algorithm kn_algorithm_three_factor = {
    .name = "three-factor",
    .summary = "k=3: classes from the cycles of a minimum-weight 2-factor; at most three times the best loss",
    .citation = "Aggarwal et al., Approximation algorithms for k-anonymity, 2005, section 6",
    .recoding = KN_RECODING_LOCAL,
    .params = kn_factor_params,
    .n_params = KN_FACTOR_N_PARAMS,
    .needs_cell_measure = true,
    .only_k = 3,
    .all_or_nothing = true,
    .search = three_factor_search,
};
