/* The best cut of a class of few records, of which there are the most: what mondrian_cut.c does for large ones would
 * take longer to set up than to do.
 *
 * A record has a word per live column with one bit set: that of its value, numbered in the class. Records, and then the
 * groups of a side, are united by a few vector operations each, and the bits that are new are the values by which its
 * closure grows. */
#include "base/lanes.h"
#include "search/local/mondrian_cut.h"

#include <string.h>

/* What a cut does not run through, in the order of a column: the records with one value, or single ones when cuts are
 * relaxed. */
typedef struct group {
    uint32_t code, n_records;
    uint64_t n_rows, n_persons;
} group;

/* Words of a record or group, in whole vectors of two. */
static inline uint32_t n_words(const kn_mondrian_ranking *r) { return (r->n_live + 1) / 2 * 2; }

static void fill_records(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    const kn_mondrian_ranking *r = &b->ranking;
    const uint32_t n_records = kn_mondrian_records(n), width = n_words(r);
    memset(b->bits, 0, (size_t)n_records * width * sizeof *b->bits);
    for (uint32_t l = 0; l < r->n_live; l++) {
        const uint32_t *code = kn_mondrian_record(s, n, 0) + s->place[r->live[l]], *rank = r->rank[r->live[l]];
        for (uint32_t i = 0; i < n_records; i++, code += s->stride)
            b->bits[(size_t)i * width + l] = (uint64_t)1 << rank[*code];
    }
}

/* Puts the records into groups[] and, their bits united, b->united[]; returns how many groups there are. */
static uint32_t fill_groups(group *groups, const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n,
                            uint32_t l)
{
    const kn_mondrian_ranking *r = &b->ranking;
    const uint32_t q = r->live[l], n_records = kn_mondrian_records(n), width = n_words(r);
    const uint32_t n_groups = s->relaxed ? n_records : r->n[q];
    if (s->relaxed) kn_mondrian_sort(s, b, r, n, q);
    memset(groups, 0, n_groups * sizeof *groups);
    memset(b->united, 0, (size_t)n_groups * width * sizeof *b->united);
    for (uint32_t i = 0; i < n_records; i++) {
        const uint32_t at = s->relaxed ? b->order[i] : i, *record = kn_mondrian_record(s, n, at);
        const uint64_t *bits = b->bits + (size_t)at * width;
        const uint32_t g = s->relaxed ? i : (uint32_t)__builtin_ctzll(bits[l]);
        kn_lanes2_u64 *united = (kn_lanes2_u64 *)(b->united + (size_t)g * width);
        for (uint32_t v = 0; v < width / 2; v++) united[v] |= ((const kn_lanes2_u64 *)bits)[v];
        groups[g].code = record[s->place[q]];
        groups[g].n_records++;
        groups[g].n_rows += record[RECORD_ROWS];
        groups[g].n_persons += record[RECORD_PERSONS];
    }
    return n_groups;
}

/* One pass over the groups of a column, from the left or from the right. */
typedef struct pass {
    uint32_t n_records;
    uint64_t n_rows, n_persons;
} pass;

static pass pass_start(kn_mondrian_bench *b)
{
    kn_growing_clear_open(&b->growing);
    memset(b->passed, 0, 2 * n_words(&b->ranking) * sizeof *b->passed);
    return (pass){0};
}

static inline void pass_add(pass *p, kn_mondrian_bench *b, const group *groups, uint32_t g)
{
    const uint32_t width = n_words(&b->ranking);
    const kn_lanes2_u64 *united = (const kn_lanes2_u64 *)(b->united + (size_t)g * width);
    kn_lanes2_u64 *passed = (kn_lanes2_u64 *)b->passed;
    for (uint32_t v = 0; v < width / 2; v++) passed[v] |= united[v];
    p->n_records += groups[g].n_records;
    p->n_rows += groups[g].n_rows;
    p->n_persons += groups[g].n_persons;
}

/* The closure grows by what was passed. */
static void pass_grow(const kn_mondrian *s, kn_mondrian_bench *b)
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
            for (; fresh != 0; fresh &= fresh - 1) kn_growing_add_new(&b->growing, q, code[__builtin_ctzll(fresh)]);
    }
}

/* b->left_price[g]: of the groups in front of it, wherever a cut may be that is not beaten by them alone. */
static void price_left(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, const group *groups,
                       uint32_t n_groups, const kn_mondrian_cut *best)
{
    uint32_t g = 1;
    bool beaten = false;
    for (pass p = pass_start(b); g < n_groups && !beaten; g++) {
        pass_add(&p, b, groups, g - 1);
        if (n->n_persons - p.n_persons < s->min_persons) return;
        if (p.n_persons < s->min_persons) continue;
        pass_grow(s, b);
        b->left_price[g] = kn_growing_price(&b->growing);
        beaten = kn_mondrian_is_beaten(s, (double)p.n_rows * b->left_price[g], best);
    }
    for (; g < n_groups; g++) b->left_price[g] = INFINITY;
}

/* Improves on *best where a cut of the l-th live column does. */
static void try_column(kn_mondrian_cut *best, kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n,
                       uint32_t l, uint64_t n_rows, bool ask_models)
{
    group groups[KN_MONDRIAN_SMALL];
    const uint32_t q = b->ranking.live[l], n_groups = fill_groups(groups, s, b, n, l);
    const double width = kn_mondrian_width(s, &b->ranking, q);
    double right_price = 0; /* or less than it is */
    if (!s->by_median) price_left(s, b, n, groups, n_groups, best);
    pass p = pass_start(b);
    for (uint32_t g = n_groups - 1; g > 0; g--) {
        pass_add(&p, b, groups, g);
        const uint64_t left_persons = n->n_persons - p.n_persons;
        if (left_persons < s->min_persons) break;
        if (p.n_persons < s->min_persons) continue;
        const uint32_t n_left = kn_mondrian_records(n) - p.n_records;
        const double left_rows = (double)(n_rows - p.n_rows), right_rows = (double)p.n_rows;
        kn_mondrian_cut candidate = {-width, fabs(left_rows - right_rows), q, n_left, groups[g].code, left_persons};
        if (!s->by_median) {
            if (kn_mondrian_is_beaten(s, right_rows * right_price, best)) break;
            candidate.loss = left_rows * b->left_price[g] * kn_mondrian_waste(s, left_persons);
            if (candidate.loss > best->loss) continue;
            pass_grow(s, b);
            const double right_weight = right_rows * kn_mondrian_waste(s, p.n_persons);
            if (kn_mondrian_is_beaten(s, candidate.loss + right_weight * right_price, best)) continue;
            right_price = kn_growing_price(&b->growing);
            candidate.loss += right_rows * right_price * kn_mondrian_waste(s, p.n_persons);
        }
        if (!kn_mondrian_better(s, &candidate, best)) continue;
        if (!ask_models || kn_mondrian_allows(s, b, n, &candidate)) *best = candidate;
    }
}

kn_mondrian_cut kn_mondrian_small_cut(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    kn_mondrian_cut best;
    uint64_t n_rows = 0;
    fill_records(s, b, n);
    kn_mondrian_settle(s, b, &b->ranking);
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++) n_rows += kn_mondrian_record(s, n, i)[RECORD_ROWS];
    for (bool ask_models = kn_mondrian_asks_first(s);; ask_models = true) {
        best = kn_mondrian_no_cut;
        for (uint32_t l = 0; l < b->ranking.n_live; l++) try_column(&best, s, b, n, l, n_rows, ask_models);
        if (ask_models || best.n_left == 0 || kn_mondrian_allows(s, b, n, &best)) return best;
    }
}
