/* One column of a certificate: the values of the rows, and what the cells that they may share cost, in whole units.
 *
 * Nothing here was told by the search: values are ranked from the original's texts, prices follow from the measure's
 * definition.
 *
 *   NODES      one node of the tree
 *   INTERVALS  from one run of values to another. Runs are values side by side, few enough to look at all pairs; two
 *              runs cost what their nearest values cost. The missing value is in no interval: with others it gives
 *              everything.
 *   SETS       one value, or, where they are few, two; more are everything, at the price of the cheapest such set
 *
 * Cells that the rules allow and that are not among these hold one that is, and cost no less. */
#ifndef KN_VERIFY_CERTIFICATE_COLUMN_H
#define KN_VERIFY_CERTIFICATE_COLUMN_H

#include "base/sha256.h"
#include "verify/checks.h"

typedef enum kn_proof_cells { KN_PROOF_NODES, KN_PROOF_INTERVALS, KN_PROOF_SETS } kn_proof_cells;

enum { KN_PROOF_MOST_RUNS = 1024, KN_PROOF_MOST_PAIRED = 64 };

/* What a certificate says of a column. */
typedef struct kn_claimed_column {
    uint32_t index; /* of the original */
    double weight;
    kn_proof_cells cells;
    char *tree;       /* NODES: its digest */
    uint64_t n_parts; /* INTERVALS: runs; SETS: values of the largest set that is none of everything */
} kn_claimed_column;

typedef struct kn_proof_column {
    kn_proof_cells cells;
    const kn_domain *domain;
    uint32_t n_values; /* NODES: leaves; INTERVALS: distinct values, in order; SETS: as they come in the rows */
    uint32_t *value;   /* [row]; of INTERVALS, once they are priced, the run */
    uint32_t apart;    /* INTERVALS: the missing value, later its run; or KN_NONE */
    uint32_t *grid;    /* INTERVALS: [value]: its grid cell, counted from 0; NULL: there is no grid */
    uint32_t n_parts;  /* INTERVALS: runs; SETS: values; NODES: nodes */
    uint64_t *units;   /* NODES: [node]; otherwise [a * n_parts + b], a <= b */
    bool has_pairs;    /* SETS: of two values */
    uint64_t all;      /* units of everything; NODES: of the root */
} kn_proof_column;

/* Whether there may be a proof over this column of the request. */
bool kn_proof_is_possible(const kn_verify_request *request, uint32_t column, kn_proof_cells cells);
/* The rows' values; *is_known: every cell is one. */
kn_status kn_proof_place_rows(kn_proof_column *out, const kn_recount *recount, const kn_claimed_column *claim,
                              bool *is_known, kn_error *err);
/* Prices. *root and *discount grow by the column's; *is_known: the measure is a sum over such cells. */
kn_status kn_proof_price(kn_proof_column *column, const kn_recount *recount, const kn_claimed_column *claim,
                         double unit, double *root, double *discount, bool *is_known, kn_error *err);
void kn_proof_column_clear(kn_proof_column *column);

#endif
