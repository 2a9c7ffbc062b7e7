/* The non-uniform entropy measure: hiding a rare value costs more than hiding a frequent one.
 *
 * [GT] (6): a row with value a in cell B costs -log Pr(a | B) = log rows(B) - log rows(a); reported per cell, in bits.
 * Monotone ([GT] Lemma 4.12), not uniform in a class. The second term does not depend on the release, so a search may
 * minimize the sum of the first alone. Under global recoding it equals the entropy measure ([GT] Lemma 4.13). */
#include "measure/information.h"

const kn_measure kn_measure_non_uniform_entropy = {
    .name = "non-uniform-entropy",
    .summary = "-log of the value's share of its cell, bits per cell",
    .citation = "Gionis, Tassa, k-anonymization with minimal loss of information, 2009, (6)",
    .monotone = true,
    .per_cell = true,
    .price_cell = kn_information_price_cell,
    .price_counts = kn_information_price_counts,
    .value_discount = kn_information_value_discount,
};
