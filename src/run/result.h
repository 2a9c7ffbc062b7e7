/* What a job hands to its caller: finished texts, and a table where one was made in memory. */
#ifndef KN_RUN_RESULT_H
#define KN_RUN_RESULT_H

#include "base/buffer.h"
#include "table/batches.h"
#include "table/text_form.h"

enum { KN_N_KEPT = 6 }; /* as many as there are targets */

struct kn_result {
    char *json, *text, *warnings; /* any may be NULL: empty */
    kn_batches *batches;          /* a release that was made in memory; NULL: there is none */
    kn_text_form form;            /* of the file that it would have been */
    char *null_text;              /* what its nulls are in that file */
    uint32_t *records;            /* of a table with counts, per released row: its record, from 0; otherwise NULL */
    size_t n_records;
    struct kn_kept {
        const char *option;
        char *text; /* NULL: not kept */
    } kept[KN_N_KEPT];
};

kn_status kn_result_new(kn_result **out, kn_error *err);

#endif
