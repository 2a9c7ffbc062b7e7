/* What k-optimize knows between two rounds: open nodes by bound, the best release, counts. It can be saved and taken up
 * again; what is saved tells more about the data than a release does. */
#ifndef KN_SEARCH_CUTS_CUT_STATE_H
#define KN_SEARCH_CUTS_CUT_STATE_H

#include "search/cuts/cut_search.h"

typedef struct kn_cut_state {
    uint32_t n_letters;
    KN_VECTOR(kn_open_node) open; /* a heap: the lowest bound first, then the lowest number */
    uint64_t next_number;
    double best; /* INFINITY, or a cost that is known to be possible */
    bool has_best;
    uint8_t *letters; /* [letter]: of the best release */
    kn_cut_counts counts;
} kn_cut_state;

/* Takes `node` over, also when it fails; it comes from kn_array_alloc. */
kn_status kn_cut_state_push(kn_cut_state *state, double bound, uint8_t *node, kn_error *err);
uint8_t *kn_cut_state_pop(kn_cut_state *state); /* yours to kn_free */
void kn_cut_state_free(kn_cut_state *state);    /* what it holds, not the struct */

/* As bytes, and back. KN_INPUT for bytes that are none of ours or belong to another search: other data, columns,
 * models, measure or limit. */
kn_status kn_cut_state_save(kn_buffer *out, const kn_cut_state *state, const kn_cuts *cuts, kn_error *err);
kn_status kn_cut_state_load(kn_cut_state *state, const kn_cuts *cuts, const char *bytes, size_t n_bytes, kn_error *err);

#endif
