/* What a pass over blocks adds up for the measures that look at sensitive values (node_figures.h).
 *
 * Prices by cell and sensitive value: suppressed rows are counted by position and sensitive value, column by column,
 * and priced in the end, node by node. Rows that are suppressed in every node of the pass are counted once. Measures
 * that look at all values of a class: summed over the classes that hold, exactly. */
#ifndef KN_ENGINE_LATTICE_VALUE_FIGURES_H
#define KN_ENGINE_LATTICE_VALUE_FIGURES_H

#include "engine/lattice/block_sums.h"
#include "engine/lattice/node_figures.h"

typedef struct kn_value_figures kn_value_figures;
/* About how much memory it takes, for measures that price rows by cell and sensitive value. */
size_t kn_value_figures_bytes(const kn_lattice *lattice, uint32_t n_combos);
/* *out is NULL where the blocks carry no sensitive values. */
kn_status kn_value_figures_new(kn_value_figures **out, const kn_figures *figures, kn_error *err);
void kn_value_figures_free(kn_value_figures *values);
/* Wide vectors, where the processor has them: the same figures. */
void kn_value_figures_use_vectors(kn_value_figures *values, bool yes);
void kn_value_figures_clear(kn_value_figures *values, const kn_blocks *blocks);
/* Class j of a combo, where `held` has the rows that are released. `single`: the block has one entry. */
void kn_value_figures_held(kn_value_figures *values, kn_histogram_scan *scan, uint32_t combo, uint32_t j,
                           const kn_lanes4 held[4], bool single);
/* `gone` = kn_lane_bits of the rows of a class that are suppressed at a combo; 0 where none are. */
void kn_value_figures_gone(kn_value_figures *values, uint32_t combo, uint32_t inner_value, uint32_t gone);
/* The suppressed rows of a block. `all_gone`: KN_NONE, as told by kn_value_figures_gone for all its classes; otherwise
 * that of all classes at every combo. `positions`: of the outer columns, in the list of all. */
void kn_value_figures_rows(kn_value_figures *values, const kn_blocks *blocks, uint32_t block, const uint32_t *positions,
                           uint32_t all_gone);
/* Whether what was added up of shares of the blocks can be put together: where rows are not counted. */
bool kn_value_figures_may_split(const kn_value_figures *values);
void kn_value_figures_add(kn_value_figures *values, const kn_value_figures *more);
/* Once all blocks are in ... */
void kn_value_figures_price(kn_value_figures *values, const kn_blocks *blocks);
/* ... the sums of one node. */
void kn_value_figures_node(kn_node_sums *node, const kn_value_figures *values, uint32_t combo, uint32_t set);

#endif
