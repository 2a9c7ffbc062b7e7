/* Recoding by cut points: the alphabet, the rows as searches over it see them, and what a set of letters costs.
 *
 * A column's values stand in an order: numbers and dates by value, a hierarchy's leaves in pre-order, order() as given,
 * other text by frequency. They are grouped into *positions*, usually one value each. A *letter* is what can be chosen:
 * a cut before a position, or, where cuts must respect a hierarchy, an inner node, which stands for the cuts between
 * all its children and needs its parent's letter. A set of letters splits each column into parts, [BA] 4.
 *
 * Rows are *items*: a position per column and *lanes*, numbers that add up when items are merged. */
#ifndef KN_SEARCH_CUTS_CUTS_H
#define KN_SEARCH_CUTS_CUTS_H

#include "search/search.h"

typedef struct kn_cut_column {
    const kn_domain *domain;
    kn_part_form form; /* how its parts are released */
    uint32_t n_positions;
    uint32_t *start;     /* [position], n_positions + 1: its first code */
    uint32_t *letter_at; /* [position]: the letter that cuts before it; KN_NONE for the first */
    double *prices;      /* [i * n_positions + j]: a row in the part of positions i..j; cell measures only */
    /* The same where rows may be suppressed and labels become narrower with them: a row in a part that has i..j, and
     * in one with rows at both i and j, pays no less. Otherwise `floors` are the prices, and `hulls` are NULL. */
    double *floors, *hulls;
} kn_cut_column;

typedef struct kn_letter {
    uint32_t q;
    uint32_t parent, depth; /* the letter that it needs, or KN_NONE */
    uint32_t first, last;   /* positions that it splits */
    uint32_t n_cuts;        /* its parts begin at `first` and at each of these positions */
    const uint16_t *cuts;
} kn_letter;

/* Lanes of an item or a class. */
enum {
    KN_LANE_ROWS,
    KN_LANE_BOUND, /* of an item: what its rows cost at least, see cut_bounds.h */
    KN_LANE_OTHERS /* persons, where they are not rows; rows by sensitive value, where somebody asks */
};

enum { KN_MOST_COLUMNS = 256, KN_MOST_POSITIONS = UINT16_MAX };

typedef struct kn_items {
    uint32_t n;
    uint16_t *keys; /* [item * n_keys + q]: position */
    double *lanes;  /* [item * n_lanes + lane] */
} kn_items;

struct kn_cut_bound;
typedef struct kn_cuts {
    const kn_tuples *tuples;
    const kn_models *models;
    const kn_objective *objective;
    const struct kn_cut_bound *bound; /* the measure's */
    uint64_t max_suppressed;
    uint32_t n_columns, n_keys; /* n_keys: n_columns rounded up to whole words */
    kn_cut_column *columns;
    uint32_t n_letters;
    kn_letter *letters; /* parents before their children */
    uint16_t *letter_cuts;
    bool has_nodes;                      /* letters of some column are nodes ... */
    bool has_parents;                    /* ... and one of them needs another */
    uint32_t n_lanes;                    /* even */
    uint32_t person_lane;                /* KN_LANE_ROWS without a person column */
    uint32_t *value_lane;                /* [sensitive column]: its first lane; NULL where nobody asks */
    uint32_t class_lane, n_class_values; /* of the measure's class column, where it has one */
    bool rows_decide;                    /* the models say no more than least_rows */
    bool narrows;                        /* some column has floors of its own */
    bool hereditary;                     /* parts of a class that breaks the models break them */
    kn_items items;                      /* the table, every letter in force */
    double least_rows;                   /* a class that holds has so many at least */
    double n_rows;
    double root_price;  /* cell measures: a suppressed row ... */
    double discount;    /* ... and what all rows have off: see kn_objective */
    double *size_bound; /* DM: see cut_bounds_dm.c */
} kn_cuts;

/* `args` of the task: coarse, hierarchy, start (KN_CUTS_PARAMS). Classes have `more_rows` times as
 * many rows as the models ask for; 1: no more. KN_USAGE when models or measure do not fit. */
kn_status kn_cuts_new(kn_cuts **out, const kn_task *task, double more_rows, kn_error *err);
void kn_cuts_free(kn_cuts *cuts);

// clang-format off
#define KN_CUTS_PARAMS                                                                                                 \
    {.name = "coarse", .type = KN_PARAM_TEXT, .is_list = true,                                                         \
     .help = "columns of numbers that are cut at multiples of a width only: age:5|hours:10"},                          \
    {.name = "hierarchy", .type = KN_PARAM_CHOICE, .choices = "order|nodes", .preset = "order",                        \
     .help = "what a hierarchy gives: the order of the values, or the only parts that are allowed"},                   \
    {.name = "start", .type = KN_PARAM_CHOICE, .choices = "values|classes", .preset = "values",                        \
     .help = "cuts between all values, or only where the first sensitive column changes (Fayyad, Irani)"}
// clang-format on
enum { KN_N_CUTS_PARAMS = 3 };

/* Whether a class with these lanes may be released. */
bool kn_cuts_hold_models(const kn_cuts *cuts, const double *lanes);
static inline bool kn_cuts_hold(const kn_cuts *cuts, const double *lanes)
{
    return lanes[KN_LANE_ROWS] >= cuts->least_rows && (cuts->rows_decide || kn_cuts_hold_models(cuts, lanes));
}
/* Price of a row in the part from position i to j of column q, weight included (cell measures). */
static inline double kn_cuts_price(const kn_cuts *cuts, uint32_t q, uint32_t i, uint32_t j)
{
    return cuts->columns[q].prices[(size_t)i * cuts->columns[q].n_positions + j];
}
/* No label that covers rows at position i and at j, in a part that has all of first..last, is cheaper. */
static inline double kn_cuts_floor(const kn_cuts *cuts, uint32_t q, uint32_t first, uint32_t last, uint32_t i,
                                   uint32_t j)
{
    const kn_cut_column *column = &cuts->columns[q];
    const double floor = column->floors[(size_t)first * column->n_positions + last];
    if (column->hulls == NULL || i >= j) return floor;
    const double hull = column->hulls[(size_t)i * column->n_positions + j];
    return hull > floor ? hull : floor;
}
/* As reported: scaled, discounted, or turned round (average class). */
double kn_cuts_loss(const kn_cuts *cuts, double cost);
/* The way back, for costs that users give. */
double kn_cuts_cost(const kn_cuts *cuts, double loss);
/* The answer for the letters with in[letter] != 0. */
kn_status kn_cuts_answer(kn_answer *answer, const kn_cuts *cuts, const uint8_t *in, kn_error *err);

#endif
