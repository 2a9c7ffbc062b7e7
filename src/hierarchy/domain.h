/* What a search knows of one quasi-identifier: its values as codes, how often each occurs, and which
 * generalizations are allowed.
 *
 *   KN_DOMAIN_TREE    the nodes of a tree (from a file or a SPEC); codes are its leaves
 *   KN_DOMAIN_RANGES  intervals of an ordered domain (numbers, dates); codes are the values of the data in order; the
 *                     missing value is the last code and never inside an interval: joined with anything it gives *;
 *                     with a grid, single values and runs of grid cells (grid.c)
 *   KN_DOMAIN_SETS    any subset (text without a hierarchy); codes are ordered by frequency, most frequent first, or as
 *                     order() says, which numbers and dates then contradict. With
 *                     `groups`, subsets of at most max_members values and the nodes of that tree; codes are its
 *                     leaves. With `subsets`, the members of that collection; codes are its values
 *
 * Domain codes are not column codes: `code_of_spelling` leads from one to the other. A generalized value is a kn_cell.
 * Cells of TREE and RANGES are ranges of codes; a cell of SETS is a member of a kn_set_pool. */
#ifndef KN_HIERARCHY_DOMAIN_H
#define KN_HIERARCHY_DOMAIN_H

#include "base/buffer.h"
#include "hierarchy/subsets.h"

typedef enum kn_domain_kind { KN_DOMAIN_TREE, KN_DOMAIN_RANGES, KN_DOMAIN_SETS } kn_domain_kind;

/* What a tree was made of, and so what its shape tells: a file is public; the words of a SPEC (intervals, date,
 * suppress) fix the levels, but the leaves are the data's; of the others (auto, mask, order) the levels are too. */
typedef enum kn_origin { KN_FROM_FILE, KN_FROM_SPEC, KN_FROM_DATA } kn_origin;

/* How labels name the values that they cover. A tree's label that follows from the values is written for those that
 * released rows under it have: see kn_cell_narrow. */
typedef enum kn_naming {
    KN_NAMES_FIXED,  /* by a file or a unit that does not depend on the data: a year, intervals(5), * */
    KN_NAMES_SET,    /* {a|b} */
    KN_NAMES_ENDS,   /* a..b in the order of the codes */
    KN_NAMES_GRID,   /* 20..39, [2.5,5): multiples of the level's width around the values */
    KN_NAMES_PREFIX, /* 12**: as many characters as the longest value */
    KN_NAMES_SUFFIX, /* **12 */
    KN_NAMES_GROUP   /* {a|b} of few values, otherwise the name of a group that no value is part of */
} kn_naming;

typedef struct kn_coding kn_coding;

/* A run of a tree's leaves that no cut point parts, and its ends as labels write them: stretches.c. */
enum { KN_STRETCH_BYTES = 40 };
typedef struct kn_stretch {
    uint32_t first, last;
    char low[KN_STRETCH_BYTES], high[KN_STRETCH_BYTES]; /* the texts before and behind the dots; "": open */
} kn_stretch;

typedef struct kn_domain {
    const char *name;        /* the column's; borrowed */
    const kn_column *column; /* borrowed */
    kn_domain_kind kind;
    uint32_t n_codes;           /* the size of the domain: leaves of the tree, or distinct values in the data */
    uint32_t missing;           /* code of the missing value, or KN_NONE */
    bool missing_is_wildcard;   /* `missing: wildcard`: a missing cell may be any value, so it is always released, and
                                   priced, as the whole domain; otherwise it is a value of its own */
    uint32_t *code_of_spelling; /* column->n_spellings entries */
    uint32_t *spelling_of_code; /* n_codes: main spelling, KN_NONE where the data has no such value (TREE) */
    kn_tree *tree;              /* owned; TREE: always; otherwise NULL */
    kn_tree *groups;            /* owned; SETS: see above; NULL: any subset is allowed */
    uint32_t max_members;       /* of a set, where there are groups */
    kn_subsets *subsets;        /* owned; SETS: see above; NULL: none given */
    kn_origin origin;           /* of the tree */
    const char *class_name;     /* of a SPEC whose labels are the same for every table, whoever chose it; NULL: none */
    bool is_marked;             /* its file says that it was made from the data */
    kn_naming naming;           /* of its labels; KN_NAMES_ENDS also for order() without a tree */
    bool is_natural;            /* text in the order of the numbers in it: natural.h */
    struct kn_grid *grid;       /* KN_NAMES_GRID, and RANGES with a grid; owned */
    /* RANGES with a grid: [code] the ends of its grid cell among the codes; NULL: intervals may end at any value. */
    const uint32_t *grid_first, *grid_last;
    /* Top and bottom coding, and rounding (coding.c); NULL: none. [code]: the node (TREE), or something (RANGES), that
     * a row of this code is released as at least; KN_NONE: as its value. */
    kn_coding *coding;
    uint32_t *coded;
    bool is_open; /* RANGES with people beyond both a top and a bottom: only * says that somebody may be either */
    /* TREE of numbers or dates: where parts between cut points may begin and end; NULL: at any value. */
    kn_stretch *stretches;
    uint32_t n_stretches, *stretch_of_code;
    bool parts_are_nodes;  /* ... nowhere else than nodes do */
    uint64_t *rows_before; /* n_codes + 1: rows of the table with a smaller code; by them cells are priced */
    uint64_t *seen_before; /* the same of the data at hand, where that is a part of it (kn_column.whole_rows); NULL: it
                              is the table */
    double weight;         /* of the column in sums over columns; 1 by default */
    uint32_t min_level, max_level; /* full-domain searches stay inside (TREE) */
} kn_domain;

/* One generalized value: codes first..last, both included.
 * `id`: TREE the node, or n_nodes + the member of the set pool for a narrowed label; SETS the member of the set pool
 * (with subsets, its text is the label), KN_NONE for a single value; RANGES KN_NONE. The whole domain
 * is first=0, last=n_codes-1 (TREE: id=root), and is released as the root's label; without a tree as the interval of
 * all values (RANGES) or *: for SETS, and for RANGES with a missing value, which no interval holds. */
typedef struct kn_cell {
    uint32_t first, last, id;
} kn_cell;

/* Sets of codes, each stored once: equal sets have equal ids, so cells can be compared as three integers. */
typedef struct kn_set_pool kn_set_pool;
kn_status kn_set_pool_new(kn_set_pool **out, kn_error *err);
void kn_set_pool_free(kn_set_pool *pool);
/* `codes` ascending, without repeats, at least two. */
kn_status kn_set_pool_add(uint32_t *id, kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes, kn_error *err);
/* The same with a text of its own; equal texts must mean equal codes. No codes: those from a cell's first to its last.
 */
kn_status kn_set_pool_add_label(uint32_t *id, kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes,
                                const char *text, size_t n_bytes, kn_error *err);
/* Adds all sets of another pool; (*ids)[its id] is the one here, yours to kn_free. */
kn_status kn_set_pool_unite(uint32_t **ids, kn_set_pool *pool, const kn_set_pool *other, kn_error *err);
const uint32_t *kn_set_pool_get(const kn_set_pool *pool, uint32_t id, uint32_t *n_codes);
const char *kn_set_pool_text(const kn_set_pool *pool, uint32_t id, size_t *n_bytes);

void kn_domain_free(kn_domain *domain);

static inline uint64_t kn_domain_code_rows(const kn_domain *domain, uint32_t code)
{
    return domain->rows_before[code + 1] - domain->rows_before[code];
}

static inline uint64_t kn_domain_all_rows(const kn_domain *domain) { return domain->rows_before[domain->n_codes]; }

/* Rows of the data at hand. */
static inline uint64_t kn_domain_seen_rows(const kn_domain *domain, uint32_t code)
{
    const uint64_t *before = domain->seen_before != NULL ? domain->seen_before : domain->rows_before;
    return before[code + 1] - before[code];
}

/* A code that stands for several values, whatever else is in its class. */
static inline bool kn_domain_is_coded(const kn_domain *domain, uint32_t code)
{
    return domain->coded != NULL && domain->coded[code] != KN_NONE;
}

/* Two codes of a RANGES domain, none of them missing, to the ends of their grid cells; one that is a value stays. */
static inline void kn_domain_widen(const kn_domain *domain, uint32_t *first, uint32_t *last)
{
    if (domain->grid_first == NULL || (*first == *last && !kn_domain_is_coded(domain, *first))) return;
    *first = domain->grid_first[*first];
    *last = domain->grid_last[*last];
    if (domain->is_open && *first == 0 && *last + 1 == domain->missing) *last = domain->missing; /* * holds it, too */
}

/* Whether a number or date lies in the grid cell of a code. */
bool kn_domain_in_grid_cell(const kn_domain *domain, uint32_t code, double number, const char *bytes, size_t n_bytes);
/* The grid as a policy writes it; NULL: none. */
const char *kn_domain_grid_name(const kn_domain *domain);
/* The thresholds of top and bottom coding as a policy writes them; NULL: none. */
const char *kn_domain_top(const kn_domain *domain);
const char *kn_domain_bottom(const kn_domain *domain);
/* The step of rounding as a policy writes it; NULL: none. */
const char *kn_domain_round(const kn_domain *domain);
/* What means of the column are rounded to: its grid, or the smallest width or unit of its hierarchy; NULL: none. */
const char *kn_domain_mean_grid(const kn_domain *domain);

/* SETS with groups: whether so many codes, the first and the last of which these are, can be a set; otherwise *node is
 * the lowest group that holds them. */
static inline bool kn_domain_is_small(uint32_t *node, const kn_domain *domain, uint32_t first, uint32_t last,
                                      uint32_t n_codes)
{
    if (domain->groups == NULL || n_codes <= domain->max_members) return true;
    *node = kn_tree_join(domain->groups, first, last);
    return false;
}

kn_cell kn_domain_root(const kn_domain *domain);                                    /* everything */
kn_cell kn_domain_leaf(const kn_domain *domain, uint32_t code);                     /* one value */
kn_cell kn_domain_node_cell(const kn_domain *domain, uint32_t node);                /* TREE: the values below a node */
kn_cell kn_domain_at_level(const kn_domain *domain, uint32_t code, uint32_t level); /* TREE */
/* Smallest allowed cell that holds the given codes (any order, repeats are fine, at least one). */
kn_status kn_domain_closure(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const uint32_t *codes,
                            size_t n_codes, kn_error *err);
/* The codes of a cell with gaps, ascending; NULL for one that is all of first..last. */
const uint32_t *kn_cell_members(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets,
                                uint32_t *n_codes);
uint32_t kn_cell_size(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets); /* values it covers */
/* Rows of the table whose value it covers; seen: of the data at hand. */
uint64_t kn_cell_rows(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets);
uint64_t kn_cell_seen_rows(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets);
bool kn_cell_covers(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets, uint32_t code);
static inline bool kn_cell_equal(const kn_cell *a, const kn_cell *b)
{
    return a->first == b->first && a->last == b->last && a->id == b->id;
}
/* A single value, written as the data spells it. A missing cell that may be any value never is one. */
static inline bool kn_cell_is_value(const kn_cell *cell, const kn_domain *domain)
{
    return cell->first == cell->last && (domain->kind != KN_DOMAIN_TREE || cell->id < domain->n_codes) &&
           !(cell->first == domain->missing && domain->missing_is_wildcard) && !kn_domain_is_coded(domain, cell->first);
}

/* How a part of a column, a run of its codes between two cut points, is released. */
typedef enum kn_part_form {
    KN_PART_INTERVAL, /* from its first to its last value */
    KN_PART_SET,      /* its values */
    KN_PART_NODE      /* the lowest node above it */
} kn_part_form;
/* Two codes to the ends of their stretches; one that is a value stays. */
static inline void kn_part_widen(const kn_domain *domain, uint32_t *first, uint32_t *last)
{
    if (domain->stretches == NULL || *first == *last) return;
    *first = domain->stretches[domain->stretch_of_code[*first]].first;
    *last = domain->stretches[domain->stretch_of_code[*last]].last;
}
/* Whether intervals between cut points of a tree of numbers or dates end at values: `grid: exact`, or an order. */
static inline bool kn_part_ends_at_values(const kn_domain *domain)
{
    return domain->stretches == NULL && !domain->parts_are_nodes && domain->coding == NULL;
}
/* Intervals where the order of the codes is that of numbers or dates, or was given; `nodes`: TREE as nodes. */
kn_part_form kn_part_form_of(const kn_domain *domain, bool nodes);
/* The cell of the part first..last, of which rows have the codes with occurs[code] (at least one). Neither interval nor
 * set tells of other values, except that an interval begins and ends where stretches do, if there are any. A part whose
 * values are all those below a node has the node's label, where that is not made from the data. Missing values are in
 * no interval: with others they give the whole domain, as do all codes of a tree. */
kn_status kn_part_cell(kn_cell *out, const kn_domain *domain, kn_part_form form, kn_set_pool *sets, const bool *occurs,
                       uint32_t first, uint32_t last, kn_error *err);

/* What released rows in one cell of a column have. */
typedef struct kn_rows_below {
    uint32_t first, last; /* smallest and largest code */
    const bool *codes;    /* [code]: whether a row has it; KN_NAMES_SET and _GROUP only */
    uint32_t n_longest;   /* characters of the longest value in any masked cell; KN_NAMES_PREFIX and _SUFFIX only */
} kn_rows_below;

/* A label made from the data, as it is written: for the values that released rows under it have, so that it tells of
 * nobody who was removed or whose value stands elsewhere. `node` is an inner node below the root. A cell of a tree
 * whose labels are fixed stays. The cell covers what the written label covers of the data's values. */
kn_status kn_cell_narrow(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t node,
                         const kn_rows_below *released, kn_error *err);
uint32_t kn_domain_characters(const kn_domain *domain, uint32_t code); /* of a value's main spelling */

/* The released text: a label, `30..39`, `{a|b}` or `*`; docs/cells.md is the grammar. A single value is its main
 * spelling, as it stands. Inside an interval or a set the characters '|', '{', '}', '\\' and the dots of ".." are
 * escaped with '\'. Where the text of an interval or a set happens to be a value of the column ("1..3" in a column of
 * text), further characters are escaped until it is not, so that a text that is a value always means the value. The one
 * exception is `*`: it means everything, also in a column that has the value `*`; runs refuse such columns
 * (run/input.c). */
void kn_cell_text(kn_buffer *out, const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets);
/* The way back: what a released text means in this domain. `*` is everything; a text that is a label names the widest
 * node with that label; a text that is a value of the data (numbers: by value) is that value; then intervals and sets.
 * The ends of an interval of numbers or dates need not be values of the data. `sets` is for SETS only. KN_INPUT with
 * the reason when the text is no allowed generalization. */
kn_status kn_cell_parse(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const char *bytes, size_t n_bytes,
                        kn_error *err);

#endif
