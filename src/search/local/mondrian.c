/* Mondrian: cut the table by one column at one value, again and again, as long as both sides satisfy every model.
 *
 * [SV] 4.1.2, after LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
 * In: distinct tuples with counts. Out: classes, each released as its closure.
 *
 * `cut=strict`: tuples with equal values stay together. The result is minimal (Definition 4.3: no allowable cut on any
 * column at any value is left), so with k-anonymity alone no class has more than 2n(k-1)+o rows, n columns, o copies of
 * one tuple. `cut=relaxed`: a cut may run through equal values, between any two persons; no class then has 2k or more.
 *
 * Where it departs from the paper: Figure 16 takes the widest column and its median, and stops when that one cut is not
 * allowable. Here (`choose=loss`) every value of every column is a candidate, and the cut that leaves the least loss is
 * made: rows * price of the closure, summed over the two sides, all columns counted, since a cut in one column also
 * narrows the others. A side that cannot fill classes of k evenly will end in larger classes; its loss is weighted up
 * by the cube root of persons / (k * floor(persons / k)). `choose=median` is the paper's order of preference: the
 * widest column first (normalized), in it the allowable cut next to the median. The paper leaves open which of equally
 * wide columns is cut (`ties`), and measures numbers by value (`widths=values`). On Adult with
 * suppression, k=50, the first column and values give .724, even cuts and ranks .759; with hierarchies, k=10, .177 and
 * .167; `choose=loss` gives .505 and .106.
 *
 * Values are cut in the order of the domain's codes: numbers by value, text by frequency, a hierarchy by its leaves
 * (a class's closure is then the lowest node above its first and last leaf). A cut that narrows nothing, say between
 * two leaves of one node, is still made when nothing better is allowable: smaller classes never cost more under a
 * monotone measure, later cuts may gain by it, and the definition of minimal asks for it.
 *
 * Measures that are no sum over cells are followed through the prices of kn_pricer, which the result says. Nothing is
 * suppressed: where even the whole table breaks a model, it stays one class, and recoding refuses it. A
 * time limit stops the cutting; the classes reached by then are the answer.
 *
 * Cost: the records of a class are united by their values, all columns in one run over the records, by a few vector
 * operations per record and column; cuts are then tried over distinct values, not over records. Large classes share
 * their columns out among the threads, small ones are one job each with all their cuts; the outcome of a cut depends
 * on its class only, so results are the same for any number of threads. */
#include "base/lanes.h"
#include "engine/closure/closure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SMALL_ITEMS = 16384,   /* from here on a class and all its cuts are one job */
    WASTE_CLASSES = 64,    /* sides of more than this many classes fill them evenly enough */
    MAX_BITS = 2048,       /* of the sets in a reach; where there are many groups fewer, see max_bits */
    MAX_CODE_LEVELS = 6,   /* of a code_set: 64 ** 6 is more than there are codes */
    COLUMNS_AT_ONCE = 16,  /* are counted together, up to so many ... */
    GROUPS_AT_ONCE = 4096, /* ... groups */
    MAX_SETS = 16,         /* columns with bits */
};

typedef struct node {
    uint32_t begin, end; /* of the records */
    uint64_t n_persons;
} node;

/* The best cut known: `n_left` records go left, of which `left_persons` persons; 0: there is none. Strict cuts: those
 * below `code`; relaxed ones: the first in the order of the column. */
typedef struct cut {
    double loss, imbalance;
    uint32_t column, n_left, code;
    uint64_t left_persons;
} cut;

static const cut no_cut = {INFINITY, INFINITY, KN_NONE, 0, 0, 0};

/* A set of codes that is taken out in ascending order. words[0] has a bit per code, words[1] one per word of words[0]
 * that is not zero, and so on, so that few codes among many are found quickly. */
typedef struct code_set {
    uint64_t *words[MAX_CODE_LEVELS];
    uint32_t n_levels;
} code_set;

/* Which values the records of a node have, and where they stand in the reach of a group. */
typedef struct ranking {
    uint32_t *n;             /* [q]: distinct values */
    uint32_t **code, **rank; /* [q]: value by rank, ascending; rank by value */
    uint32_t *first_bit;     /* [q]: SETS: of the column's values by rank; KN_NONE: no set, or too many values */
    struct bit_value {
        uint32_t q, code;
    } bits[MAX_BITS];
    uint32_t n_sets, sets[MAX_SETS]; /* columns with bits */
    uint32_t n_wide, *wide;          /* SETS of too many values */
    uint32_t group_words;
} ranking;

/* What a cut does not run through, in the order of a column: the records with one value, or single ones when cuts are
 * relaxed. Numbers of 32 bits in whole vectors, so that two groups are united by a few vector operations:
 *
 *   head    code, rows, persons, records                           added up
 *   lasts   the greatest code of each ordered column               the greater (as signed numbers: what processors
 * have) firsts  the same of the codes' complements: the least code     the greater sets    a bit per value or
 */
enum { HEAD_CODE, HEAD_ROWS, HEAD_PERSONS, HEAD_RECORDS, HEAD_WORDS };

static inline uint32_t as_last(uint32_t code) { return code ^ 0x80000000u; }
static inline uint32_t as_first(uint32_t code) { return code ^ 0x7fffffffu; }

/* What one thread works with. */
typedef struct bench {
    ranking ranking;
    code_set *codes;         /* [q]; empty between uses */
    uint32_t *groups;        /* of the columns that are counted together */
    uint32_t *order, *begin; /* records by one column, and where its values begin; only where somebody looks at them */
    double *left_price;      /* per group */
    uint32_t *reach;         /* of what was passed, as in a group */
    kn_span *spans;
    double *prices;
    uint32_t **stamp;                 /* SETS: [q][code], the number of the pass that last met the value */
    uint32_t scan, n_active, *active; /* wide columns that may still grow in this pass */
    kn_tally whole, right;
    kn_tally_view view;
} bench;

typedef struct search {
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n_qis, stride;
    uint32_t n_ordered, n_lanes; /* columns that are no sets; in whole vectors */
    uint32_t max_bits;           /* of the sets in a reach */
    uint32_t *ordered;           /* [lane]: its column */
    uint32_t *place;             /* [q]: of its code in a record; those of ordered columns come first */
    uint32_t *records, *spare;   /* one per item: item, rows, persons, codes; classes are ranges of them */
    bool *begins_class;
    bool relaxed, by_median;
    bool first_column; /* among equally wide columns the first is cut, otherwise the one that is cut most evenly */
    double **places;   /* [q][code]: what widths are measured by */
    double *waste;     /* [persons] below n_waste */
    uint64_t n_waste, min_persons;
    bench *benches;
    atomic_bool out_of_time;
    atomic_uint_fast64_t n_cuts, n_items_done;
    node current; /* the large class whose columns are shared out */
    unsigned n_shares;
    cut *share_cuts; /* [share] */
    /* the level of large classes that is being cut */
    node *large;
    cut *cuts;      /* [large] */
    node *children; /* [2 * large], and whether there are any */
} search;

enum { RECORD_ITEM, RECORD_ROWS, RECORD_PERSONS, RECORD_CODES };

static inline uint32_t *record_at(const search *s, const node *n, uint32_t index)
{
    return s->records + (size_t)(n->begin + index) * s->stride;
}

static inline uint32_t n_records(const node *n) { return n->end - n->begin; }

/* --- The values of a node -------------------------------------------------------------------------------------- */

static inline void code_set_add(code_set *set, uint32_t code)
{
    for (uint32_t level = 0; level < set->n_levels; level++, code >>= 6) {
        uint64_t *word = &set->words[level][code >> 6];
        bool known = *word != 0;
        *word |= (uint64_t)1 << (code & 63);
        if (known) return;
    }
}

/* Takes out the codes below one word of a level. */
static uint32_t code_set_take(uint32_t *codes, uint32_t n, code_set *set, uint32_t level, uint32_t word)
{
    uint64_t left = set->words[level][word];
    set->words[level][word] = 0;
    for (; left != 0; left &= left - 1) {
        uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(left);
        if (level == 0) codes[n++] = at;
        else n = code_set_take(codes, n, set, level - 1, at);
    }
    return n;
}

static void rank_columns(const search *s, bench *b, ranking *r, const node *n, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < n_records(n); i++) {
        const uint32_t *record = record_at(s, n, i);
        for (uint32_t q = from; q < to; q++) code_set_add(&b->codes[q], record[s->place[q]]);
    }
    for (uint32_t q = from; q < to; q++) {
        r->n[q] = code_set_take(r->code[q], 0, &b->codes[q], b->codes[q].n_levels - 1, 0);
        for (uint32_t i = 0; i < r->n[q]; i++) r->rank[q][r->code[q][i]] = i;
    }
}

/* The values of sets get their bits, once all columns are ranked. */
static void place_bits(const search *s, ranking *r)
{
    uint32_t n_bits = 0;
    r->n_sets = r->n_wide = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        r->first_bit[q] = KN_NONE;
        if (s->pricer->columns[q].domain->kind != KN_DOMAIN_SETS) continue;
        if (r->n[q] > s->max_bits - n_bits || r->n_sets == MAX_SETS) {
            r->wide[r->n_wide++] = q;
            continue;
        }
        r->first_bit[q] = n_bits;
        r->sets[r->n_sets++] = q;
        for (uint32_t i = 0; i < r->n[q]; i++) r->bits[n_bits++] = (struct bit_value){q, r->code[q][i]};
    }
    r->group_words = HEAD_WORDS + 2 * s->n_lanes + (n_bits + 127) / 128 * 4;
}

/* --- Groups ---------------------------------------------------------------------------------------------------- */

KN_INLINE kn_lanes4 greater_signed(kn_lanes4 a, kn_lanes4 b)
{
    kn_lanes4 more = (kn_lanes4)((kn_lanes4_i32)a > (kn_lanes4_i32)b);
    return (a & more) | (b & ~more);
}

/* The first vector of bits. */
KN_INLINE uint32_t ordered_vectors(const search *s) { return (HEAD_WORDS + 2 * s->n_lanes) / 4; }

KN_INLINE void clear_group(uint32_t *group, const search *s, const ranking *r, uint32_t code)
{
    const kn_lanes4 least = {0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u}; /* as signed numbers */
    kn_lanes4_loose *vectors = (kn_lanes4_loose *)group;
    uint32_t n_ordered = ordered_vectors(s), n_vectors = r->group_words / 4;
    vectors[0] = (kn_lanes4){code, 0, 0, 0};
    for (uint32_t v = 1; v < n_ordered; v++) vectors[v] = least;
    for (uint32_t v = n_ordered; v < n_vectors; v++) vectors[v] = (kn_lanes4){0};
}

/* A record as a group, for relaxed cuts. */
static void make_group(uint32_t *group, const search *s, const ranking *r, const uint32_t *record, uint32_t code)
{
    uint32_t *lasts = group + HEAD_WORDS, *firsts = lasts + s->n_lanes, *bits = firsts + s->n_lanes;
    clear_group(group, s, r, code);
    group[HEAD_ROWS] = record[RECORD_ROWS];
    group[HEAD_PERSONS] = record[RECORD_PERSONS];
    group[HEAD_RECORDS] = 1;
    for (uint32_t lane = 0; lane < s->n_ordered; lane++) {
        lasts[lane] = as_last(record[RECORD_CODES + lane]);
        firsts[lane] = as_first(record[RECORD_CODES + lane]);
    }
    for (uint32_t i = 0; i < r->n_sets; i++) {
        uint32_t q = r->sets[i], bit = r->first_bit[q] + r->rank[q][record[s->place[q]]];
        bits[bit / 32] |= 1u << (bit & 31);
    }
}

enum { MAX_BIT_WORDS = 4 }; /* that are added as vectors; of more only those that a record has */

/* The hot loop: adds every record to its group in each of the columns from .. to-1. Lanes beyond the ordered columns
 * hold anything: nobody looks at them. Constant widths, and local copies that no group can overlap, make it fast. */
KN_INLINE void add_records(const search *s, bench *b, const ranking *r, const node *n, uint32_t from, uint32_t to,
                           uint32_t n_lanes, uint32_t n_bit_words)
{
    struct {
        const uint32_t *rank;
        uint32_t *groups, place, first_bit;
    } columns[COLUMNS_AT_ONCE], sets[MAX_SETS];
    struct {
        uint32_t word, mask;
    } bits_at[MAX_SETS];
    const uint32_t *record = record_at(s, n, 0), *end = record_at(s, n, n_records(n));
    const uint32_t n_columns = to - from, n_sets = r->n_sets, group_words = r->group_words, stride = s->stride;
    uint32_t *groups = b->groups;
    for (uint32_t i = 0; i < n_columns; groups += (size_t)r->n[from + i++] * group_words) {
        columns[i].rank = r->rank[from + i];
        columns[i].place = s->place[from + i];
        columns[i].groups = groups;
    }
    for (uint32_t i = 0; i < n_sets; i++) {
        sets[i].rank = r->rank[r->sets[i]];
        sets[i].place = s->place[r->sets[i]];
        sets[i].first_bit = r->first_bit[r->sets[i]];
    }
    for (; record < end; record += stride) {
        const kn_lanes4 head =
            (*(const kn_lanes4_loose *)record & (kn_lanes4){0, ~0u, ~0u, 0}) + (kn_lanes4){0, 0, 0, 1};
        const kn_lanes4_loose *codes = (const kn_lanes4_loose *)(record + RECORD_CODES);
        uint64_t bits[MAX_BIT_WORDS] = {0};
        for (uint32_t i = 0; i < n_sets; i++) {
            uint32_t bit = sets[i].first_bit + sets[i].rank[record[sets[i].place]];
            for (uint32_t w = 0; n_bit_words <= MAX_BIT_WORDS && w < n_bit_words; w++)
                bits[w] |= (uint64_t)(bit / 64 == w) << (bit & 63);
            bits_at[i].word = HEAD_WORDS + 2 * n_lanes + bit / 32;
            bits_at[i].mask = 1u << (bit & 31);
        }
        for (uint32_t i = 0; i < n_columns; i++) {
            uint32_t *group = columns[i].groups + (size_t)columns[i].rank[record[columns[i].place]] * group_words;
            kn_lanes4_loose *lasts = (kn_lanes4_loose *)(group + HEAD_WORDS), *firsts = lasts + n_lanes / 4;
            kn_lanes4_loose *words = firsts + n_lanes / 4;
            *(kn_lanes4_loose *)group += head;
            for (uint32_t v = 0; v < n_lanes / 4; v++) {
                lasts[v] = greater_signed(lasts[v], codes[v] ^ 0x80000000u);
                firsts[v] = greater_signed(firsts[v], codes[v] ^ 0x7fffffffu);
            }
            for (uint32_t w = 0; n_bit_words <= MAX_BIT_WORDS && w < n_bit_words / 2; w++)
                words[w] |= (kn_lanes4)(kn_lanes2_u64){bits[2 * w], bits[2 * w + 1]};
            for (uint32_t set = 0; n_bit_words > MAX_BIT_WORDS && set < n_sets; set++)
                group[bits_at[set].word] |= bits_at[set].mask;
        }
    }
}

/* Groups of the columns from .. to-1, one column after the other. */
static void count_groups(const search *s, bench *b, const ranking *r, const node *n, uint32_t from, uint32_t to)
{
    uint32_t *group = b->groups, n_bit_words = (r->group_words - HEAD_WORDS - 2 * s->n_lanes) / 2;
    for (uint32_t q = from; q < to; q++)
        for (uint32_t i = 0; i < r->n[q]; i++, group += r->group_words) clear_group(group, s, r, r->code[q][i]);
    if (s->n_lanes == 4 && n_bit_words == 0) add_records(s, b, r, n, from, to, 4, 0);
    else if (s->n_lanes == 8 && n_bit_words == 0) add_records(s, b, r, n, from, to, 8, 0);
    else if (s->n_lanes == 0 && n_bit_words == 2) add_records(s, b, r, n, from, to, 0, 2);
    else if (s->n_lanes == 4 && n_bit_words == 2) add_records(s, b, r, n, from, to, 4, 2);
    else if (s->n_lanes == 8 && n_bit_words == 2) add_records(s, b, r, n, from, to, 8, 2);
    else if (s->n_lanes == 4 && n_bit_words == 4) add_records(s, b, r, n, from, to, 4, 4);
    else add_records(s, b, r, n, from, to, s->n_lanes, n_bit_words);
}

/* The records of a node in the order of column q, those of one value as they stand. */
static void sort_by_column(const search *s, bench *b, const ranking *r, const node *n, uint32_t q)
{
    memset(b->begin, 0, (r->n[q] + (size_t)2) * sizeof *b->begin);
    uint32_t *begin = b->begin + 1;
    for (uint32_t i = 0; i < n_records(n); i++) begin[r->rank[q][record_at(s, n, i)[s->place[q]]] + 1]++;
    for (uint32_t v = 0; v < r->n[q]; v++) begin[v + 1] += begin[v];
    for (uint32_t i = 0; i < n_records(n); i++) b->order[begin[r->rank[q][record_at(s, n, i)[s->place[q]]]]++] = i;
}

static bool needs_order(const search *s, const ranking *r)
{
    return s->relaxed || r->n_wide > 0 || !s->task->models->counts_only;
}

/* --- The best cut in one column -------------------------------------------------------------------------------- */

/* One pass over the groups of a column, from the left or from the right. */
typedef struct pass {
    uint32_t n_records;
    uint64_t n_rows, n_persons;
    double price; /* of the closure of what was passed, as of the last call of pass_price */
    bool changed;
} pass;

static pass pass_start(search *s, bench *b, const ranking *r)
{
    if (r->n_wide > 0 && ++b->scan == 0) {
        for (uint32_t q = 0; q < s->n_qis; q++)
            if (b->stamp[q] != NULL) memset(b->stamp[q], 0, s->pricer->columns[q].domain->n_codes * sizeof **b->stamp);
        b->scan = 1;
    }
    for (uint32_t q = 0; q < s->n_qis; q++) {
        b->spans[q] = kn_span_empty();
        b->prices[q] = 0;
    }
    b->n_active = r->n_wide;
    for (uint32_t i = 0; i < r->n_wide; i++) b->active[i] = r->wide[i];
    clear_group(b->reach, s, r, 0);
    return (pass){0};
}

static inline void span_add(const search *s, bench *b, uint32_t q, uint32_t code)
{
    kn_span *span = &b->spans[q];
    kn_span_add_value(span, &s->pricer->columns[q], code);
    if (code < span->first) span->first = code;
    if (code > span->last) span->last = code; /* 0 in an empty span */
    b->prices[q] = NAN;                       /* to be priced again */
}

/* Columns that are wide are followed record by record; one that has all values of the node leaves the active ones. */
static void add_wide(search *s, bench *b, const ranking *r, const node *n, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end && b->n_active > 0; i++) {
        const uint32_t *record = record_at(s, n, b->order[i]);
        for (uint32_t a = 0; a < b->n_active; a++) {
            uint32_t q = b->active[a], code = record[s->place[q]];
            if (b->stamp[q][code] == b->scan) continue;
            b->stamp[q][code] = b->scan;
            span_add(s, b, q, code);
            if (b->spans[q].n_values == r->n[q]) b->active[a--] = b->active[--b->n_active];
        }
    }
}

static void add_ordered(const search *s, bench *b)
{
    const uint32_t *lasts = b->reach + HEAD_WORDS, *firsts = lasts + s->n_lanes;
    for (uint32_t lane = 0; lane < s->n_ordered; lane++) {
        kn_span *span = &b->spans[s->ordered[lane]];
        uint32_t first = as_first(firsts[lane]), last = as_last(lasts[lane]);
        if (first == span->first && last == span->last) continue;
        span->first = first;
        span->last = last;
        b->prices[s->ordered[lane]] = NAN;
    }
}

static inline void pass_add(search *s, bench *b, const ranking *r, pass *p, const uint32_t *group)
{
    const kn_lanes4_loose *from = (const kn_lanes4_loose *)group;
    kn_lanes4_loose *reach = (kn_lanes4_loose *)b->reach;
    kn_lanes4 grown = {0};
    uint32_t n_ordered = ordered_vectors(s), n_vectors = r->group_words / 4;
    p->n_records += group[HEAD_RECORDS];
    p->n_rows += group[HEAD_ROWS];
    p->n_persons += group[HEAD_PERSONS];
    p->changed = true;
    if (s->by_median) return;
    for (uint32_t v = 1; v < n_ordered; v++) {
        kn_lanes4 united = greater_signed(reach[v], from[v]);
        grown |= united ^ reach[v];
        reach[v] = united;
    }
    if (kn_any_lane(grown)) add_ordered(s, b);
    for (uint32_t v = n_ordered; v < n_vectors; v++) {
        kn_lanes2_u64 fresh = (kn_lanes2_u64)(from[v] & ~reach[v]);
        reach[v] |= from[v];
        for (uint32_t half = 0; half < 2; half++)
            for (uint64_t left = fresh[half]; left != 0; left &= left - 1) {
                const struct bit_value *value =
                    &r->bits[(v - n_ordered) * 128 + half * 64 + (uint32_t)__builtin_ctzll(left)];
                span_add(s, b, value->q, value->code);
            }
    }
}

/* Price of one row in the closure of what was passed. */
static double pass_price(const search *s, bench *b, pass *p)
{
    if (!p->changed) return p->price;
    p->price = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (isnan(b->prices[q])) b->prices[q] = kn_pricer_price(s->pricer, q, &b->spans[q]);
        p->price += b->prices[q];
    }
    p->changed = false;
    return p->price;
}

static double waste(const search *s, uint64_t n_persons) { return n_persons < s->n_waste ? s->waste[n_persons] : 1; }

static bool better(const search *s, const cut *a, const cut *b)
{
    if (a->loss != b->loss) return a->loss < b->loss;
    if (s->first_column && a->column != b->column) return a->column < b->column;
    return a->imbalance < b->imbalance;
}

static bool histograms_allow(search *s, bench *b)
{
    return s->task->models->counts_only || (kn_tally_holds(s->task->models, &b->right, NULL, s->items, &b->view) &&
                                            kn_tally_holds(s->task->models, &b->whole, &b->right, s->items, &b->view));
}

static void tally_records(search *s, bench *b, const node *n, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) kn_tally_add(&b->right, s->items, record_at(s, n, b->order[i])[RECORD_ITEM]);
}

static void tally_node(search *s, bench *b, const node *n)
{
    kn_tally_clear(&b->whole, s->items);
    kn_tally_clear(&b->right, s->items);
    for (uint32_t i = 0; i < n_records(n); i++) kn_tally_add(&b->whole, s->items, record_at(s, n, i)[RECORD_ITEM]);
}

/* Weighted share of the column's range that lies between the node's first and last value; of sets, of its values. */
static double normalized_width(const search *s, const ranking *r, uint32_t q)
{
    const kn_domain *domain = s->pricer->columns[q].domain;
    if (domain->n_codes <= 1) return 0;
    if (domain->kind == KN_DOMAIN_SETS) return domain->weight * (r->n[q] - 1) / (domain->n_codes - 1);
    return domain->weight * (s->places[q][r->code[q][r->n[q] - 1]] - s->places[q][r->code[q][0]]);
}

static void fill_left_prices(search *s, bench *b, const ranking *r, const node *n, const uint32_t *groups,
                             uint32_t n_groups)
{
    pass p = pass_start(s, b, r);
    for (uint32_t g = 0; g + 1 < n_groups; g++) {
        const uint32_t *group = groups + (size_t)g * r->group_words;
        uint32_t begin = p.n_records;
        pass_add(s, b, r, &p, group);
        if (r->n_wide > 0) add_wide(s, b, r, n, begin, p.n_records);
        if (p.n_persons >= s->min_persons) b->left_price[g] = pass_price(s, b, &p);
        if (n->n_persons - p.n_persons < s->min_persons) break;
    }
}

/* Improves on *best where a cut of column q does. */
static void try_column(cut *best, search *s, bench *b, const ranking *r, const node *n, uint32_t q,
                       const uint32_t *groups, uint32_t n_groups)
{
    bool histograms = !s->task->models->counts_only;
    uint64_t n_rows = 0;
    for (uint32_t g = 0; g < n_groups; g++) n_rows += groups[(size_t)g * r->group_words + HEAD_ROWS];
    if (histograms) tally_node(s, b, n);
    if (!s->by_median) fill_left_prices(s, b, r, n, groups, n_groups);
    double width = normalized_width(s, r, q); /* `choose=median`: the widest has the least "loss" wherever it is cut */
    pass p = pass_start(s, b, r);
    for (uint32_t g = n_groups - 1; g > 0; g--) {
        const uint32_t *group = groups + (size_t)g * r->group_words;
        uint32_t end = n_records(n) - p.n_records, begin = end - group[HEAD_RECORDS];
        pass_add(s, b, r, &p, group);
        if (r->n_wide > 0 && !s->by_median) add_wide(s, b, r, n, begin, end);
        if (histograms) tally_records(s, b, n, begin, end);
        uint64_t left_persons = n->n_persons - p.n_persons;
        if (left_persons < s->min_persons) break;
        if (p.n_persons < s->min_persons) continue;
        double left_rows = (double)(n_rows - p.n_rows), right_rows = (double)p.n_rows;
        cut candidate = {-width, fabs(left_rows - right_rows), q, begin, group[HEAD_CODE], left_persons};
        if (!s->by_median) {
            candidate.loss = left_rows * b->left_price[g - 1] * waste(s, left_persons);
            if (candidate.loss > best->loss) continue;
            candidate.loss += right_rows * pass_price(s, b, &p) * waste(s, p.n_persons);
        }
        if (better(s, &candidate, best) && histograms_allow(s, b)) *best = candidate;
    }
}

/* The best cut in the columns from .. to-1, which are counted together as far as their groups fit. */
static cut best_in_columns(search *s, bench *b, const ranking *r, const node *n, uint32_t from, uint32_t to)
{
    cut best = no_cut;
    for (uint32_t q = from, end; q < to; q = end) {
        uint32_t n_groups = r->n[q];
        for (end = q + 1;
             !s->relaxed && end < to && end < q + COLUMNS_AT_ONCE && n_groups + r->n[end] <= GROUPS_AT_ONCE; end++)
            n_groups += r->n[end];
        if (!s->relaxed) count_groups(s, b, r, n, q, end);
        const uint32_t *groups = b->groups;
        for (uint32_t p = q; p < end; p++) {
            if (needs_order(s, r)) sort_by_column(s, b, r, n, p);
            for (uint32_t i = 0; s->relaxed && i < n_records(n); i++) {
                const uint32_t *record = record_at(s, n, b->order[i]);
                make_group(b->groups + (size_t)i * r->group_words, s, r, record, record[s->place[p]]);
            }
            n_groups = s->relaxed ? n_records(n) : r->n[p];
            if (n_groups > 1) try_column(&best, s, b, r, n, p, groups, n_groups);
            groups += (size_t)n_groups * r->group_words;
        }
    }
    return best;
}

/* --- Cutting --------------------------------------------------------------------------------------------------- */

static inline void copy_record(const search *s, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < s->stride; i += 2) memcpy(to + i, from + i, 2 * sizeof *to);
}

/* The two sides become ranges; within them the records stay in their order. */
static void divide(search *s, const node *n, const cut *c)
{
    uint32_t place = s->place[c->column];
    uint32_t *left = record_at(s, n, 0), *spare = s->spare + (size_t)n->begin * s->stride, *right = spare;
    for (uint32_t i = 0; i < n_records(n); i++) { /* to both sides, and only one is kept: there is nothing to guess */
        const uint32_t *record = record_at(s, n, i);
        bool goes_left = record[place] < c->code;
        copy_record(s, right, record);
        copy_record(s, left, record);
        left += goes_left ? s->stride : 0;
        right += goes_left ? 0 : s->stride;
    }
    memcpy(left, spare, (size_t)(right - spare) * sizeof *spare);
}

/* The same for relaxed cuts, which put the records into the order of the cut's column. */
static void divide_in_order(search *s, bench *b, const node *n, const cut *c)
{
    uint32_t *to = s->spare + (size_t)n->begin * s->stride;
    rank_columns(s, b, &b->ranking, n, c->column, c->column + 1);
    sort_by_column(s, b, &b->ranking, n, c->column);
    for (uint32_t i = 0; i < n_records(n); i++)
        copy_record(s, to + (size_t)i * s->stride, record_at(s, n, b->order[i]));
    memcpy(record_at(s, n, 0), to, (size_t)n_records(n) * s->stride * sizeof *to);
}

static void make_cut(node *left, node *right, search *s, bench *b, const node *n, const cut *c)
{
    if (s->relaxed) divide_in_order(s, b, n, c);
    else divide(s, n, c);
    *left = (node){n->begin, n->begin + c->n_left, c->left_persons};
    *right = (node){left->end, n->end, n->n_persons - c->left_persons};
    atomic_fetch_add(&s->n_cuts, 1);
}

static void finish_class(search *s, const node *n)
{
    s->begins_class[n->begin] = true;
    atomic_fetch_add(&s->n_items_done, n->end - n->begin);
}

static kn_status tick(search *s, kn_error *err)
{
    if (!kn_ticker_cancelled(s->task->ticker) && kn_ticker_out_of_time(s->task->ticker))
        atomic_store(&s->out_of_time, true);
    double done = (double)atomic_load(&s->n_items_done) / (s->items->n + 1.0);
    return kn_tick(s->task->ticker, "mondrian", done, err);
}

/* Both sides of a cut must fill a class. */
static bool may_be_cut(search *s, const node *n)
{
    return n->n_persons >= 2 * s->min_persons && !atomic_load(&s->out_of_time);
}

/* The rest of a small class: the smaller side first, so that the stack stays within log2(n). */
static kn_status cut_small(search *s, bench *b, node first, kn_error *err)
{
    kn_status status = KN_OK;
    node stack[64], left, right;
    uint32_t n_stack = 0;
    stack[n_stack++] = first;
    while (n_stack > 0) {
        node n = stack[--n_stack];
        cut best = no_cut;
        KN_TRY(tick(s, err));
        if (may_be_cut(s, &n)) {
            rank_columns(s, b, &b->ranking, &n, 0, s->n_qis);
            place_bits(s, &b->ranking);
            best = best_in_columns(s, b, &b->ranking, &n, 0, s->n_qis);
        }
        if (best.n_left == 0) {
            finish_class(s, &n);
            continue;
        }
        make_cut(&left, &right, s, b, &n, &best);
        bool left_larger = n_records(&left) > n_records(&right);
        assert(n_stack + 2 <= 64);
        stack[n_stack++] = left_larger ? left : right;
        stack[n_stack++] = left_larger ? right : left;
    }
done:
    return status;
}

static kn_status job_small(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    return cut_small(s, &s->benches[worker], s->large[job], err);
}

/* Large classes: the columns are shared out among the threads; all read the ranking of the first bench. */
static uint32_t share_begin(const search *s, size_t share) { return (uint32_t)(s->n_qis * share / s->n_shares); }

static kn_status job_rank(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    rank_columns(s, &s->benches[worker], &s->benches[0].ranking, &s->current, share_begin(s, job),
                 share_begin(s, job + 1));
    return tick(s, err);
}

static kn_status job_columns(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    s->share_cuts[job] = best_in_columns(s, &s->benches[worker], &s->benches[0].ranking, &s->current,
                                         share_begin(s, job), share_begin(s, job + 1));
    return tick(s, err);
}

static kn_status cut_of_large(cut *best, search *s, const node *n, kn_error *err)
{
    kn_status status = KN_OK;
    *best = no_cut;
    s->current = *n;
    if (!may_be_cut(s, n)) return KN_OK;
    KN_TRY(kn_pool_run(s->task->pool, s->n_shares, job_rank, s, err));
    place_bits(s, &s->benches[0].ranking);
    KN_TRY(kn_pool_run(s->task->pool, s->n_shares, job_columns, s, err));
    for (unsigned share = 0; share < s->n_shares; share++)
        if (better(s, &s->share_cuts[share], best)) *best = s->share_cuts[share];
done:
    return status;
}

/* Cuts one large class; no children: it is finished. */
static kn_status job_cut(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    node *left = &s->children[2 * job], *right = left + 1;
    *left = *right = (node){0};
    if (s->cuts[job].n_left == 0) finish_class(s, &s->large[job]);
    else make_cut(left, right, s, &s->benches[worker], &s->large[job], &s->cuts[job]);
    return KN_OK;
}

typedef KN_VECTOR(node) node_list;

/* One level: cuts every class of `large`, sorts the children into the next level and the small ones. */
static kn_status cut_level(search *s, node_list *large, node_list *next, node_list *small, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_large = large->n;
    KN_NEW_RAW(s->cuts, n_large);
    KN_NEW(s->children, 2 * n_large);
    s->large = large->items;
    for (size_t i = 0; i < n_large; i++) KN_TRY(cut_of_large(&s->cuts[i], s, &large->items[i], err));
    KN_TRY(kn_pool_run(s->task->pool, n_large, job_cut, s, err));
    for (size_t i = 0; i < 2 * n_large; i++)
        if (n_records(&s->children[i]) > 0)
            KN_PUSH(n_records(&s->children[i]) > SMALL_ITEMS ? next : small, s->children[i]);
done:
    kn_free(s->children);
    kn_free(s->cuts);
    s->children = NULL;
    s->cuts = NULL;
    return status;
}

static kn_status cut_all(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    node_list large = {0}, next = {0}, small = {0};
    node root = {.end = s->items->n};
    for (uint32_t i = 0; i < root.end; i++) root.n_persons += record_at(s, &root, i)[RECORD_PERSONS];
    if (root.end > 0) KN_PUSH(root.end > SMALL_ITEMS ? &large : &small, root);
    while (large.n > 0) {
        KN_TRY(cut_level(s, &large, &next, &small, err));
        kn_free(large.items);
        large = next;
        next = (node_list){0};
    }
    s->large = small.items;
    KN_TRY(kn_pool_run(s->task->pool, small.n, job_small, s, err));
done:
    kn_free(large.items);
    kn_free(next.items);
    kn_free(small.items);
    return status;
}

/* --- Setting up ------------------------------------------------------------------------------------------------ */

static void bench_free(const search *s, bench *b)
{
    for (uint32_t q = 0; q < s->n_qis; q++) {
        for (uint32_t level = 0; b->codes != NULL && level < MAX_CODE_LEVELS; level++)
            kn_free(b->codes[q].words[level]);
        if (b->stamp != NULL) kn_free(b->stamp[q]);
        if (b->ranking.code != NULL) kn_free(b->ranking.code[q]);
        if (b->ranking.rank != NULL) kn_free(b->ranking.rank[q]);
    }
    kn_free(b->codes);
    kn_free(b->stamp);
    kn_free(b->ranking.code);
    kn_free(b->ranking.rank);
    kn_free(b->ranking.n);
    kn_free(b->ranking.first_bit);
    kn_free(b->ranking.wide);
    kn_free(b->groups);
    kn_free(b->order);
    kn_free(b->begin);
    kn_free(b->left_price);
    kn_free(b->reach);
    kn_free(b->spans);
    kn_free(b->prices);
    kn_free(b->active);
    kn_tally_free(&b->whole);
    kn_tally_free(&b->right);
    kn_tally_view_free(&b->view);
}

static kn_status ranking_init(const search *s, bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    ranking *r = &b->ranking;
    KN_NEW(b->codes, s->n_qis);
    KN_NEW(b->stamp, s->n_qis);
    KN_NEW(r->code, s->n_qis);
    KN_NEW(r->rank, s->n_qis);
    KN_NEW(r->n, s->n_qis);
    KN_NEW(r->first_bit, s->n_qis);
    KN_NEW(r->wide, s->n_qis);
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t n_codes = s->pricer->columns[q].domain->n_codes, n_words = n_codes;
        KN_NEW_RAW(r->code[q], n_codes);
        KN_NEW_RAW(r->rank[q], n_codes);
        if (s->pricer->columns[q].domain->kind == KN_DOMAIN_SETS) KN_NEW(b->stamp[q], n_codes);
        do {
            n_words = n_words / 64 + 1;
            KN_NEW(b->codes[q].words[b->codes[q].n_levels], n_words);
            b->codes[q].n_levels++;
        } while (n_words > 1);
    }
done:
    return status;
}

/* Groups of any one column, or of several as far as they are counted together. */
static uint32_t max_groups(const search *s)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->n_codes > n) n = s->pricer->columns[q].domain->n_codes;
    if (n > s->items->n || s->relaxed) n = s->items->n;
    return n;
}

static kn_status bench_init(const search *s, bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_groups = max_groups(s), n = s->items->n, max_words = HEAD_WORDS + 2 * s->n_lanes + s->max_bits / 32;
    KN_TRY(ranking_init(s, b, err));
    KN_NEW_RAW(b->groups, (size_t)(n_groups > GROUPS_AT_ONCE ? n_groups : GROUPS_AT_ONCE) * max_words);
    KN_NEW_RAW(b->order, n);
    KN_NEW_RAW(b->begin, (size_t)n + 2);
    KN_NEW_RAW(b->left_price, n);
    KN_NEW(b->reach, max_words);
    KN_NEW(b->spans, s->n_qis);
    KN_NEW(b->prices, s->n_qis);
    KN_NEW(b->active, s->n_qis);
    KN_TRY(kn_tally_init(&b->whole, s->items, err));
    KN_TRY(kn_tally_init(&b->right, s->items, err));
    KN_TRY(kn_tally_view_init(&b->view, s->items, err));
done:
    return status;
}

/* Ordered columns first, in lanes. */
static kn_status place_columns(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = 0;
    KN_NEW(s->ordered, s->n_qis);
    KN_NEW(s->place, s->n_qis);
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->kind != KN_DOMAIN_SETS) {
            s->ordered[n] = q;
            s->place[q] = RECORD_CODES + n++;
        }
    s->n_ordered = n;
    s->n_lanes = (n + 3) / 4 * 4;
    s->stride = (RECORD_CODES + (s->n_qis > s->n_lanes ? s->n_qis : s->n_lanes) + 1) / 2 * 2;
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->kind == KN_DOMAIN_SETS) s->place[q] = RECORD_CODES + n++;
done:
    return status;
}

static kn_status fill_records(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_items *items = s->items;
    const kn_tuples *tuples = items->tuples;
    KN_NEW(s->records, ((size_t)items->n + 1) * s->stride);
    KN_NEW_RAW(s->spare, ((size_t)items->n + 1) * s->stride);
    KN_NEW(s->begins_class, items->n);
    for (uint32_t i = 0; i < items->n; i++) {
        uint32_t *record = s->records + (size_t)i * s->stride;
        record[RECORD_ITEM] = i;
        record[RECORD_ROWS] = kn_items_rows(items, i);
        record[RECORD_PERSONS] = items->persons[i];
        for (uint32_t q = 0; q < s->n_qis; q++) record[s->place[q]] = tuples->codes[q][items->tuple[i]];
    }
done:
    return status;
}

static kn_status fill_waste(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t k = s->min_persons, n = WASTE_CLASSES * k;
    if (n > s->items->tuples->n_persons) n = (uint64_t)s->items->tuples->n_persons + 1;
    KN_NEW_RAW(s->waste, n);
    for (uint64_t p = 0; p < n; p++) s->waste[p] = p < k ? 1 : cbrt((double)p / (double)(k * (p / k)));
    s->n_waste = n;
done:
    return status;
}

static kn_status make_answer(kn_answer *answer, const search *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *item_class = NULL, n_classes = 0;
    KN_NEW_RAW(item_class, s->items->n);
    for (uint32_t i = 0; i < s->items->n; i++) {
        n_classes += s->begins_class[i];
        item_class[s->records[(size_t)i * s->stride + RECORD_ITEM]] = n_classes - 1;
    }
    KN_TRY(kn_items_answer(answer, s->items, item_class, n_classes, err));
    answer->stopped = atomic_load(&s->out_of_time) ? KN_STOPPED_TIME : KN_STOPPED_DONE;
    answer->n_nodes = atomic_load(&s->n_cuts);
    answer->followed = kn_pricer_followed(s->pricer);
done:
    kn_free(item_class);
    return status;
}

static kn_status mondrian_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    kn_pricer *pricer = NULL;
    search s = {.task = task, .n_qis = task->tuples->n_qis};
    unsigned n_threads = kn_pool_threads(task->pool);
    s.relaxed = kn_args_is(task->args, "cut", "relaxed");
    s.by_median = kn_args_is(task->args, "choose", "median");
    s.first_column = s.by_median && kn_args_is(task->args, "ties", "first");
    bool by_value = kn_args_is(task->args, "widths", "values");
    s.min_persons = task->models->min_persons > 0 ? task->models->min_persons : 1;
    s.n_shares = n_threads < s.n_qis ? n_threads : s.n_qis;
    bool histograms = (task->models->needs & KN_NEEDS_HISTOGRAM) != 0;
    KN_TRY(kn_items_new(&items, task->tuples, s.relaxed ? 1 : KN_WHOLE_TUPLES, histograms, err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    s.items = items;
    s.pricer = pricer;
    KN_NEW(s.places, s.n_qis);
    for (uint32_t q = 0; q < s.n_qis; q++)
        KN_TRY(kn_code_places(&s.places[q], task->tuples->domains[q], by_value, err));
    KN_TRY(place_columns(&s, err));
    s.max_bits = max_groups(&s) <= SMALL_ITEMS ? MAX_BITS : MAX_BITS / 8;
    KN_TRY(fill_records(&s, err));
    KN_TRY(fill_waste(&s, err));
    KN_NEW_RAW(s.share_cuts, n_threads);
    KN_NEW(s.benches, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(bench_init(&s, &s.benches[i], err));
    KN_TRY(cut_all(&s, err));
    KN_TRY(make_answer(answer, &s, err));
done:
    for (unsigned i = 0; s.benches != NULL && i < n_threads; i++) bench_free(&s, &s.benches[i]);
    for (uint32_t q = 0; s.places != NULL && q < s.n_qis; q++) kn_free(s.places[q]);
    kn_free(s.places);
    kn_free(s.benches);
    kn_free(s.share_cuts);
    kn_free(s.ordered);
    kn_free(s.place);
    kn_free(s.waste);
    kn_free(s.records);
    kn_free(s.spare);
    kn_free(s.begins_class);
    kn_pricer_free(pricer);
    kn_items_free(items);
    return status;
}

static const kn_param params[] = {
    {.name = "cut",
     .type = KN_PARAM_CHOICE,
     .preset = "strict",
     .choices = "strict|relaxed",
     .help = "relaxed: rows with equal values may be cut apart, classes stay below 2k"},
    {.name = "choose",
     .type = KN_PARAM_CHOICE,
     .preset = "loss",
     .choices = "loss|median",
     .help = "loss: the cut that leaves the least loss; median: the paper's, the median of the widest column"},
    {.name = "ties",
     .type = KN_PARAM_CHOICE,
     .preset = "first",
     .choices = "first|even",
     .help = "choose=median: of equally wide columns cut the first, or the one that is cut most evenly"},
    {.name = "widths",
     .type = KN_PARAM_CHOICE,
     .preset = "values",
     .choices = "values|ranks",
     .help =
         "choose=median: widths of numbers and dates by their values, or by their places among the distinct values"},
};

const kn_algorithm kn_algorithm_mondrian = {
    .name = "mondrian",
    .summary = "cuts the table by one column at a time while both sides satisfy the models",
    .citation =
        "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, 2006; Ciriani et al. 2007, 4.1.2",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .search = mondrian_search,
};
