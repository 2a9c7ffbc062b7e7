/* What the checks of verify/ share: the two files, the classes of the release, and the findings so far. */
#ifndef KN_VERIFY_CHECKS_H
#define KN_VERIFY_CHECKS_H

#include "base/buffer.h"
#include "verify/row_groups.h"
#include "verify/meaning.h"
#include "verify/verify.h"

typedef struct kn_recount {
    const kn_verify_request *request;
    kn_sheet *release, *original; /* original: NULL when not given */
    /* One entry per column of the request. */
    uint32_t *in_release, *in_original; /* column index there, or KN_NONE */
    uint32_t **to_original; /* stored columns of both files: released text -> text of the original's dictionary */
    kn_reading *readings;   /* as the original's texts are (without it, the release's) */
    /* Quasi-identifiers, as indices into the request's columns. */
    uint32_t *qis;
    size_t n_qis;
    bool has_all_qis;       /* every QI is in the release, so classes can be counted */
    kn_key_column *keys;    /* of the classes */
    kn_row_groups *classes; /* rows of the release with equal QI cells */
    uint32_t *class_start, *class_rows;
    uint32_t suppressed_class;  /* the one with * everywhere, or KN_NONE */
    const uint32_t *order;      /* NULL when unknown or found wrong */
    uint32_t *class_persons;    /* NULL: rows are counted */
    const char *persons_reason; /* why rows are counted although there is a person column; NULL otherwise */
    KN_VECTOR(kn_check) checks;
} kn_recount;

/* Records a finding; `format` makes the detail. */
kn_status kn_recount_note(kn_recount *recount, const char *name, kn_check_state state, double worst, kn_error *err,
                          const char *format, ...) KN_PRINTF(6, 7);

/* "class age='30..39', sex='M' (4 rows, the first on line 17)". */
void kn_recount_show_class(kn_buffer *out, const kn_recount *recount, uint32_t class_index);
/* A cell of a file, quoted, at most 40 bytes, or "(redacted)". */
void kn_recount_show_text(kn_buffer *out, const kn_recount *recount, const kn_sheet_column *column, uint32_t code);

/* recount_models.c: one finding per model of the request. */
kn_status kn_recount_models(kn_recount *recount, kn_error *err);
/* compare_rows.c: what needs the original. */
kn_status kn_recount_compare(kn_recount *recount, kn_error *err);

#endif
