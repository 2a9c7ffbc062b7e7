/* Prices of parts, for measures that are sums over cells. */
#ifndef KN_SEARCH_CUTS_CUT_PRICES_H
#define KN_SEARCH_CUTS_CUT_PRICES_H

#include "search/cuts/cuts.h"

/* Fills the columns' prices, root_price and discount. KN_USAGE where the measure cannot price such parts. */
kn_status kn_cut_prices(kn_cuts *cuts, const kn_task *task, kn_error *err);

#endif
