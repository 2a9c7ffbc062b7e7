/* The table after reading: every column a dictionary and an array of codes as narrow as they fit.
 *
 * A column distinguishes *spellings* (the bytes of a cell: "1", "1.0", " 1") from *values* (what they mean: one
 * number). Codes in `codes` number the spellings; spellings are sorted by value (numbers by value, dates by time,
 * text by bytes), spellings of one value by bytes, the missing value last. So a copied cell is written with the bytes
 * it was read with, while classes are made of values. Usually every value has one spelling. */
#ifndef KN_TABLE_TABLE_H
#define KN_TABLE_TABLE_H

#include "base/memory.h"
#include "table/number_marks.h"

#include <stdint.h>

#define KN_NONE UINT32_MAX /* no code, no node, no class */

typedef enum kn_role {
    KN_ROLE_IDENTIFIER,  /* never leaves; the person column is one */
    KN_ROLE_QUASI,       /* generalized */
    KN_ROLE_SENSITIVE,   /* copied, protected by models */
    KN_ROLE_INSENSITIVE, /* copied */
    KN_ROLE_DROPPED      /* not listed by the user, left out */
} kn_role;

typedef enum kn_type { KN_TYPE_AUTO, KN_TYPE_INT, KN_TYPE_DECIMAL, KN_TYPE_DATE, KN_TYPE_TEXT } kn_type;

typedef struct kn_column {
    char *name;
    kn_role role;
    kn_type type; /* never AUTO after reading; AUTO where `codes` is NULL */
    bool is_person;

    /* All NULL or 0 for identifiers (except the person column) and dropped columns: they are not even stored. */
    uint32_t n_spellings;
    char *bytes;              /* the spellings one after the other, as read (after decoding to UTF-8 and --trim) */
    uint64_t *offset;         /* n_spellings + 1 */
    uint64_t *first_line;     /* line of the file where a spelling first stands, for messages */
    uint32_t *spelling_value; /* n_spellings, non-decreasing; NULL when spelling i is value i */
    uint32_t n_values;        /* the missing value included */
    bool has_missing;         /* then it is value n_values-1 */
    bool is_folded;           /* text whose values do not differ by case or blanks (fold_column.h); sorted by that */
    kn_marks marks;           /* numbers with marks; those of quasi-identifiers are kept without them */
    bool *is_invalid;         /* n_spellings: missing only because the declared type does not fit; NULL: none is */
    double *number;           /* n_values; INT, DECIMAL: the number; DATE: days since 1970-01-01; the missing one NAN */
    uint8_t code_bytes;       /* 1, 2 or 4 */
    void *codes;              /* n_rows spelling codes */
    const uint64_t *counts;   /* the table's; NULL: every record is one row */
    uint64_t *whole_rows; /* n_spellings: rows of the table that this one is a part of; NULL: it is no part. Some of the
                             spellings then stand in no row here */
} kn_column;

/* A table of an engine on top may stand for a longer one: each of its rows, here called record, for as many rows of
 * that one as its count says. `n_rows` is the number of records all the same, and codes are theirs; whoever counts rows
 * asks kn_column_count. */
typedef struct kn_table {
    char *source; /* file name, or table:NAME, for messages */
    uint32_t n_rows, n_columns;
    uint64_t n_counted;      /* rows that the records stand for, where there are counts */
    uint64_t *counts;        /* [record]; NULL: each stands for one */
    uint64_t *person_counts; /* [record]: persons found in no other record; 0: the person column tells who. Or NULL */
    kn_column *columns;
    uint32_t person; /* index of the person column, or KN_NONE */
} kn_table;

void kn_table_free(kn_table *table);
void kn_column_drop(kn_column *column);                          /* frees what it holds */
uint32_t kn_table_find(const kn_table *table, const char *name); /* column index, or KN_NONE */
const char *kn_role_name(kn_role role);
const char *kn_type_name(kn_type type);

static inline uint32_t kn_column_code(const kn_column *column, size_t row)
{
    switch (column->code_bytes) {
    case 1: return ((const uint8_t *)column->codes)[row];
    case 2: return ((const uint16_t *)column->codes)[row];
    default: return ((const uint32_t *)column->codes)[row];
    }
}

/* Rows that all records stand for. */
static inline uint64_t kn_table_rows(const kn_table *table)
{
    return table->counts != NULL ? table->n_counted : table->n_rows;
}

/* Rows that a record stands for. */
static inline uint64_t kn_column_count(const kn_column *column, size_t row)
{
    return column->counts != NULL ? column->counts[row] : 1;
}

static inline uint32_t kn_column_value(const kn_column *column, uint32_t spelling)
{
    return column->spelling_value != NULL ? column->spelling_value[spelling] : spelling;
}

static inline const char *kn_column_bytes(const kn_column *column, uint32_t spelling, size_t *n_bytes)
{
    *n_bytes = (size_t)(column->offset[spelling + 1] - column->offset[spelling]);
    return column->bytes + column->offset[spelling];
}

/* The spelling that stands for a value where rows spell it differently: the most frequent, ties by bytes.
 * *out has n_values entries, yours to kn_free. */
kn_status kn_column_main_spellings(uint32_t **out, const kn_column *column, uint32_t n_rows, kn_error *err);
/* How many rows hold each spelling; *out has n_spellings entries, yours to kn_free. */
kn_status kn_column_spelling_rows(uint64_t **out, const kn_column *column, uint32_t n_rows, kn_error *err);
/* The same of the whole table, where this one is a part of it. */
kn_status kn_column_whole_rows(uint64_t **out, const kn_column *column, uint32_t n_rows, kn_error *err);

/* Rows that its n_records records stand for. */
uint64_t kn_column_rows(const kn_column *column, uint32_t n_records);

/* Makes it a table with counts: of rows and, where that column is not KN_NONE, of persons. KN_INPUT for what is no
 * whole number of at least 1 and for more rows than can be counted. */
kn_status kn_table_count(kn_table *table, uint32_t count_column, uint32_t person_count_column, kn_error *err);

#endif
