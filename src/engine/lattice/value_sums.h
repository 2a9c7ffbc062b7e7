/* What a pass over bundles adds up for the measures that look at sensitive values.
 *
 * Prices by cell and sensitive value: what suppressed rows paid in their cells and pay suppressed. Rows of a bundle are
 * counted by sensitive value, priced in the outer columns at once, and in inner columns and riders in the end, for all
 * nodes; rows that are suppressed in every node of the pass are counted once. Measures that look at all values of a
 * class: summed over the classes that hold, exactly. */
#ifndef KN_ENGINE_LATTICE_VALUE_SUMS_H
#define KN_ENGINE_LATTICE_VALUE_SUMS_H

#include "engine/lattice/bundle_classes.h"
#include "engine/lattice/full_domain.h"

typedef struct kn_value_sums kn_value_sums;
/* About how much memory it takes, for measures that price rows by cell and sensitive value. */
size_t kn_value_sums_bytes(const kn_lattice *lattice, uint32_t n_combos);
kn_status kn_value_sums_new(kn_value_sums **out, const kn_full_domain *domain, kn_error *err);
void kn_value_sums_free(kn_value_sums *values);
void kn_value_sums_clear(kn_value_sums *values, const kn_bundles *bundles);
/* Class j of a combo, where `held` has the rows that are released; added to combo `to`, n_combos for all of them. */
void kn_value_sums_held(kn_value_sums *values, kn_bundle_classes *classes, uint32_t combo, uint32_t j,
                        const kn_lanes4 held[4], uint32_t to);
/* `gone` = kn_lane_bits of the rows of a class that are suppressed at a combo. */
void kn_value_sums_gone(kn_value_sums *values, uint32_t to, uint32_t inner_value, uint32_t gone);
/* The suppressed rows of a bundle: as told for its classes at every combo; for its only class; all of them. */
typedef enum kn_bundle_shape { KN_BUNDLE_MIXED, KN_BUNDLE_SINGLE, KN_BUNDLE_SMALL } kn_bundle_shape;
void kn_value_sums_bundle(kn_value_sums *values, const kn_bundles *bundles, uint32_t bundle, kn_bundle_shape shape);
/* Once all bundles are in ... */
void kn_value_sums_price(kn_value_sums *values);
/* ... the sums of one node, [measure]: over the classes that hold, and what suppressed rows pay more. */
void kn_value_sums_node(kn_node_sums *sums, const kn_value_sums *values, uint32_t combo, uint32_t set);

#endif
