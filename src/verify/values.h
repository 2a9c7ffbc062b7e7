/* What texts mean: which of them are one value (1, 1.0, 1e0), which are missing, and in which order values stand.
 * Own parsing of numbers and dates: a mistake of the encoder must not be repeated here. */
#ifndef KN_VERIFY_VALUES_H
#define KN_VERIFY_VALUES_H

#include "verify/sheet.h"

typedef enum kn_day_order {
    KN_DAY_ISO,
    KN_DAY_DOTS,
    KN_DAY_FIRST,
    KN_DAY_SECOND,
    KN_DAY_COMPACT,
    KN_DAY_NAMED
} kn_day_order;

/* How the texts of one column are read. */
typedef struct kn_reading {
    kn_type type;                   /* AUTO: text */
    kn_day_order day_order;         /* dates: the one form that all texts of the original column have */
    bool fold;                      /* texts that differ by case or blanks are one value (base/fold.h) */
    kn_marks marks;                 /* numbers: a decimal comma, marks between thousands */
    bool invalid_is_missing;        /* what is no number, whole number or date though the column's type says so */
    const char *const *null_values; /* besides the empty text, and words for nothing where texts are numbers or dates */
    size_t n_null_values;
} kn_reading;

/* One text: missing, a number (dates: days), or just its bytes. */
typedef enum kn_text_kind { KN_TEXT_MISSING, KN_TEXT_NUMBER, KN_TEXT_BYTES } kn_text_kind;

#define KN_CANONICAL_BYTES 448

/* Finds the form in which all texts of a date column are dates; with invalid_is_missing, most of them. `reading` says
 * the rest. */
void kn_reading_find_dates(kn_reading *reading, const kn_sheet_column *column);
/* The texts of an original quasi-identifier as they would be released one by one: numbers without marks, invalid ones
 * empty. The reading is then one without either. */
void kn_texts_make_plain(kn_sheet_column *column, kn_reading *reading);
/* How ends of released intervals and means are read: 99 is one also where it stands for a missing cell. */
static inline kn_reading kn_reading_of_ends(const kn_reading *reading)
{
    kn_reading ends = *reading;
    ends.n_null_values = 0;
    return ends;
}
bool kn_text_is_null(const kn_reading *reading, const char *bytes, size_t n_bytes); /* empty, or a null value */
bool kn_text_is_missing(const kn_reading *reading, const char *bytes, size_t n_bytes);
/* `number` is set for numbers and dates; `canonical` (may be NULL; KN_CANONICAL_BYTES) gets a text that two numbers
 * share exactly when they are equal, without rounding. */
kn_text_kind kn_text_read(double *number, char *canonical, const kn_reading *reading, const char *bytes,
                          size_t n_bytes);

/* A date without a time of day: as the end of an interval it counts whole. */
bool kn_text_is_day(const kn_reading *reading, const char *bytes, size_t n_bytes);

/* The exact order of two canonical texts of one reading: numbers by size, dates by time. */
int kn_canonical_compare(const char *a, size_t n_a, const char *b, size_t n_b);
/* A number of more digits than a double keeps: another one may share its double and still differ. */
bool kn_canonical_is_long(const char *canonical);

/* The first day of a month since 1970-01-01. Periods begin or end in the years 0 and 10000, too, where no date is. */
int64_t kn_month_start(int year, int month);

/* A period of the calendar, whatever form the column's dates have: 2024, 2024-H1, 2024-Q1, 2024-W05, 2024-01,
 * 2024-01-31; days from `start` up to but without `end`. */
bool kn_period_read(double *start, double *end, const char *bytes, size_t n_bytes);

/* The values of a column. */
typedef struct kn_values {
    uint32_t n_values;
    uint32_t *of_text;       /* column->n_texts */
    uint32_t *text_of_value; /* n_values: one text that has it */
    uint32_t missing;        /* its value, or KN_NONE */
} kn_values;

/* Values numbered in their order: numbers and dates by size, text by bytes, the missing one last. */
kn_status kn_values_make(kn_values **out, const kn_sheet_column *column, const kn_reading *reading, kn_error *err);
void kn_values_free(kn_values *values);

#endif
