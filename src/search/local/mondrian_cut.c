/* The best cut of a class of Mondrian.
 *
 * In: a class, a range of records. Out: the allowable cut that leaves the least loss, or the one that the paper
 * prefers.
 *
 * The records are united by their values, all columns in one run over the records, by a few vector operations per
 * record and column; cuts are then tried over distinct values, not over records. */
#include "search/local/mondrian_cut.h"

#include "base/lanes.h"

#include <string.h>

enum {
    MAX_CODE_LEVELS = 6,   /* of a code_set: 64 ** 6 is more than there are codes */
    COLUMNS_AT_ONCE = 16,  /* are counted together, up to so many ... */
    GROUPS_AT_ONCE = 4096, /* ... groups */
    MANY_GROUPS = 16384,   /* sets have fewer bits where a column may have more groups */
    FEW_RECORDS = 64,      /* are counted for a cut that is asked about, not along the way */
    RECORDS_AT_ONCE = 256, /* are ranked column by column: as many as stay in the cache */
};

/* A set of codes that is taken out in ascending order. words[0] has a bit per code, words[1] one per word of words[0]
 * that is not zero, and so on, so that few codes among many are found quickly. */
typedef struct code_set {
    uint64_t *words[MAX_CODE_LEVELS];
    uint32_t n_levels;
} code_set;

// clang-format off
/* What a cut does not run through, in the order of a column: the records with one value, or single ones when cuts are
 * relaxed. Numbers of 32 bits in whole vectors, so that two groups are united by a few vector operations:
 *
 *   head    code, rows, persons, records                         added up
 *   lasts   the greatest code of each ordered column             the greater, as signed numbers: what processors have
 *   firsts  the same of the codes' complements: the least code   the greater
 *   sets    a bit per value                                      or
 */
// clang-format on
enum { HEAD_CODE, HEAD_ROWS, HEAD_PERSONS, HEAD_RECORDS, HEAD_WORDS };

static inline uint32_t as_last(uint32_t code) { return code ^ 0x80000000u; }
static inline uint32_t as_first(uint32_t code) { return code ^ 0x7fffffffu; }

/* --- The values of a node -------------------------------------------------------------------------------------- */

static void code_set_add(code_set *set, uint32_t code)
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

/* Most codes are known: to see that takes no more than a look at their bit. */
static void code_set_add_column(code_set *set, const uint32_t *codes, uint32_t n, uint32_t stride)
{
    const uint64_t *words = set->words[0];
    for (const uint32_t *code = codes, *end = codes + (size_t)n * stride; code < end; code += stride)
        if ((words[*code >> 6] >> (*code & 63) & 1) == 0) code_set_add(set, *code);
}

/* Columns with one value have that of the first record. */
void kn_mondrian_rank(const kn_mondrian *s, kn_mondrian_bench *b, kn_mondrian_ranking *r, const kn_mondrian_node *n,
                      uint32_t from, uint32_t to)
{
    const uint32_t n_records = kn_mondrian_records(n);
    uint32_t n_looked_at = 0;
    for (uint32_t q = from; q < to; q++) {
        if (q >= 64 || (n->varied >> q & 1) != 0) b->looked_at[n_looked_at++] = q;
        else code_set_add(&b->codes[q], kn_mondrian_record(s, n, 0)[s->place[q]]);
    }
    for (uint32_t begin = 0, n_now; begin < n_records; begin += n_now) {
        n_now = n_records - begin < RECORDS_AT_ONCE ? n_records - begin : RECORDS_AT_ONCE;
        for (uint32_t i = 0; i < n_looked_at; i++) {
            uint32_t q = b->looked_at[i];
            code_set_add_column(&b->codes[q], kn_mondrian_record(s, n, begin) + s->place[q], n_now, s->stride);
        }
    }
    for (uint32_t q = from; q < to; q++) {
        r->n[q] = code_set_take(r->code[q], 0, &b->codes[q], b->codes[q].n_levels - 1, 0);
        for (uint32_t i = 0; i < r->n[q]; i++) r->rank[q][r->code[q][i]] = i;
    }
}

static void give_bits(kn_mondrian_ranking *r, uint32_t q, uint32_t *n_bits)
{
    r->first_bit[q] = *n_bits;
    for (uint32_t i = 0; i < r->n[q]; i++) r->bits[(*n_bits)++] = (struct bit_value){q, r->code[q][i]};
}

static bool is_ordered(const kn_mondrian *s, uint32_t q)
{
    return s->pricer->columns[q].domain->kind != KN_DOMAIN_SETS;
}

/* Ordered columns are near where they leave room for others; returns their bits. */
static uint32_t place_ordered(const kn_mondrian *s, kn_mondrian_ranking *r)
{
    uint32_t n_bits = 0, n_values = 0, n_ordered = 0;
    for (uint32_t i = 0; i < r->n_live; i++)
        if (is_ordered(s, r->live[i])) {
            n_values += r->n[r->live[i]];
            n_ordered++;
        }
    r->n_near = 0;
    r->n_lanes = s->n_lanes;
    if (n_values > KN_MONDRIAN_NEAR / 2 || n_ordered > KN_MONDRIAN_SETS / 2) return 0;
    r->n_lanes = 0;
    for (uint32_t i = 0; i < r->n_live; i++)
        if (is_ordered(s, r->live[i])) {
            r->near[r->n_near++] = r->live[i];
            give_bits(r, r->live[i], &n_bits);
        }
    return n_bits;
}

/* Values of live columns get their bits, once all are ranked: the sets of the fewest values first. */
static void place_bits(const kn_mondrian *s, kn_mondrian_ranking *r)
{
    uint32_t *sets = r->wide, n_sets = 0; /* what is left in the end is wide */
    for (uint32_t i = 0; i < r->n_live; i++) {
        uint32_t q = r->live[i], at = n_sets;
        if (is_ordered(s, q)) continue;
        for (; at > 0 && r->n[sets[at - 1]] > r->n[q]; at--) sets[at] = sets[at - 1];
        sets[at] = q;
        n_sets++;
    }
    for (uint32_t q = 0; q < s->n_qis; q++) r->first_bit[q] = KN_NONE;
    uint32_t n_bits = place_ordered(s, r), next = 0;
    for (; next < n_sets && r->n_near < KN_MONDRIAN_SETS && n_bits + r->n[sets[next]] <= KN_MONDRIAN_NEAR; next++) {
        r->near[r->n_near++] = sets[next];
        give_bits(r, sets[next], &n_bits);
    }
    r->near_vectors = (n_bits + 127) / 128;
    n_bits = r->near_vectors * 128;
    for (r->n_far = 0; next < n_sets && r->n_far < KN_MONDRIAN_SETS && n_bits + r->n[sets[next]] <= s->max_bits;
         next++) {
        r->far[r->n_far++] = sets[next];
        give_bits(r, sets[next], &n_bits);
    }
    r->n_wide = n_sets - next;
    memmove(r->wide, sets + next, r->n_wide * sizeof *sets);
    r->group_words = HEAD_WORDS + 2 * r->n_lanes + (n_bits + 127) / 128 * 4;
}

void kn_mondrian_find_live(const kn_mondrian *s, kn_mondrian_ranking *r, kn_mondrian_node *n)
{
    r->n_live = 0;
    n->varied = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (r->n[q] == 1 && !s->relaxed) continue;
        r->live[r->n_live++] = q;
        if (q < 64) n->varied |= (uint64_t)1 << q;
    }
    place_bits(s, r);
}

/* --- Groups ---------------------------------------------------------------------------------------------------- */

KN_INLINE kn_lanes4 greater_signed(kn_lanes4 a, kn_lanes4 b)
{
    kn_lanes4 more = (kn_lanes4)((kn_lanes4_i32)a > (kn_lanes4_i32)b);
    return (a & more) | (b & ~more);
}

/* The first vector of bits. */
KN_INLINE uint32_t ordered_vectors(const kn_mondrian_ranking *r) { return (HEAD_WORDS + 2 * r->n_lanes) / 4; }

KN_INLINE void clear_group(uint32_t *group, const kn_mondrian_ranking *r, uint32_t code)
{
    const kn_lanes4 least = {0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u}; /* as signed numbers */
    kn_lanes4_loose *vectors = (kn_lanes4_loose *)group;
    uint32_t n_ordered = ordered_vectors(r), n_vectors = r->group_words / 4;
    vectors[0] = (kn_lanes4){code, 0, 0, 0};
    for (uint32_t v = 1; v < n_ordered; v++) vectors[v] = least;
    for (uint32_t v = n_ordered; v < n_vectors; v++) vectors[v] = (kn_lanes4){0};
}

/* A record as a group. */
static void make_group(uint32_t *group, const kn_mondrian *s, const kn_mondrian_ranking *r, const uint32_t *record,
                       uint32_t code)
{
    uint32_t *lasts = group + HEAD_WORDS, *firsts = lasts + r->n_lanes, *bits = firsts + r->n_lanes;
    clear_group(group, r, code);
    group[HEAD_ROWS] = record[RECORD_ROWS];
    group[HEAD_PERSONS] = record[RECORD_PERSONS];
    group[HEAD_RECORDS] = 1;
    for (uint32_t lane = 0; r->n_lanes > 0 && lane < s->n_ordered; lane++) {
        lasts[lane] = as_last(record[RECORD_CODES + lane]);
        firsts[lane] = as_first(record[RECORD_CODES + lane]);
    }
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (r->first_bit[q] == KN_NONE) continue;
        const uint32_t bit = r->first_bit[q] + r->rank[q][record[s->place[q]]];
        bits[bit / 32] |= 1u << (bit & 31);
    }
}

/* The hot loop: adds every record to its group in each of the live columns from .. to-1. Lanes beyond the ordered
 * columns hold anything: nobody looks at them. Constant widths, and local copies that no group can overlap, make it
 * fast. */
KN_INLINE void add_records(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                           const kn_mondrian_node *n, uint32_t from, uint32_t to, uint32_t n_lanes,
                           uint32_t near_vectors, uint32_t n_far)
{
    struct {
        const uint32_t *rank;
        uint32_t *groups, place;
        const kn_lanes4 *one_hot; /* of near columns */
    } columns[COLUMNS_AT_ONCE], near[KN_MONDRIAN_SETS];
    struct {
        const uint32_t *rank;
        uint32_t place, first_bit, word, mask; /* the last two: of the record at hand */
    } far[KN_MONDRIAN_SETS];
    const uint32_t *record = kn_mondrian_record(s, n, 0), *end = kn_mondrian_record(s, n, kn_mondrian_records(n));
    const uint32_t n_columns = to - from, n_near = r->n_near, group_words = r->group_words, stride = s->stride;
    uint32_t *groups = b->groups;
    for (uint32_t i = 0; i < n_columns; i++) {
        columns[i].rank = r->rank[r->live[from + i]];
        columns[i].place = s->place[r->live[from + i]];
        columns[i].groups = groups;
        groups += (size_t)r->n[r->live[from + i]] * group_words;
    }
    for (uint32_t i = 0; i < n_near; i++) {
        near[i].rank = r->rank[r->near[i]];
        near[i].place = s->place[r->near[i]];
        near[i].one_hot = (const kn_lanes4 *)s->one_hot[near_vectors] + r->first_bit[r->near[i]] * near_vectors;
    }
    for (uint32_t i = 0; i < n_far; i++) {
        far[i].rank = r->rank[r->far[i]];
        far[i].place = s->place[r->far[i]];
        far[i].first_bit = r->first_bit[r->far[i]];
    }
    for (; record < end; record += stride) {
        const kn_lanes4 head =
            (*(const kn_lanes4_loose *)record & (kn_lanes4){0, ~0u, ~0u, 0}) + (kn_lanes4){0, 0, 0, 1};
        const kn_lanes4_loose *codes = (const kn_lanes4_loose *)(record + RECORD_CODES);
        kn_lanes4 bits[2] = {{0}};
        for (uint32_t i = 0; i < n_near; i++) {
            const kn_lanes4 *own = near[i].one_hot + near[i].rank[record[near[i].place]] * near_vectors;
            for (uint32_t v = 0; v < near_vectors; v++) bits[v] |= own[v];
        }
        for (uint32_t i = 0; i < n_far; i++) {
            const uint32_t bit = far[i].first_bit + far[i].rank[record[far[i].place]];
            far[i].word = HEAD_WORDS + 2 * n_lanes + bit / 32;
            far[i].mask = 1u << (bit & 31);
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
            for (uint32_t v = 0; v < near_vectors; v++) words[v] |= bits[v];
            for (uint32_t f = 0; f < n_far; f++) group[far[f].word] |= far[f].mask;
        }
    }
}

/* Groups of the live columns from .. to-1, one column after the other. */
static void count_groups(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                         const kn_mondrian_node *n, uint32_t from, uint32_t to)
{
    uint32_t *group = b->groups;
    for (uint32_t l = from; l < to; l++) {
        const uint32_t q = r->live[l];
        for (uint32_t i = 0; i < r->n[q]; i++, group += r->group_words) clear_group(group, r, r->code[q][i]);
    }
#define WITH(lanes, vectors, far)                                                                                      \
    if (r->n_lanes == (lanes) && r->near_vectors == (vectors) && r->n_far == (far)) {                                  \
        add_records(s, b, r, n, from, to, lanes, vectors, far);                                                        \
        return;                                                                                                        \
    }
#define WITH_LANES(lanes)                                                                                              \
    WITH(lanes, 0, 0)                                                                                                  \
    WITH(lanes, 0, 1)                                                                                                  \
    WITH(lanes, 1, 0)                                                                                                  \
    WITH(lanes, 1, 1)                                                                                                  \
    WITH(lanes, 2, 0)                                                                                                  \
    WITH(lanes, 2, 1)
    WITH_LANES(0)
    WITH_LANES(4)
    WITH_LANES(8)
#undef WITH_LANES
#undef WITH
    add_records(s, b, r, n, from, to, r->n_lanes, r->near_vectors, r->n_far);
}

/* The records of a node in the order of column q, those of one value as they stand. */
void kn_mondrian_sort(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                      const kn_mondrian_node *n, uint32_t q)
{
    memset(b->begin, 0, (r->n[q] + (size_t)2) * sizeof *b->begin);
    uint32_t *begin = b->begin + 1;
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++)
        begin[r->rank[q][kn_mondrian_record(s, n, i)[s->place[q]]] + 1]++;
    for (uint32_t v = 0; v < r->n[q]; v++) begin[v + 1] += begin[v];
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++)
        b->order[begin[r->rank[q][kn_mondrian_record(s, n, i)[s->place[q]]]]++] = i;
}

/* Are sensitive values counted along the way? */
static bool tallies(const kn_mondrian *s, const kn_mondrian_node *n, bool ask_models)
{
    return ask_models && (s->relaxed || kn_mondrian_records(n) > FEW_RECORDS);
}

static bool needs_order(const kn_mondrian *s, const kn_mondrian_ranking *r, const kn_mondrian_node *n, bool ask_models)
{
    return s->relaxed || r->n_wide > 0 || tallies(s, n, ask_models);
}

/* --- The best cut in one column -------------------------------------------------------------------------------- */

/* One pass over the groups of a column, from the left or from the right. */
typedef struct pass {
    uint32_t n_records;
    uint64_t n_rows, n_persons;
} pass;

static pass pass_start(kn_mondrian_bench *b, const kn_mondrian_ranking *r)
{
    kn_growing_clear_open(&b->growing);
    b->n_active = r->n_wide;
    for (uint32_t i = 0; i < r->n_wide; i++) b->active[i] = r->wide[i];
    clear_group(b->reach, r, 0);
    return (pass){0};
}

/* Columns that are wide are followed record by record; one that has all values of the node leaves the active ones. */
static void add_wide(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r, const kn_mondrian_node *n,
                     uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end && b->n_active > 0; i++) {
        const uint32_t *record = kn_mondrian_record(s, n, b->order[i]);
        for (uint32_t a = 0; a < b->n_active; a++) {
            uint32_t q = b->active[a];
            if (kn_growing_add_code(&b->growing, q, record[s->place[q]]) && b->growing.spans[q].n_values == r->n[q])
                b->active[a--] = b->active[--b->n_active];
        }
    }
}

static void add_ordered(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r)
{
    const uint32_t *lasts = b->reach + HEAD_WORDS, *firsts = lasts + r->n_lanes;
    for (uint32_t lane = 0; lane < s->n_ordered; lane++)
        kn_growing_span(&b->growing, s->ordered[lane], as_first(firsts[lane]), as_last(lasts[lane]));
}

static inline void pass_add(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r, pass *p,
                            const uint32_t *group)
{
    const kn_lanes4_loose *from = (const kn_lanes4_loose *)group;
    kn_lanes4_loose *reach = (kn_lanes4_loose *)b->reach;
    kn_lanes4 grown = {0};
    uint32_t n_ordered = ordered_vectors(r), n_vectors = r->group_words / 4;
    p->n_records += group[HEAD_RECORDS];
    p->n_rows += group[HEAD_ROWS];
    p->n_persons += group[HEAD_PERSONS];
    if (s->by_median) return;
    for (uint32_t v = 1; v < n_ordered; v++) {
        kn_lanes4 united = greater_signed(reach[v], from[v]);
        grown |= united ^ reach[v];
        reach[v] = united;
    }
    if (kn_any_lane(grown)) add_ordered(s, b, r);
    for (uint32_t v = n_ordered; v < n_vectors; v++) {
        kn_lanes2_u64 fresh = (kn_lanes2_u64)(from[v] & ~reach[v]);
        reach[v] |= from[v];
        for (uint32_t half = 0; half < 2; half++)
            for (uint64_t left = fresh[half]; left != 0; left &= left - 1) {
                const struct bit_value *value =
                    &r->bits[(v - n_ordered) * 128 + half * 64 + (uint32_t)__builtin_ctzll(left)];
                kn_growing_add_new(&b->growing, value->q, value->code);
            }
    }
}

bool kn_mondrian_better(const kn_mondrian *s, const kn_mondrian_cut *a, const kn_mondrian_cut *b)
{
    if (a->loss != b->loss) return a->loss < b->loss;
    if (s->first_column && a->column != b->column) return a->column < b->column;
    return a->imbalance < b->imbalance;
}

static bool tallies_hold(kn_mondrian *s, kn_mondrian_bench *b)
{
    return kn_tally_holds(s->task->models, &b->right, NULL) && kn_tally_holds(s->task->models, &b->whole, &b->right);
}

bool kn_mondrian_allows(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, const kn_mondrian_cut *c)
{
    if (s->task->models->counts_only) return true;
    kn_tally_clear(&b->whole);
    kn_tally_clear(&b->right);
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++) {
        const uint32_t *record = kn_mondrian_record(s, n, i);
        kn_tally_add(record[s->place[c->column]] < c->code ? &b->whole : &b->right, record[RECORD_ITEM]);
    }
    return kn_tally_holds(s->task->models, &b->right, NULL) && kn_tally_holds(s->task->models, &b->whole, NULL);
}

static void tally_records(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) kn_tally_add(&b->right, kn_mondrian_record(s, n, b->order[i])[RECORD_ITEM]);
}

static void tally_node(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    kn_tally_clear(&b->whole);
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++)
        kn_tally_add(&b->whole, kn_mondrian_record(s, n, i)[RECORD_ITEM]);
}

/* Weighted share of the column's range that lies between the class's first and last value; of sets, of its values. */
static double width_of(const kn_mondrian *s, const kn_mondrian_ranking *r, uint32_t q)
{
    const kn_domain *domain = s->pricer->columns[q].domain;
    if (domain->n_codes <= 1) return 0;
    if (domain->kind == KN_DOMAIN_SETS) return domain->weight * (r->n[q] - 1) / (domain->n_codes - 1);
    return domain->weight * (s->places[q][r->code[q][r->n[q] - 1]] - s->places[q][r->code[q][0]]);
}

static double waste_of(const kn_mondrian *s, uint64_t n_persons)
{
    return n_persons < s->n_waste ? s->waste[n_persons] : 1;
}

/* Is a cut that loses this much, or more where prices are monotone, worse than the best known one? Leaves room for
 * rounding. */
static bool is_beaten(const kn_mondrian *s, double least_loss, const kn_mondrian_cut *best)
{
    return s->monotone && least_loss * (1 - 1e-9) > best->loss;
}

/* b->left_price[g]: of the groups up to it, wherever a cut may be that is not beaten by them alone. */
static void price_left(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r, const kn_mondrian_node *n,
                       const uint32_t *groups, uint32_t n_groups, const kn_mondrian_cut *best)
{
    uint32_t g = 0;
    bool beaten = false;
    for (pass p = pass_start(b, r); g + 1 < n_groups && !beaten; g++) {
        const uint32_t *group = groups + (size_t)g * r->group_words;
        uint32_t begin = p.n_records;
        pass_add(s, b, r, &p, group);
        if (r->n_wide > 0) add_wide(s, b, r, n, begin, p.n_records);
        if (n->n_persons - p.n_persons < s->min_persons) return;
        if (p.n_persons < s->min_persons) continue;
        b->left_price[g] = kn_growing_price(&b->growing);
        beaten = is_beaten(s, (double)p.n_rows * b->left_price[g], best);
    }
    for (; g + 1 < n_groups; g++) b->left_price[g] = INFINITY;
}

/* Improves on *best where a cut of column q does. */
static void try_column(kn_mondrian_cut *best, kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                       const kn_mondrian_node *n, uint32_t q, const uint32_t *groups, uint32_t n_groups,
                       bool ask_models)
{
    const bool tally = tallies(s, n, ask_models);
    uint64_t n_rows = 0;
    for (uint32_t g = 0; g < n_groups; g++) n_rows += groups[(size_t)g * r->group_words + HEAD_ROWS];
    if (tally) kn_tally_clear(&b->right);
    if (!s->by_median) price_left(s, b, r, n, groups, n_groups, best);
    double right_price = 0;           /* or less than it is */
    double width = width_of(s, r, q); /* `choose=median`: the widest has the least "loss" wherever it is cut */
    pass p = pass_start(b, r);
    for (uint32_t g = n_groups - 1; g > 0; g--) {
        const uint32_t *group = groups + (size_t)g * r->group_words;
        uint32_t end = kn_mondrian_records(n) - p.n_records, begin = end - group[HEAD_RECORDS];
        pass_add(s, b, r, &p, group);
        if (r->n_wide > 0 && !s->by_median) add_wide(s, b, r, n, begin, end);
        if (tally) tally_records(s, b, n, begin, end);
        uint64_t left_persons = n->n_persons - p.n_persons;
        if (left_persons < s->min_persons) break;
        if (p.n_persons < s->min_persons) continue;
        double left_rows = (double)(n_rows - p.n_rows), right_rows = (double)p.n_rows;
        kn_mondrian_cut candidate = {-width, fabs(left_rows - right_rows), q, begin, group[HEAD_CODE], left_persons};
        if (!s->by_median) {
            if (is_beaten(s, right_rows * right_price, best)) break;
            candidate.loss = left_rows * b->left_price[g - 1] * waste_of(s, left_persons);
            if (candidate.loss > best->loss) continue;
            const double right_weight = right_rows * waste_of(s, p.n_persons);
            if (is_beaten(s, candidate.loss + right_weight * right_price, best)) continue;
            right_price = kn_growing_price(&b->growing);
            candidate.loss += right_rows * right_price * waste_of(s, p.n_persons);
        }
        if (!kn_mondrian_better(s, &candidate, best)) continue;
        if (!ask_models || (tally ? tallies_hold(s, b) : kn_mondrian_allows(s, b, n, &candidate))) *best = candidate;
    }
}

/* The groups of relaxed cuts: a record each, by column q. */
static void make_groups(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                        const kn_mondrian_node *n, uint32_t q)
{
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++) {
        const uint32_t *record = kn_mondrian_record(s, n, b->order[i]);
        make_group(b->groups + (size_t)i * r->group_words, s, r, record, record[s->place[q]]);
    }
}

/* b->growing has what all records of the class share; passes over its groups add to the live columns. */
static void settle(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r)
{
    kn_growing_clear(&b->growing);
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (r->n[q] == 1) kn_growing_add_code(&b->growing, q, r->code[q][0]);
    kn_growing_settle(&b->growing, r->live, r->n_live);
}

/* The best cut in the live columns from .. to-1, which are counted together as far as their groups fit. */
kn_mondrian_cut kn_mondrian_best_cut(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                                     const kn_mondrian_node *n, uint32_t from, uint32_t to, bool ask_models)
{
    kn_mondrian_cut best = kn_mondrian_no_cut;
    settle(s, b, r);
    if (tallies(s, n, ask_models)) tally_node(s, b, n);
    for (uint32_t l = from, end; l < to; l = end) {
        uint32_t n_groups = r->n[r->live[l]];
        for (end = l + 1; !s->relaxed && end < to && end < l + COLUMNS_AT_ONCE; end++) {
            if (n_groups + r->n[r->live[end]] > GROUPS_AT_ONCE) break;
            n_groups += r->n[r->live[end]];
        }
        if (!s->relaxed) count_groups(s, b, r, n, l, end);
        const uint32_t *groups = b->groups;
        for (uint32_t p = l; p < end; p++) {
            const uint32_t q = r->live[p];
            if (needs_order(s, r, n, ask_models)) kn_mondrian_sort(s, b, r, n, q);
            if (s->relaxed) make_groups(s, b, r, n, q);
            n_groups = s->relaxed ? kn_mondrian_records(n) : r->n[q];
            try_column(&best, s, b, r, n, q, groups, n_groups, ask_models);
            groups += (size_t)n_groups * r->group_words;
        }
    }
    return best;
}

/* --- Room to work in ------------------------------------------------------------------------------------------ */

void kn_mondrian_bench_free(kn_mondrian_bench *b)
{
    kn_owner_free(&b->memory);
    kn_growing_free(&b->growing);
    kn_tally_free(&b->whole);
    kn_tally_free(&b->right);
}

static kn_status ranking_init(const kn_mondrian *s, kn_mondrian_bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    kn_mondrian_ranking *r = &b->ranking;
    KN_OWN(&b->memory, b->codes, s->n_qis);
    KN_OWN(&b->memory, r->code, s->n_qis);
    KN_OWN(&b->memory, r->rank, s->n_qis);
    KN_OWN(&b->memory, r->n, s->n_qis);
    KN_OWN(&b->memory, r->live, s->n_qis);
    KN_OWN(&b->memory, b->looked_at, s->n_qis);
    KN_OWN(&b->memory, r->first_bit, s->n_qis);
    KN_OWN(&b->memory, r->wide, s->n_qis);
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t n_codes = s->pricer->columns[q].domain->n_codes, n_words = n_codes;
        KN_OWN_RAW(&b->memory, r->code[q], n_codes);
        KN_OWN_RAW(&b->memory, r->rank[q], n_codes);
        do {
            n_words = n_words / 64 + 1;
            KN_OWN(&b->memory, b->codes[q].words[b->codes[q].n_levels], n_words);
            b->codes[q].n_levels++;
        } while (n_words > 1);
    }
done:
    return status;
}

/* Groups of any one column, or of several as far as they are counted together. */
static uint32_t max_groups(const kn_mondrian *s)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->n_codes > n) n = s->pricer->columns[q].domain->n_codes;
    if (n > s->items->n || s->relaxed) n = s->items->n;
    return n;
}

kn_status kn_mondrian_prepare_bits(kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    s->max_bits = max_groups(s) <= MANY_GROUPS ? KN_MONDRIAN_BITS : KN_MONDRIAN_BITS / 8;
    for (uint32_t vectors = 1; vectors <= KN_MONDRIAN_NEAR / 128; vectors++) {
        KN_OWN_ALIGNED(&s->memory, s->one_hot[vectors], (size_t)vectors * 128 * vectors * 4);
        for (uint32_t bit = 0; bit < vectors * 128; bit++)
            s->one_hot[vectors][bit * vectors * 4 + bit / 32] = 1u << bit % 32;
    }
done:
    return status;
}

kn_status kn_mondrian_bench_init(const kn_mondrian *s, kn_mondrian_bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_groups = max_groups(s), n = s->items->n;
    const uint32_t max_words =
        HEAD_WORDS + 2 * s->n_lanes + (s->max_bits > KN_MONDRIAN_NEAR ? s->max_bits : KN_MONDRIAN_NEAR) / 32;
    KN_TRY(ranking_init(s, b, err));
    KN_OWN_RAW(&b->memory, b->groups, (size_t)(n_groups > GROUPS_AT_ONCE ? n_groups : GROUPS_AT_ONCE) * max_words);
    KN_OWN_RAW(&b->memory, b->order, n);
    KN_OWN_RAW(&b->memory, b->begin, (size_t)n + 2);
    KN_OWN_RAW(&b->memory, b->left_price, n);
    KN_OWN(&b->memory, b->reach, max_words);
    KN_OWN(&b->memory, b->active, s->n_qis);
    KN_TRY(kn_growing_init(&b->growing, s->pricer, s->items->tuples, err));
    KN_TRY(kn_tally_init(&b->whole, s->items, err));
    KN_TRY(kn_tally_init(&b->right, s->items, err));
done:
    return status;
}
