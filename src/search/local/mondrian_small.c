/* The best cut of a class of few records, of which there are the most: what mondrian_cut.c does for large ones would
 * take longer to set up than to do.
 *
 * A record has a word per live column with one bit set: that of its value, numbered in the class. The records of a side
 * are united by a few vector operations each, and the bits that are new are the values by which its closure grows. */
#include "base/lanes.h"
#include "search/local/mondrian_cut.h"

#include <string.h>

/* Words of a record, in whole vectors of two. */
static inline uint32_t n_words(const kn_mondrian_ranking *r) { return (r->n_live + 1) / 2 * 2; }

static void fill_records(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    const kn_mondrian_ranking *r = &b->ranking;
    const uint32_t n_records = kn_mondrian_records(n), width = n_words(r);
    for (uint32_t l = 0; l < width; l++) {
        const uint32_t *code = kn_mondrian_record(s, n, 0), *rank = NULL;
        uint64_t *bits = b->bits + l;
        if (l < r->n_live) {
            code += s->place[r->live[l]];
            rank = r->rank[r->live[l]];
        }
        for (uint32_t i = 0; i < n_records; i++, code += s->stride, bits += width)
            *bits = rank != NULL ? (uint64_t)1 << rank[*code] : 0;
    }
}

/* One pass over the records in the order of a column, from the left or from the right. */
typedef struct pass {
    uint64_t n_rows, n_persons;
} pass;

static pass pass_start(kn_mondrian_bench *b)
{
    kn_mondrian_start_pass(b, &b->ranking);
    memset(b->passed, 0, 2 * n_words(&b->ranking) * sizeof *b->passed);
    return (pass){0};
}

static inline void pass_add(pass *p, kn_mondrian_bench *b, uint32_t index, const uint32_t *record)
{
    const uint32_t width = n_words(&b->ranking);
    const kn_lanes2_u64 *bits = (const kn_lanes2_u64 *)(b->bits + (size_t)index * width);
    kn_lanes2_u64 *passed = (kn_lanes2_u64 *)b->passed;
    for (uint32_t w = 0; w < width / 2; w++) passed[w] |= bits[w];
    p->n_rows += record[RECORD_ROWS];
    p->n_persons += record[RECORD_PERSONS];
}

/* The price of what was passed. */
static double pass_price(const kn_mondrian *s, kn_mondrian_bench *b)
{
    const kn_mondrian_ranking *r = &b->ranking;
    uint64_t *passed = b->passed, *priced = passed + n_words(r);
    for (uint32_t l = 0; l < r->n_live; l++) {
        const uint32_t q = r->live[l], *code = r->code[q];
        uint64_t fresh = passed[l] & ~priced[l];
        if (fresh == 0) continue;
        priced[l] = passed[l];
        if (s->pricer->columns[q].domain->kind != KN_DOMAIN_SETS)
            kn_growing_span(&b->growing, q, code[__builtin_ctzll(passed[l])], code[63 - __builtin_clzll(passed[l])]);
        else
            for (; fresh != 0; fresh &= fresh - 1) kn_growing_add_code(&b->growing, q, code[__builtin_ctzll(fresh)]);
    }
    return kn_growing_price(&b->growing);
}

/* May a cut run in front of the i-th record in the order of the column? */
static inline bool may_cut(const kn_mondrian *s, const kn_mondrian_bench *b, const kn_mondrian_node *n, uint32_t i,
                           uint32_t place)
{
    return s->relaxed ||
           kn_mondrian_record(s, n, b->order[i])[place] != kn_mondrian_record(s, n, b->order[i - 1])[place];
}

static void price_left(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, uint32_t place)
{
    pass p = pass_start(b);
    for (uint32_t i = 1; i < kn_mondrian_records(n); i++) {
        pass_add(&p, b, b->order[i - 1], kn_mondrian_record(s, n, b->order[i - 1]));
        if (n->n_persons - p.n_persons < s->min_persons) break;
        if (p.n_persons >= s->min_persons && may_cut(s, b, n, i, place)) b->left_price[i] = pass_price(s, b);
    }
}

/* Do the models look at no histograms, or hold on both sides of a cut in front of the i-th record? */
static bool allows(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, uint32_t i)
{
    if (s->task->models->counts_only) return true;
    kn_tally_clear(&b->whole);
    kn_tally_clear(&b->right);
    for (uint32_t j = 0; j < kn_mondrian_records(n); j++)
        kn_tally_add(j < i ? &b->whole : &b->right, kn_mondrian_record(s, n, b->order[j])[RECORD_ITEM]);
    return kn_tally_holds(s->task->models, &b->right, NULL) && kn_tally_holds(s->task->models, &b->whole, NULL);
}

/* Improves on *best where a cut of column q does. */
static void try_column(kn_mondrian_cut *best, kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n,
                       uint32_t q, uint64_t n_rows)
{
    const uint32_t place = s->place[q];
    const double width = kn_mondrian_width(s, &b->ranking, q);
    kn_mondrian_sort(s, b, &b->ranking, n, q);
    if (!s->by_median) price_left(s, b, n, place);
    pass p = pass_start(b);
    for (uint32_t i = kn_mondrian_records(n) - 1; i > 0; i--) {
        const uint32_t *record = kn_mondrian_record(s, n, b->order[i]);
        pass_add(&p, b, b->order[i], record);
        const uint64_t left_persons = n->n_persons - p.n_persons;
        if (left_persons < s->min_persons) break;
        if (p.n_persons < s->min_persons || !may_cut(s, b, n, i, place)) continue;
        const double left_rows = (double)(n_rows - p.n_rows), right_rows = (double)p.n_rows;
        kn_mondrian_cut candidate = {-width, fabs(left_rows - right_rows), q, i, record[place], left_persons};
        if (!s->by_median) {
            candidate.loss = left_rows * b->left_price[i] * kn_mondrian_waste(s, left_persons);
            if (candidate.loss > best->loss) continue;
            candidate.loss += right_rows * pass_price(s, b) * kn_mondrian_waste(s, p.n_persons);
        }
        if (kn_mondrian_better(s, &candidate, best) && allows(s, b, n, i)) *best = candidate;
    }
}

kn_mondrian_cut kn_mondrian_small_cut(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    kn_mondrian_cut best = kn_mondrian_no_cut;
    uint64_t n_rows = 0;
    fill_records(s, b, n);
    kn_mondrian_settle(s, b, &b->ranking);
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++) n_rows += kn_mondrian_record(s, n, i)[RECORD_ROWS];
    for (uint32_t l = 0; l < b->ranking.n_live; l++) try_column(&best, s, b, n, b->ranking.live[l], n_rows);
    return best;
}
