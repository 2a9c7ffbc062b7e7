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
    kn_sheet *domains;            /* NULL: the original is a whole table */
    uint32_t in_domains[3];       /* where its columns column, value and rows are */
    /* One entry per column of the request. */
    uint32_t *in_release, *in_original; /* column index there, or KN_NONE */
    uint32_t **to_original; /* stored columns of both files: released text -> text of the original's dictionary */
    kn_reading *readings;   /* as the original's texts are (without it, the release's) */
    /* Quasi-identifiers, as indices into the request's columns. */
    uint32_t *qis;
    size_t n_qis;
    bool has_all_qis;                  /* every QI is in the release, so classes can be counted */
    kn_key_column *keys;               /* of the classes; bounds and means beside a label are keys, too */
    struct kn_released_bounds *bounds; /* released_bounds.h; one for each QI that has some */
    size_t n_bounds;
    uint32_t n_file_columns; /* of the release, before columns were made of bounds */
    kn_row_groups *classes;  /* rows of the release with equal QI cells */
    uint32_t *class_start, *class_rows;
    uint64_t *record_rows, *record_persons; /* per record of the original: what its counts say; NULL: there are none */
    uint32_t suppressed_class;              /* the one with * everywhere, or KN_NONE */
    const uint32_t *order;                  /* NULL when unknown or found wrong */
    uint32_t *found_order;                  /* behind `order` where it was found by fitting rows; otherwise NULL */
    bool asks_for_persons;                  /* somebody says that a person may have several rows */
    uint64_t *class_persons;                /* NULL: not known, or nobody asks */
    uint32_t *fewest_persons;               /* where they are not known but have a bound */
    kn_say persons_reason;                  /* why, where they are not known */
    kn_check *checks;                       /* one for each that is due, by slot; not made until somebody notes it */
    size_t n_checks, levels_slot;           /* the latter: SIZE_MAX where no lowest level is asked for */
} kn_recount;

/* Rows that a row of the release stands for: one, unless the original has counts. */
static inline uint64_t kn_recount_rows(const kn_recount *recount, uint32_t row)
{
    return recount->record_rows != NULL && recount->order != NULL ? recount->record_rows[recount->order[row]] : 1;
}
/* Of a group of rows: `members` is its list, `groups` has it. */
uint64_t kn_recount_group_rows(const kn_recount *recount, const kn_row_groups *groups, const uint32_t *start,
                               const uint32_t *members, uint32_t group);
uint64_t kn_recount_class_rows(const kn_recount *recount, uint32_t class_index);
/* What a cell of a count says, with blanks around it and a plus, or none; 0 where it is no whole number. */
uint64_t kn_recount_count_read(const char *bytes, size_t n_bytes);

/* Records a finding, once for each slot; the sentence is given away. */
kn_status kn_recount_note(kn_recount *recount, size_t slot, kn_check_state state, kn_buffer detail, kn_error *err);

/* The one of two sentences that calls persons as the request does. */
kn_say kn_recount_unit(const kn_recount *recount, kn_say person, kn_say household);
/* "class age='30..39', sex='M' (4 rows, first on line 17)", as a sentence. */
/* One more "name=cell" in a list of them. */
void kn_recount_add_cell(kn_buffer *cells, const char *name, const char *shown);
kn_buffer kn_recount_say_class(const kn_recount *recount, uint32_t class_index);
/* What messages call a column of the request. */
const char *kn_recount_column_shown(char buffer[KN_SHOWN_BYTES], const kn_recount *recount, uint32_t column);
/* A cell of a file, quoted, at most 40 bytes, or "(redacted)". */
const char *kn_recount_cell_shown(char buffer[KN_SHOWN_BYTES], const kn_recount *recount, const kn_sheet_column *column,
                                  uint32_t code);

/* Whether a row of the whole table's values is about this column of the request. */
bool kn_domains_row_is_of(const kn_recount *recount, uint32_t row, uint32_t column);

/* check_columns.c: the columns of the request, and those of the release. */
bool kn_verify_is_released(kn_role role);
size_t kn_verify_n_file_columns(const kn_verify_request *request);  /* the first ones; the others are derived */
uint32_t kn_verify_person_column(const kn_verify_request *request); /* KN_NONE: there is none */
bool kn_verify_is_unnamed(const kn_verify_request *request);        /* a release without a header */
/* The column of the request that a released one is, or KN_NONE: by name; in a file without a header by its place among
 * those that are released, or, where the release itself says which columns there are, among all. */
uint32_t kn_verify_column_of_released(const kn_verify_request *request, uint32_t index, const char *name);
/* Where the request's columns are in the release. */
kn_status kn_recount_place(kn_recount *recount, kn_error *err);
/* A name or a cell that is a formula without its guard, in a CSV file that should have guards, as a problem: a
 * spreadsheet would execute it. */
kn_buffer kn_recount_describe_unguarded(const kn_recount *recount);
kn_status kn_recount_check_columns(kn_recount *recount, kn_error *err);
kn_status kn_recount_check_identifiers(kn_recount *recount, kn_error *err);

/* read_files.c. As soon as the release is read its classes are made, while the original is still being read. */
kn_status kn_recount_read_files(kn_recount *recount, kn_error *err);
kn_status kn_recount_make_classes(kn_recount *recount, kn_error *err);

/* derive_columns.c: the columns that the request derives, added to the original. */
bool kn_derives_from(const kn_verify_request *request, const char *name);
kn_status kn_sheet_derive(kn_sheet *original, const kn_verify_request *request, kn_error *err);

/* recount_models.c: one finding per model of the request. */
const char *kn_recount_model_name(const kn_verify_model *model); /* static; "unknown model" for one that has no count */
kn_status kn_recount_models(kn_recount *recount, kn_error *err);
/* What every class must have for the models to hold, as far as it is plain to see: persons, and different values of
 * sensitive columns ([column of the request], zero before). *all: no model could ask for more persons. Needs the
 * original. */
kn_status kn_recount_least(uint64_t *persons, uint64_t *values, bool *all, kn_recount *recount, kn_error *err);
/* check_levels.c: whether a column has a lowest level, and a cell below it as a problem. `meaning`: of its texts. */
bool kn_recount_asks_for_levels(const kn_verify_request *request);
kn_status kn_recount_check_level(kn_buffer *problem, const kn_recount *recount, uint32_t column,
                                 const kn_meaning *meaning, kn_error *err);
/* compare_rows.c: what needs the original. */
kn_status kn_recount_compare(kn_recount *recount, kn_error *err);

#endif
