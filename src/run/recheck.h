/* Hands a written file to the verifier: after anonymizing, with what the run knows, and for `kanon verify`. What comes
 * back is asked with kn_verdict_status. */
#ifndef KN_RUN_RECHECK_H
#define KN_RUN_RECHECK_H

#include "duckdb/duckdb.h"
#include "run/input.h"
#include "verify/verify.h"

typedef struct kn_written {
    const char *path, *name;   /* of the written file, and what messages call it */
    kn_file_kind kind;         /* of the written file, whose path may tell nothing */
    const kn_batches *batches; /* what was made in memory instead; NULL: `path` says where the release is */
    const char *original_path; /* NULL: not at hand */
    const char *certificate;   /* NULL: none */
    const kn_release *release; /* what a run meant to write: then every check must be made. NULL: somebody's file */
    const uint32_t *order;     /* original row of each released row; NULL: not known */
    uint32_t n_order;
    bool order_is_input; /* the user says that the rows stand as in the original */
    bool guesses_trees;  /* nobody said that columns without a hierarchy have automatic trees */
} kn_written;

kn_status kn_recheck(kn_verdict **out, kn_input *input, const kn_written *written, kn_error *err);

#endif
