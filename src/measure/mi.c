/* MI: the mutual information between original and released columns that is lost.
 *
 * [SC] (10): the mean over cells of -log Pr(X = value | X in cell), which is [GT]'s non-uniform entropy per cell under
 * the name that the later paper gives it. Monotone ([SC] Proposition 3), not uniform in a class. */
#include "measure/information.h"

const kn_measure kn_measure_mi = {
    .name = "mi",
    .summary = "mutual information of original and release that is lost, bits per cell",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (10)",
    .monotone = true,
    .per_cell = true,
    .price_cell = kn_information_price_cell,
    .price_counts = kn_information_price_counts,
    .value_discount = kn_information_value_discount,
};
