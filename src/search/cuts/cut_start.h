/* The starting partition of a column: which cuts exist at all. */
#ifndef KN_SEARCH_CUTS_CUT_START_H
#define KN_SEARCH_CUTS_CUT_START_H

#include "search/cuts/cuts.h"

/* Fills start and n_positions of column q: positions begin at values of the data, or, with coarse=, where a multiple of
 * the width lies between two, or, with start=classes, where the first sensitive column changes; columns whose parts are
 * nodes have a position for every leaf. */
kn_status kn_cut_start(kn_cut_column *column, uint32_t q, const kn_task *task, kn_error *err);
/* KN_USAGE when coarse= names what is no quasi-identifier of numbers, or no width. */
kn_status kn_cut_check_coarse(const kn_task *task, bool nodes, kn_error *err);

#endif
