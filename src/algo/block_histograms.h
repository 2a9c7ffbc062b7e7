/* The nodes of a block where models look at the sensitive columns: as kn_evaluate_blocks, with histograms as lanes. */
#ifndef KN_ALGO_BLOCK_HISTOGRAMS_H
#define KN_ALGO_BLOCK_HISTOGRAMS_H

#include "algo/full_domain.h"

typedef struct kn_block_histograms kn_block_histograms; /* scratch of one thread */

kn_status kn_block_histograms_new(kn_block_histograms **out, const kn_full_domain *domain, kn_error *err);
void kn_block_histograms_free(kn_block_histograms *scratch);
void kn_evaluate_histogram_blocks(kn_node *out, kn_block_histograms *scratch, const kn_blocks *blocks, bool details);

#endif
