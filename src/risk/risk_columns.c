/* Which sets of columns single persons out, and the minimal ones: SUDA's minimal sample uniques (Elliot, Manning, Ford
 * 2002; Manning, Haglin, Keane 2008) by sets of columns instead of by records.
 *
 * In: distinct QI tuples. Out: for every set of up to max_size columns, how many persons have a combination of values
 * to themselves, and how many of those have one that is not unique on any smaller set.
 *
 * Uniqueness only grows with the set, so a person is minimal on S when no S without one column has that person's bit:
 * one bit per single person and set of the size before is all that is kept. Each set is one hashing pass over packed
 * keys, sets of one size run in parallel. O(sets * tuples); the size is lowered until that fits the budget.
 *
 * SUDA's score of a minimal unique of size s among A columns, looking up to size m: product of (A - i), i = s .. m
 * (at most A-1): the smaller, the more telling. */
#include "base/bits.h"
#include "base/hash.h"
#include "risk/risk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUDGET 400000000u
#define MIXED          KN_NONE /* several persons */

/* A growing hash table from a packed key to the one person who has it, or MIXED. */
typedef struct key_table {
    size_t capacity, n; /* a power of two */
    uint64_t *keys;
    uint32_t *who, *number, *stamp;
    uint32_t now; /* entries with another stamp are empty */
} key_table;

typedef struct scratch {
    key_table table;
    uint64_t *keys; /* n_tuples */
    uint64_t *left; /* words */
} scratch;

typedef struct sweep {
    const kn_tuples *tuples;
    uint32_t *person;  /* n_tuples: the one person of a tuple, or MIXED */
    uint32_t *singles; /* tuples with one person, by person and tuple */
    size_t n_singles, words;
    kn_column_set *sets; /* of this size */
    size_t n_sets;
    uint64_t *bits;               /* n_sets * words: unique singles */
    const kn_column_set *smaller; /* of the size before, ascending by columns */
    size_t n_smaller;
    const uint64_t *smaller_bits;
    uint64_t *any; /* words: unique on some set */
    scratch *scratches;
    kn_ticker *ticker;
} sweep;

static kn_status table_grow(key_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    key_table grown = {.capacity = table->capacity > 0 ? table->capacity * 2 : 1024, .now = 1};
    KN_NEW(grown.stamp, grown.capacity);
    KN_NEW_RAW(grown.keys, grown.capacity);
    KN_NEW_RAW(grown.who, grown.capacity);
    KN_NEW_RAW(grown.number, grown.capacity);
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->stamp[i] != table->now) continue;
        size_t slot = kn_hash_u64(table->keys[i]) & (grown.capacity - 1);
        while (grown.stamp[slot] == grown.now) slot = (slot + 1) & (grown.capacity - 1);
        grown.stamp[slot] = grown.now;
        grown.keys[slot] = table->keys[i];
        grown.who[slot] = table->who[i];
        grown.number[slot] = table->number[i];
    }
    grown.n = table->n;
    key_table old = *table;
    *table = grown;
    grown = old;
done:
    kn_free(grown.keys);
    kn_free(grown.who);
    kn_free(grown.number);
    kn_free(grown.stamp);
    return status;
}

static void table_free(key_table *table)
{
    kn_free(table->keys);
    kn_free(table->who);
    kn_free(table->number);
    kn_free(table->stamp);
}

static void table_clear(key_table *table)
{
    table->n = 0;
    if (++table->now == 0) { /* once in four billion */
        if (table->capacity > 0) memset(table->stamp, 0, table->capacity * sizeof *table->stamp);
        table->now = 1;
    }
}

/* The slot of a key: there, or where it belongs. There is room. */
static inline size_t table_slot(const key_table *table, uint64_t key)
{
    size_t slot = kn_hash_u64(key) & (table->capacity - 1);
    while (table->stamp[slot] == table->now && table->keys[slot] != key) slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

/* Numbers the distinct keys in order of appearance and puts the numbers in place of the keys. */
static kn_status keys_densify(scratch *work, size_t n_tuples, kn_error *err)
{
    kn_status status = KN_OK;
    key_table *table = &work->table;
    table_clear(table);
    for (size_t t = 0; t < n_tuples; t++) {
        if (table->n * 2 >= table->capacity) KN_TRY(table_grow(table, err));
        size_t slot = table_slot(table, work->keys[t]);
        if (table->stamp[slot] != table->now) {
            table->stamp[slot] = table->now;
            table->keys[slot] = work->keys[t];
            table->who[slot] = MIXED;
            table->number[slot] = (uint32_t)table->n++;
        }
        work->keys[t] = table->number[slot];
    }
done:
    return status;
}

/* One key per tuple: the codes of the set's columns side by side. Where 64 bits are not enough, what is there so far
 * becomes a number first. */
static kn_status keys_pack(scratch *work, const kn_tuples *tuples, uint64_t columns, kn_error *err)
{
    kn_status status = KN_OK;
    unsigned used = 0;
    memset(work->keys, 0, tuples->n_tuples * sizeof *work->keys);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!(columns >> q & 1)) continue;
        unsigned bits = kn_bits_for(tuples->domains[q]->n_codes);
        if (used + bits > 64) {
            KN_TRY(keys_densify(work, tuples->n_tuples, err));
            used = kn_bits_for(tuples->n_tuples);
        }
        const uint32_t *codes = tuples->codes[q];
        for (uint32_t t = 0; t < tuples->n_tuples; t++) work->keys[t] = work->keys[t] << bits | codes[t];
        used += bits;
    }
done:
    return status;
}

/* Persons with a bit among those of their tuples, which stand together. */
static uint64_t count_persons(const sweep *all, const uint64_t *bits)
{
    uint64_t n = 0;
    uint32_t last = MIXED;
    for (size_t w = 0; w < all->words; w++) {
        if (all->tuples->row_person == NULL) { /* a tuple is a person's only one */
            n += (uint64_t)__builtin_popcountll(bits[w]);
            continue;
        }
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            uint32_t person = all->person[all->singles[w * 64 + (size_t)__builtin_ctzll(left)]];
            n += person != last;
            last = person;
        }
    }
    return n;
}

/* Counts groups and the persons who have one to themselves, and marks the tuples there. */
static kn_status set_count(kn_column_set *set, uint64_t *bits, scratch *work, const sweep *all, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = all->tuples;
    key_table *table = &work->table;
    KN_TRY(keys_pack(work, tuples, set->columns, err));
    table_clear(table);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        if (table->n * 2 >= table->capacity) KN_TRY(table_grow(table, err));
        size_t slot = table_slot(table, work->keys[t]);
        if (table->stamp[slot] != table->now) {
            table->stamp[slot] = table->now;
            table->keys[slot] = work->keys[t];
            table->who[slot] = all->person[t];
            table->n++;
        } else if (table->who[slot] != all->person[t]) {
            table->who[slot] = MIXED;
        }
    }
    set->n_groups = table->n;
    for (size_t i = 0; i < all->n_singles; i++)
        if (table->who[table_slot(table, work->keys[all->singles[i]])] != MIXED)
            bits[i / 64] |= (uint64_t)1 << (i % 64);
    set->n_unique = count_persons(all, bits);
done:
    return status;
}

static const uint64_t *smaller_bits(const sweep *all, uint64_t columns)
{
    size_t low = 0, high = all->n_smaller;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->smaller[middle].columns < columns) low = middle + 1;
        else high = middle;
    }
    assert(low < all->n_smaller && all->smaller[low].columns == columns);
    return all->smaller_bits + low * all->words;
}

/* `bits` become those that are unique on no smaller set: kept in `left`, as many words. */
static void minimal_count(kn_column_set *set, const uint64_t *bits, uint64_t *left, const sweep *all)
{
    for (size_t w = 0; w < all->words; w++) {
        left[w] = bits[w];
        for (uint64_t rest = set->n_columns > 1 ? set->columns : 0; rest != 0 && left[w] != 0; rest &= rest - 1)
            left[w] &= ~smaller_bits(all, set->columns & ~(rest & -rest))[w];
    }
    set->n_minimal = count_persons(all, left);
}

static kn_status set_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    sweep *all = context;
    kn_status status = KN_OK;
    KN_TRY(kn_tick(all->ticker, "column sets", (double)job / (double)all->n_sets, err));
    uint64_t *bits = all->bits + job * all->words;
    KN_TRY(set_count(&all->sets[job], bits, &all->scratches[worker], all, err));
    if (all->sets[job].n_unique > 0) minimal_count(&all->sets[job], bits, all->scratches[worker].left, all);
done:
    return status;
}

/* Counting sort; stable, so that a person's tuples stay ascending. */
static kn_status sort_by_person(sweep *all, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *start = NULL, *sorted = NULL;
    KN_NEW(start, (size_t)all->tuples->n_person_numbers + 1);
    KN_NEW_RAW(sorted, all->n_singles + 1);
    for (size_t i = 0; i < all->n_singles; i++) start[all->person[all->singles[i]] + 1]++;
    for (uint32_t p = 0; p < all->tuples->n_person_numbers; p++) start[p + 1] += start[p];
    for (size_t i = 0; i < all->n_singles; i++) sorted[start[all->person[all->singles[i]]]++] = all->singles[i];
    memcpy(all->singles, sorted, all->n_singles * sizeof *sorted);
done:
    kn_free(start);
    kn_free(sorted);
    return status;
}

/* The one person of each tuple. A person with rows in several tuples is recognised in each of them. */
static kn_status persons_find(sweep *all, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = all->tuples;
    KN_NEW(all->person, tuples->n_tuples + 1);
    KN_NEW(all->singles, tuples->n_tuples + 1);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) all->person[t] = tuples->persons[t] == 1 ? t : MIXED;
    if (tuples->row_person != NULL)
        for (uint32_t row = 0; row < tuples->n_records; row++)
            if (tuples->persons[tuples->row_tuple[row]] == 1)
                all->person[tuples->row_tuple[row]] = tuples->row_person[row];
    for (uint32_t t = 0; t < tuples->n_tuples; t++)
        if (all->person[t] != MIXED) all->singles[all->n_singles++] = t;
    if (tuples->row_person != NULL) KN_TRY(sort_by_person(all, err));
    all->words = (all->n_singles + 63) / 64;
done:
    return status;
}

static double choose(uint32_t n, uint32_t k)
{
    double product = 1;
    for (uint32_t i = 0; i < k; i++) product = product * (n - i) / (i + 1);
    return product;
}

static uint32_t size_within(const kn_tuples *tuples, uint32_t max_size, uint64_t budget)
{
    double sets = 0;
    if (max_size > tuples->n_qis) max_size = tuples->n_qis;
    for (uint32_t size = 1; size <= max_size; size++) {
        sets += choose(tuples->n_qis, size);
        if (size > 1 && sets * tuples->n_tuples > (double)budget) return size - 1;
    }
    return max_size;
}

/* All sets of `size` of n columns, ascending as numbers. */
static void sets_list(kn_column_set *out, uint32_t n, uint32_t size)
{
    uint64_t set = size == 64 ? UINT64_MAX : ((uint64_t)1 << size) - 1;
    size_t n_sets = (size_t)(choose(n, size) + 0.5);
    for (size_t i = 0; i < n_sets; i++) {
        out[i] = (kn_column_set){.columns = set, .n_columns = size};
        if (i + 1 == n_sets) break;
        uint64_t low = set & -set, ripple = set + low; /* Gosper: the next number with as many bits */
        set = ripple | (((set ^ ripple) >> 2) / low);
    }
}

static void scores_sum(kn_column_risk *risk, uint32_t n_qis)
{
    double total = 0;
    uint32_t last = risk->max_size < n_qis ? risk->max_size : n_qis - 1;
    for (size_t s = 0; s < risk->n_sets; s++) {
        const kn_column_set *set = &risk->sets[s];
        double score = (double)set->n_minimal;
        for (uint32_t i = set->n_columns; i <= last; i++) score *= n_qis - i;
        total += score;
        risk->minimal_of_size[set->n_columns] += set->n_minimal;
        for (uint32_t q = 0; q < n_qis; q++)
            if (set->columns >> q & 1) risk->contribution[q] += score;
    }
    for (uint32_t q = 0; q < n_qis && total > 0; q++) risk->contribution[q] /= total;
}

/* One size: counts every set of it and keeps its bits for the next. */
static kn_status size_run(sweep *all, kn_column_risk *risk, uint32_t size, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *bits = NULL;
    size_t n_sets = (size_t)(choose(all->tuples->n_qis, size) + 0.5);
    all->sets = risk->sets + risk->n_sets;
    all->n_sets = n_sets;
    sets_list(all->sets, all->tuples->n_qis, size);
    KN_NEW(bits, n_sets * all->words + 1);
    all->bits = bits;
    KN_TRY(kn_pool_run(pool, n_sets, set_job, all, err));
    for (size_t s = 0; s < n_sets; s++)
        for (size_t w = 0; w < all->words; w++) all->any[w] |= bits[s * all->words + w];
    kn_free((void *)all->smaller_bits);
    all->smaller_bits = bits;
    bits = NULL;
    all->smaller = all->sets;
    all->n_smaller = n_sets;
    risk->n_sets += n_sets;
done:
    kn_free(bits);
    return status;
}

kn_status kn_column_risk_new(kn_column_risk **out, const kn_tuples *tuples, uint32_t max_size, uint64_t budget,
                             kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_risk *risk = NULL;
    sweep all = {.tuples = tuples, .ticker = ticker};
    unsigned n_threads = kn_pool_threads(pool);
    *out = NULL;
    if (tuples->n_qis > 64) KN_FAIL(KN_USAGE, "risk: sets of columns are looked at for at most 64 quasi-identifiers");
    KN_NEW(risk, 1);
    risk->max_size = size_within(tuples, max_size, budget > 0 ? budget : DEFAULT_BUDGET);
    size_t n_sets = 0;
    for (uint32_t size = 1; size <= risk->max_size; size++) n_sets += (size_t)(choose(tuples->n_qis, size) + 0.5);
    KN_NEW(risk->sets, n_sets + 1);
    KN_NEW(risk->minimal_of_size, risk->max_size + 1);
    KN_NEW(risk->contribution, tuples->n_qis + 1);
    KN_TRY(persons_find(&all, err));
    KN_NEW(all.any, all.words + 1);
    KN_NEW(all.scratches, n_threads);
    for (unsigned w = 0; w < n_threads; w++) {
        KN_NEW_RAW(all.scratches[w].keys, tuples->n_tuples + 1);
        KN_NEW_RAW(all.scratches[w].left, all.words + 1);
    }
    for (uint32_t size = 1; size <= risk->max_size; size++) KN_TRY(size_run(&all, risk, size, pool, err));
    risk->n_with_minimal = count_persons(&all, all.any);
    if (tuples->n_qis > 0) scores_sum(risk, tuples->n_qis);
    *out = risk;
    risk = NULL;
done:
    for (unsigned w = 0; w < n_threads && all.scratches != NULL; w++) {
        table_free(&all.scratches[w].table);
        kn_free(all.scratches[w].keys);
        kn_free(all.scratches[w].left);
    }
    kn_free(all.scratches);
    kn_free((void *)all.smaller_bits);
    kn_free(all.any);
    kn_free(all.person);
    kn_free(all.singles);
    kn_column_risk_free(risk);
    return status;
}

void kn_column_risk_free(kn_column_risk *risk)
{
    if (risk == NULL) return;
    kn_free(risk->sets);
    kn_free(risk->minimal_of_size);
    kn_free(risk->contribution);
    kn_free(risk);
}

/* Does set a stand before set b in the list? */
static bool riskier(const kn_column_set *a, const kn_column_set *b)
{
    if (a->n_unique != b->n_unique) return a->n_unique > b->n_unique;
    if (a->n_columns != b->n_columns) return a->n_columns < b->n_columns;
    return a->n_groups > b->n_groups;
}

/* Is it listed rather than set b? By the persons who need all of its columns: a set of three that only repeats what
 * two of them tell has few of those. */
static bool tells_more(const kn_column_set *a, const kn_column_set *b)
{
    return a->n_minimal != b->n_minimal ? a->n_minimal > b->n_minimal : riskier(a, b);
}

static bool is_part_of_listed(const kn_column_set *set, const kn_column_risk *risk, const size_t *listed, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t both = set->columns & risk->sets[listed[i]].columns;
        if (both == set->columns || both == risk->sets[listed[i]].columns) return true;
    }
    return false;
}

size_t kn_column_risk_top(size_t *out, size_t n, const kn_column_risk *risk, uint32_t max_size)
{
    size_t found = 0;
    for (; found < n; found++) {
        const kn_column_set *best = NULL;
        for (const kn_column_set *set = risk->sets; set < risk->sets + risk->n_sets; set++)
            if (set->n_columns <= max_size && set->n_minimal > 0 && !is_part_of_listed(set, risk, out, found) &&
                (best == NULL || tells_more(set, best)))
                best = set;
        if (best == NULL) break;
        size_t at = found;
        for (; at > 0 && riskier(best, &risk->sets[out[at - 1]]); at--) out[at] = out[at - 1];
        out[at] = (size_t)(best - risk->sets);
    }
    return found;
}
