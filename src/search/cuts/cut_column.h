/* The best cuts of one column while all others stay: see cut_column.c. */
#ifndef KN_SEARCH_CUTS_CUT_COLUMN_H
#define KN_SEARCH_CUTS_CUT_COLUMN_H

#include "base/rng.h"
#include "search/cuts/cut_moves.h"

typedef struct kn_cut_path kn_cut_path;

kn_status kn_cut_path_new(kn_cut_path **out, const kn_cuts *cuts, const kn_items *items, kn_error *err);
void kn_cut_path_free(kn_cut_path *path);
/* Puts the best letters of column q into `in`, which `moves` has looked at last, and looks again; false when they are
 * the best already, or column q has nodes for letters. Columns of very many positions are cut at some of them only,
 * drawn by `rng`. */
bool kn_cut_column_best(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q, kn_rng *rng);
/* Puts a random set of letters of column q, none of them a node, into `in` and looks again: each with a chance
 * proportional to exp(-cost / temperature), a suppressed row costing `dearer` beyond its price. */
void kn_cut_column_draw(kn_cut_path *path, kn_cut_moves *moves, uint8_t *in, uint32_t q, double temperature,
                        double dearer, kn_rng *rng);

#endif
