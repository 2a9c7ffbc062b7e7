/* What the builders of hierarchies share; only build.c and the builders see it.
 *
 * A tree builder fills `paths` with one row per leaf and `label_of_value` with the leaf's label of every value of the
 * data; values are numbered as in the column. It leaves the missing value alone: kn_domain_build puts it below the
 * root when label_of_value has no label for it. */
#ifndef KN_HIERARCHY_BUILDERS_H
#define KN_HIERARCHY_BUILDERS_H

#include "hierarchy/build.h"
#include "hierarchy/paths.h"

typedef struct kn_build {
    const kn_column *column;
    const char *data_name;
    uint32_t n_rows;
    const kn_hierarchy_request *request;
    uint32_t *main_spelling; /* n_values */
    uint64_t *value_rows;    /* n_values: rows of the table */
    uint64_t *seen_rows;     /* n_values: of the data, where that is a part of the table; otherwise NULL */
    uint32_t n_present;      /* values other than the missing one: 0 .. n_present-1 */
    kn_paths paths;
    kn_origin origin;       /* KN_FROM_FILE unless a SPEC says otherwise */
    const char *class_name; /* see kn_domain; static */
    kn_naming naming;       /* KN_NAMES_FIXED unless the builder says otherwise */
    bool ends_mislead;      /* order() of numbers or dates against their own order: 2..7 would mean what lies between,
                               so they are released as sets */
    bool is_natural;        /* see kn_domain */
    struct kn_grid *grid;
    uint32_t *label_of_value; /* n_values; KN_NONE: not placed yet */
    uint32_t *code_of_value;  /* order(): n_values, set instead of paths when the domain is no tree */
} kn_build;

kn_status kn_build_start(kn_build *build, kn_error *err); /* what follows from column, n_rows and request */
void kn_build_end(kn_build *build);                       /* frees what it holds, not the struct */

/* The main spelling of a value. */
static inline const char *kn_build_value(const kn_build *build, uint32_t value, size_t *n_bytes)
{
    return kn_column_bytes(build->column, build->main_spelling[value], n_bytes);
}

/* Starts a row: pushes the value's own label. */
kn_status kn_build_leaf(kn_build *build, uint32_t value, kn_error *err);
/* Pushes a label to the current row. */
kn_status kn_build_label(kn_build *build, const char *bytes, size_t n_bytes, kn_error *err);

/* Values 0 .. n_values-1, most frequent first, ties by number; yours to kn_free. */
kn_status kn_build_by_frequency(uint32_t **out, const kn_build *build, uint32_t n_values, kn_error *err);

/* `arguments`: what stands between the parentheses of the SPEC; "" without any. */
kn_status kn_build_suppress(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_intervals(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_mask(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_date(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_order(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_natural(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_auto(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_country(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_icd10(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_nace(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_postcode(kn_build *build, const char *arguments, kn_error *err);
kn_status kn_build_similar(kn_build *build, const char *arguments, kn_error *err);
/* What a SPEC that is known to be one makes. */
kn_status kn_build_spec(kn_build *build, const char *spec, kn_error *err);

/* What `auto` is made of. */
enum { KN_SPEC_BYTES = 96, KN_SMALL_SET = 5, KN_MOST_SIMILAR = 2000 };
bool kn_auto_class(char spec[KN_SPEC_BYTES], const kn_build *build); /* false: no classification that is known */
bool kn_auto_code(char spec[KN_SPEC_BYTES], const kn_build *build);  /* false: no codes */
bool kn_auto_unread_dates(char spec[KN_SPEC_BYTES], const kn_build *build);
bool kn_auto_natural(char spec[KN_SPEC_BYTES],
                     const kn_build *build); /* false: no numbers with something around them */
bool kn_auto_numbers_and_words(char spec[KN_SPEC_BYTES], const kn_build *build); /* false: not at least half numbers */
kn_status kn_build_auto_dates(kn_build *build, kn_error *err);
const char *kn_auto_date_grid(const kn_build *build); /* a unit */
kn_status kn_build_auto_numbers(kn_build *build, kn_error *err);
/* Numbers of years that the column's name calls an age. */
bool kn_build_is_age(const kn_build *build);
/* The numbers that bound the middle 90 % of the rows; all of them where those are one number. */
void kn_build_middle(double *low, double *high, const kn_build *build);

/* Widths of intervals in units of 10^-scale, each a multiple of the one before. */
#define KN_MAX_WIDTHS 32
typedef struct kn_widths {
    uint32_t n, scale;
    int64_t units[KN_MAX_WIDTHS];
} kn_widths;
static inline int64_t kn_floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }
kn_status kn_widths_parse(kn_widths *out, const char *spec, const char *arguments, kn_error *err);
kn_status kn_build_widths(kn_build *build, const kn_widths *widths, kn_error *err);
/* Which interval of the smallest width a value of the column lies in, counted from 0. */
int64_t kn_widths_interval(const kn_widths *widths, const kn_build *build, uint32_t value);
int64_t kn_widths_interval_of(const kn_widths *widths, double number, const char *bytes, size_t n_bytes);
void kn_widths_text(char *out, size_t n_out, const kn_widths *widths);                         /* the smallest one */
double kn_widths_step(const kn_widths *widths);                                                /* ... as a number */
void kn_widths_multiple_text(char *out, size_t n_out, const kn_widths *widths, int64_t times); /* a multiple of it */
enum { KN_INTERVAL_BYTES = 72 };
/* The label of the intervals from .. to-1 of the smallest width, in a column of this type; returns its length. */
size_t kn_interval_text(char label[KN_INTERVAL_BYTES], const kn_widths *widths, kn_type type, int64_t from, int64_t to);
/* Pushes the label of the intervals from .. to-1 of the smallest width. */
kn_status kn_build_interval(kn_build *build, const kn_widths *widths, int64_t from, int64_t to, kn_error *err);
/* Whether the column's numbers are small enough to be counted in these units. */
bool kn_widths_fit(const kn_widths *widths, double number);

typedef enum kn_date_unit {
    KN_DAY,
    KN_WEEK,
    KN_MONTH,
    KN_QUARTER,
    KN_HALFYEAR,
    KN_YEAR,
    KN_FIVE_YEARS,
    KN_DECADE,
    KN_CENTURY
} kn_date_unit;

/* What the intervals of `auto` are made of: the widths, and of each level of the tree above the leaves how many of the
 * smallest its width is. Or the grid of numbers and dates without a tree (grid.c): one width, or a unit. */
typedef struct kn_grid {
    kn_widths widths;
    int64_t times[KN_MAX_WIDTHS + 1];
    int64_t *interval; /* per value, in order: which smallest width, or unit, it lies in */
    bool by_unit;
    kn_date_unit unit;
    int64_t top;            /* the tree's: whatever is in this interval or above is in one, without an end; INT64_MAX */
    char name[32];          /* of what means are rounded to, as a policy writes it */
    kn_widths mean;         /* ... that width, where min_level does not allow the smallest one; n 0: it does */
    uint32_t *first, *last; /* without a tree, per code: the ends of its grid cell among the codes */
} kn_grid;
void kn_grid_free(kn_grid *grid);
/* Means are no finer than this many times the smallest width. */
void kn_grid_coarsen_means(kn_grid *grid, int64_t times);
static inline int64_t kn_grid_below_top(const kn_grid *grid, int64_t interval)
{
    return interval < grid->top ? interval : grid->top;
}
/* The label of the intervals from .. to-1 of the smallest width; beyond the top it has no end: `90..`. */
size_t kn_grid_interval_text(char label[KN_INTERVAL_BYTES], const kn_grid *grid, kn_type type, int64_t from,
                             int64_t to);
/* The grid that the request asks for; NULL: exact. */
kn_status kn_build_grid(kn_grid **out, const kn_build *build, kn_error *err);
/* The same, for a column whose intervals end elsewhere or that has none: what was asked for must still make sense. */
kn_status kn_build_check_grid(const kn_build *build, kn_error *err);
/* The step of `grid: auto`. */
void kn_grid_choose_step(kn_widths *out, const kn_build *build);
int64_t kn_grid_interval(const kn_grid *grid, double number, const char *bytes, size_t n_bytes);
/* The cells from .. to-1. */
void kn_grid_text(kn_buffer *out, const kn_grid *grid, kn_type type, int64_t from, int64_t to);

/* Where cut points may part a tree's numbers or dates, if the request has a grid (stretches.c). */
kn_status kn_build_stretches(kn_domain *domain, const kn_build *build, kn_error *err);
/* From the beginning of one code's stretch to the end of another's, and back; false: the text says no such thing. */
void kn_stretches_text(kn_buffer *out, const kn_domain *domain, uint32_t first, uint32_t last);
bool kn_stretches_parse(kn_cell *out, const kn_domain *domain, const char *bytes, size_t n_bytes);

/* Values at or above `high`, and below `low`, are one each, and so are those that round to the same (coding.c). */
struct kn_coding {
    uint32_t top, bottom; /* first value of the upper zone, last one of the lower; KN_NONE: nobody is there */
    uint32_t n_values;    /* without the missing one */
    double low, high;
    char top_text[32], bottom_text[32];    /* as the policy writes them; "": none */
    int64_t top_interval, bottom_interval; /* grid cells: the first one above, the first one not below */
    kn_widths step;                        /* of rounding */
    char round_text[32];                   /* as the policy writes it; "": none */
    uint32_t *zone;                        /* [value]: the first value of its zone; NULL without rounding */
};
void kn_coding_free(kn_coding *coding);
kn_status kn_build_zones(kn_coding **out, const kn_build *build, kn_error *err);
kn_status kn_grid_code(kn_grid *grid, kn_coding *coding, const kn_build *build, kn_error *err);
kn_status kn_build_code_paths(kn_build *build, const kn_coding *coding, kn_error *err);
/* Rounding with a tree: its lowest labels become, or must be, intervals between multiples of the step. */
kn_status kn_build_round_paths(kn_build *build, const kn_coding *coding, kn_error *err);
kn_status kn_build_check_round(const kn_build *build, const kn_coding *coding, kn_error *err);
/* Fills the zones of rounding; `cell_of_code` NULL: without a tree. */
kn_status kn_coding_zones(kn_coding *coding, const uint32_t *cell_of_code, uint32_t n_cells,
                          const uint32_t *code_of_value, kn_error *err);
/* The first value of the zone that a value is in, or the value itself. */
static inline uint32_t kn_coding_value(const kn_coding *coding, uint32_t value)
{
    if (coding == NULL || value >= coding->n_values) return value;
    if (coding->zone != NULL) return coding->zone[value];
    if (coding->top != KN_NONE && value >= coding->top) return coding->top;
    return coding->bottom != KN_NONE && value <= coding->bottom ? 0 : value;
}
/* A run of codes of a column with a grid of which an end is open. */
void kn_coded_text(kn_buffer *out, const kn_domain *domain, uint32_t first, uint32_t last);

/* The label of the units from .. to-1. */
void kn_date_unit_text(char *out, size_t n_out, kn_date_unit unit, int64_t from, int64_t to);
int64_t kn_date_unit_index(kn_date_unit unit, double number); /* which one a date lies in, counted from some origin */
kn_status kn_build_units(kn_build *build, const kn_date_unit *units, uint32_t n_units, kn_error *err);

/* SETS with subsets: one of them. */
kn_status kn_domain_member_cell(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t member,
                                kn_error *err);
/* SETS with groups: all values of a group that is larger than a set may be. */
kn_status kn_domain_group_cell(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t node, kn_error *err);

/* The spelling with these bytes, or KN_NONE; in columns of numbers and dates only spellings of the missing value. */
uint32_t kn_column_find_text(const kn_column *column, const char *bytes, size_t n_bytes);

/* The spelling that stands first in the data among those whose value has KN_NONE in found[value], or KN_NONE when every
 * value was found. `more` tells of further such values (" (nor are 3 more values)"), or is "". */
uint32_t kn_build_first_missing(char more[64], const kn_build *build, const uint32_t *found);
/* All of them, where the request asks for them. */
kn_status kn_build_note_lacking(const kn_build *build, const uint32_t *found, const char *in, const char *advice,
                                kn_error *err);
/* The spelling that stands first in the data among those that are not like that; KN_NONE: all values are. */
uint32_t kn_build_first_unlike(const kn_build *build, bool (*is_like)(const char *bytes, size_t n_bytes));
/* KN_INPUT because of a spelling: its place, itself, and what is the matter with it. */
kn_status kn_build_refuse_value(const kn_build *build, uint32_t spelling, kn_error *err, const char *format, ...)
    KN_PRINTF(4, 5);

/* `{a|b}`, or `a..b` of two members, escaped as kn_cell_text says and equal to no value of a text column. A member m is
 * spelled spelling_of[m]. */
void kn_text_members(kn_buffer *out, const kn_column *column, const uint32_t *spelling_of, const uint32_t *members,
                     uint32_t n_members, bool is_set);

#define KN_MISSING_MEMBER "\\N" /* the missing cell in a set; a text N is written N */

/* Characters of UTF-8. */
uint32_t kn_count_characters(const char *bytes, size_t n_bytes);

/* How the first line of a file begins that `kanon hierarchy make` made from the data. Whoever deletes it declares the
 * hierarchy public. */
#define KN_MADE_FROM_DATA "# made from the data"
/* The first line of a file that is a collection of subsets. */
#define KN_SUBSETS_LINE "# subsets"
/* The file's lines as paths. */
kn_status kn_paths_parse(kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err);
/* All bytes of a file, with a closing NUL; `files` may be NULL. */
kn_status kn_paths_read_file(char **bytes, size_t *n_bytes, const char *path, kn_files *files, kn_error *err);
/* Reads the file and finds the values of the data among its leaves; label_of_value stays KN_NONE for the others. */
kn_status kn_build_match_file(kn_build *build, const char *path, kn_error *err);
/* The same, and every value must be found. */
kn_status kn_build_file(kn_build *build, const char *path, kn_error *err);
/* The request's spec as a path: relative to base_folder. */
kn_status kn_build_file_name(char **out, const kn_hierarchy_request *request, kn_error *err);

#endif
