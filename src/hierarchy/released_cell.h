/* A released cell as anybody can read it: its text, and what is published with a release (the hierarchies). What it
 * means is written down in docs/cells.md; nothing of the encoding or the search is used. */
#ifndef KN_HIERARCHY_RELEASED_CELL_H
#define KN_HIERARCHY_RELEASED_CELL_H

#include "hierarchy/tree.h"
#include "table/dates.h"
#include "table/number.h"

/* How a column's cells are read. */
typedef struct kn_cell_reading {
    kn_type type;          /* of the values: INT and DECIMAL by number, DATE by time, TEXT by bytes */
    bool leading_zeros;    /* 007 is a number: the type was declared */
    kn_date_form form;     /* DATE: of the values, 0 when unknown; those of KN_DATE_CLEAR are understood besides */
    const kn_tree *tree;   /* the hierarchy's file; NULL: none */
    const char *order;     /* "low<medium<high": the arguments of order(); NULL: none */
    bool is_natural;       /* text in the order of the numbers in it */
    bool words_are_values; /* a hierarchy is given that has no words of its own, or all of them are in the tree: another
                              word is a value */
    const char *group_of;  /* the column whose groups of similar values have names, `town group 2.1`, that tell nothing
                              to whoever does not have them; NULL: there are none */
} kn_cell_reading;

typedef struct kn_bytes {
    const char *bytes;
    size_t n;
} kn_bytes;

/* A value of somebody, understood once. */
typedef struct kn_known_value {
    kn_bytes text;
    bool is_missing;
    bool is_number, is_time;
    kn_decimal decimal; /* of a number */
    double time;        /* of a date: days, the time of the day as a fraction */
} kn_known_value;

typedef enum kn_cell_kind {
    KN_CELL_ANY,
    KN_CELL_VALUE,
    KN_CELL_SET,
    KN_CELL_INTERVAL,
    KN_CELL_MASK,
    KN_CELL_LABEL,     /* of the tree */
    KN_CELL_WORD,      /* a text of which nobody can tell whether it is a value or the label of a hierarchy */
    KN_CELL_UNREADABLE /* no value and no label that this column could have */
} kn_cell_kind;

enum { KN_END_BYTES = 64 };

/* Borrows the bytes of the cell; must not be copied. */
typedef struct kn_released_cell {
    kn_cell_kind kind;
    kn_bytes text;
    kn_known_value value;            /* VALUE, WORD */
    bool has_low, has_high, is_open; /* INTERVAL; is_open: without its upper end */
    kn_known_value low, high;        /* ... */
    double from, to;                 /* ... of dates: from <= time < to; of order(): places, both included */
    char ends[2][KN_END_BYTES];      /* behind low and high where they were escaped */
} kn_released_cell;

void kn_known_value_read(kn_known_value *out, const kn_cell_reading *reading, const char *bytes, size_t n);
void kn_released_cell_read(kn_released_cell *out, const kn_cell_reading *reading, const char *bytes, size_t n);
/* Whether the cell can stand for the value. Missing cells, on either side, exclude nobody. */
bool kn_released_cell_covers(const kn_released_cell *cell, const kn_cell_reading *reading, const kn_known_value *value);
/* The next member of a set, unescaped, to `scratch` (as long as the cell); *at starts at 1. false at the end. */
bool kn_released_set_next(kn_bytes *member, const kn_released_cell *cell, size_t *at, char *scratch);
/* Two texts of one value: equal bytes, numbers or times. */
bool kn_known_value_equal(const kn_known_value *a, const kn_known_value *b);
/* What is understood of a text that is none of this: for messages. */
const char *kn_released_cell_why(const kn_cell_reading *reading);

#endif
