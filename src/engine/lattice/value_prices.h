/* Tables of kn_value_prices, for measures that price a row by its cells and its sensitive value. */
#ifndef KN_ENGINE_LATTICE_VALUE_PRICES_H
#define KN_ENGINE_LATTICE_VALUE_PRICES_H

#include "engine/lattice/node_figures.h"

/* Whether the tables are small enough to have. */
bool kn_value_prices_fit(const kn_objective *objective);
kn_status kn_value_prices_new(kn_value_prices **out, const kn_lattice *lattice, const kn_objective *objective,
                              kn_error *err);
void kn_value_prices_free(kn_value_prices *prices, const kn_lattice *lattice);
/* Sum over all rows of the table at these levels, where suppressed ones pay `more`. */
long double kn_value_prices_sum(const kn_value_prices *prices, const uint32_t *levels, uint32_t n_qis,
                                const kn_value_sum *more);

#endif
