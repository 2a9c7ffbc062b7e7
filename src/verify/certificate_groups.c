/* Every choice of one cell per column, column by column: rows are split by the column's cells, and what has too few
 * rows, or costs as much as the largest value in it already, needs no further look. Nor has a choice whose rows all lie
 * in a narrower cell that costs no more: the same rows come up with that cell, at no higher a price, and so does
 * whatever they are split into. Prices and values are whole units, sums are exact. Cost: the rows below all those
 * choices.
 *
 * Every thread goes through the choices of the first columns, all in the same order; what is below one is looked at by
 * whoever comes to it first. */
#include "verify/certificate_groups.h"

#include <stdatomic.h>
#include <stdlib.h>

/* SHARED_CHOICES: of the first columns, about so many choices for a thread to take. */
enum { TICK_STEPS = 1 << 21, SHARED_CHOICES = 256, MOST_THREADS = 8 };

/* What a column splits rows with; columns behind it have rooms of their own. */
typedef struct room {
    uint32_t *rows, *joined; /* split; those of two parts */
    uint32_t *start, *size;  /* [part] */
    uint32_t *seen;          /* parts of the split under way */
} room;

/* The cell of a column: a node of a level, what lies between two parts, both of them, or everything. */
typedef struct choice {
    bool is_all;
    uint32_t level, first, last;
} choice;

typedef struct whole {
    const kn_recount *recount;
    const kn_proof *proof;
    uint32_t *person;             /* [row]; NULL: a row is a person */
    uint32_t n_shared;            /* columns: the choices of the first ones are taken by threads */
    atomic_uint_fast64_t n_taken; /* of them */
    atomic_bool is_broken;
    struct search *searches; /* [thread] */
} whole;

/* What one thread works with. */
typedef struct search {
    whole *whole;
    const kn_proof *proof;
    room *rooms;          /* [column] */
    choice *chosen;       /* [column] */
    uint64_t *mark;       /* [person]: the group that saw it last */
    uint64_t **need_mark; /* [need][value]: the same */
    uint64_t n_groups;
    uint64_t *scratch;       /* values of a group */
    uint64_t n_steps, n_met; /* n_met: choices of the first columns */
    double done, share;      /* of the whole; of it, what is below the choice under way */
} search;

/* --- Persons ----------------------------------------------------------------------------------------------------- */

typedef struct fingerprint {
    uint64_t person;
    uint32_t row;
} fingerprint;

static int by_person(const void *a, const void *b)
{
    const fingerprint *x = a, *y = b;
    return (x->person > y->person) - (x->person < y->person);
}

/* Persons numbered, where the rows of one must not count twice. */
static kn_status number_persons(whole *w, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet *original = w->recount->original;
    fingerprint *all = NULL;
    uint32_t person = 0;
    while (person < w->recount->request->n_columns && !w->recount->request->columns[person].is_person) person++;
    if (person == w->recount->request->n_columns) goto done;
    KN_NEW(all, original->n_rows);
    KN_NEW(w->person, original->n_rows);
    for (uint32_t row = 0; row < original->n_rows; row++)
        all[row] = (fingerprint){kn_sheet_fingerprint(&original->columns[person], row), row};
    qsort(all, original->n_rows, sizeof *all, by_person);
    for (uint32_t i = 0, n = 0; i < original->n_rows; i++) {
        n += i > 0 && all[i].person != all[i - 1].person;
        w->person[all[i].row] = n;
    }
done:
    kn_free(all);
    return status;
}

/* How many of some things these rows have, counted up to `enough`. */
static uint64_t count_different(const uint32_t *thing, uint64_t *mark, uint64_t group, const uint32_t *rows, uint32_t n,
                                uint64_t enough)
{
    uint64_t n_seen = 0;
    for (uint32_t i = 0; i < n && n_seen < enough; i++) {
        n_seen += mark[thing[rows[i]]] != group;
        mark[thing[rows[i]]] = group;
    }
    return n_seen;
}

/* Can a class be among these rows? What they lack, no part of them has. */
static bool has_enough(search *s, const uint32_t *rows, uint32_t n)
{
    const kn_proof *proof = s->proof;
    if (n < proof->k) return false;
    s->n_groups++;
    const uint32_t *person = s->whole->person;
    if (person != NULL && count_different(person, s->mark, s->n_groups, rows, n, proof->k) < proof->k) return false;
    for (uint32_t i = 0; i < proof->n_needs; i++)
        if (count_different(proof->needs[i].value, s->need_mark[i], s->n_groups, rows, n, proof->needs[i].least) <
            proof->needs[i].least)
            return false;
    return true;
}

/* --- One group --------------------------------------------------------------------------------------------------- */

/* The k largest to the front. */
static void select_largest(uint64_t *values, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const uint64_t pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i > j) break;
            const uint64_t moved = values[i];
            values[i++] = values[j];
            values[j--] = moved;
        }
        if (k - 1 <= j) high = j;
        else if (k - 1 >= i) low = i;
        else return;
    }
}

static void judge(search *s, const uint32_t *rows, uint32_t n, uint64_t price)
{
    uint64_t sum = 0;
    const uint64_t k = s->proof->k;
    for (uint32_t i = 0; i < n; i++) s->scratch[i] = s->proof->values[rows[i]];
    select_largest(s->scratch, n, (int64_t)k);
    for (uint64_t i = 0; i < k; i++) sum += s->scratch[i];
    if (sum > k * price) atomic_store(&s->whole->is_broken, true);
}

/* --- The same rows at no higher a price --------------------------------------------------------------------------- */

/* Do they all lie in one node of the level below, that costs no more? */
static bool lie_lower(search *s, const kn_proof_column *column, uint32_t level, const uint32_t *rows, uint32_t n)
{
    const kn_tree *tree = column->domain->tree;
    if (level == 0) return false;
    const uint32_t *node = tree->at_level[level - 1], *value = column->value, lower = node[value[rows[0]]];
    uint32_t i = 1;
    if (column->units[lower] > column->units[tree->at_level[level][value[rows[0]]]]) return false;
    while (i < n && node[value[rows[i]]] == lower) i++;
    s->n_steps += i;
    return i == n;
}

/* Do they leave out the first or the last of two parts, and cost no more without it? */
static bool lie_between(search *s, const kn_proof_column *column, const choice *chosen, const uint32_t *rows,
                        uint32_t n)
{
    uint32_t least = UINT32_MAX, largest = 0, i = 0;
    while (i < n && (least > chosen->first || largest < chosen->last)) {
        const uint32_t value = column->value[rows[i++]];
        if (value < least) least = value;
        if (value > largest) largest = value;
    }
    s->n_steps += i;
    if (least == chosen->first && largest == chosen->last) return false;
    return column->units[(size_t)least * column->n_parts + largest] <=
           column->units[(size_t)chosen->first * column->n_parts + chosen->last];
}

/* Columns before c. */
static bool come_up_elsewhere(search *s, const uint32_t *rows, uint32_t n, uint32_t c)
{
    while (c-- > 0) {
        const kn_proof_column *column = &s->proof->columns[c];
        const choice *chosen = &s->chosen[c];
        if (chosen->is_all) continue;
        if (column->cells == KN_PROOF_NODES ? lie_lower(s, column, chosen->level, rows, n)
                                            : chosen->first < chosen->last && lie_between(s, column, chosen, rows, n))
            return true;
    }
    return false;
}

/* --- Every group ------------------------------------------------------------------------------------------------- */

static kn_status visit(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, kn_error *err);

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The rows of each part side by side, in the order of own->seen: that of the parts, or any. `part_of` may be NULL: a
 * value is a part. Returns how many were seen. */
static uint32_t split(room *own, const uint32_t *rows, uint32_t n, const uint32_t *value, const uint32_t *part_of,
                      bool in_order)
{
    uint32_t n_seen = 0, n_placed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t part = part_of != NULL ? part_of[value[rows[i]]] : value[rows[i]];
        if (own->size[part]++ == 0) own->seen[n_seen++] = part;
    }
    if (in_order) qsort(own->seen, n_seen, sizeof *own->seen, ascending);
    for (uint32_t i = 0; i < n_seen; i++) {
        own->start[own->seen[i]] = n_placed;
        n_placed += own->size[own->seen[i]];
    }
    for (uint32_t i = 0; i < n; i++)
        own->rows[own->start[part_of != NULL ? part_of[value[rows[i]]] : value[rows[i]]]++] = rows[i];
    for (uint32_t i = 0; i < n_seen; i++) own->start[own->seen[i]] -= own->size[own->seen[i]];
    return n_seen;
}

/* One part of the split in column c, and what it counts for in the progress. */
static kn_status visit_part(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, double share,
                            kn_error *err)
{
    kn_status status = KN_OK;
    const double before = s->share, done = s->done;
    s->share = share;
    if (has_enough(s, rows, n)) KN_TRY(visit(s, rows, n, c + 1, price, err));
    s->share = before;
    s->done = done + share;
done:
    return status;
}

/* From the root down: what takes longest comes first. */
static kn_status visit_nodes(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_proof_column *column = &s->proof->columns[c];
    const kn_tree *tree = column->domain->tree;
    const double share = s->share / tree->n_levels / n;
    room *own = &s->rooms[c];
    for (uint32_t level = tree->n_levels; level-- > 0;) {
        s->n_steps += n;
        const uint32_t n_seen = split(own, rows, n, column->value, tree->at_level[level], false);
        s->chosen[c] = (choice){.level = level};
        for (uint32_t i = 0, start = 0; i < n_seen; i++) {
            const uint32_t node = own->seen[i], size = own->size[node];
            own->size[node] = 0;
            KN_TRY(visit_part(s, own->rows + start, size, c, price + column->units[node], share * size, err));
            start += size;
        }
    }
done:
    return status;
}

/* What the rows of two parts, and for intervals of those between them, come to with the columns behind. */
static kn_status visit_pair(search *s, uint32_t a, uint32_t b, uint32_t c, uint64_t price, double share, kn_error *err)
{
    const kn_proof_column *column = &s->proof->columns[c];
    const room *own = &s->rooms[c];
    const uint32_t *rows = own->rows + own->start[a];
    uint32_t n = own->start[b] + own->size[b] - own->start[a];
    if (column->cells == KN_PROOF_SETS && a != b) {
        n = 0;
        for (uint32_t i = 0; i < own->size[a]; i++) own->joined[n++] = own->rows[own->start[a] + i];
        for (uint32_t i = 0; i < own->size[b]; i++) own->joined[n++] = own->rows[own->start[b] + i];
        rows = own->joined;
    }
    const size_t at = column->cells == KN_PROOF_SETS && !column->has_pairs ? a : (size_t)a * column->n_parts + b;
    s->chosen[c] = (choice){.first = a, .last = b};
    return visit_part(s, rows, n, c, price + column->units[at], share, err);
}

static kn_status visit_between(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, uint64_t most,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const kn_proof_column *column = &s->proof->columns[c];
    const bool is_interval = column->cells == KN_PROOF_INTERVALS;
    room *own = &s->rooms[c];
    uint32_t n_seen = 0;
    s->n_steps += n;
    s->chosen[c] = (choice){.is_all = true};
    if (!is_interval || column->apart != KN_NONE) KN_TRY(visit_part(s, rows, n, c, price + column->all, 0, err));
    n_seen = split(own, rows, n, column->value, NULL, true);
    const double share = s->share / n_seen;
    for (uint32_t i = 0; i < n_seen; i++) {
        const double done = s->done;
        for (uint32_t j = i; j < n_seen; j++) {
            const uint32_t a = own->seen[i], b = own->seen[j];
            if (j > i && (is_interval ? b == column->apart : !column->has_pairs)) break;
            /* the farther the values, the dearer the interval */
            if (is_interval && price + column->units[(size_t)a * column->n_parts + b] >= most) break;
            KN_TRY(visit_pair(s, a, b, c, price, share / (n_seen - i), err));
        }
        s->done = done + share;
    }
done:
    for (uint32_t i = 0; i < n_seen; i++) own->size[own->seen[i]] = 0;
    return status;
}

/* Whoever comes to a choice of the first columns first looks at what is below it. */
static bool is_taken(search *s)
{
    uint64_t number = s->n_met++;
    return !atomic_compare_exchange_strong(&s->whole->n_taken, &number, number + 1);
}

/* Rows in one cell of each column before c, at this price together. */
static kn_status visit(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t most = 0;
    if (atomic_load_explicit(&s->whole->is_broken, memory_order_relaxed)) return KN_OK;
    if (c == s->whole->n_shared && is_taken(s)) return KN_OK;
    for (uint32_t i = 0; i < n; i++)
        if (s->proof->values[rows[i]] > most) most = s->proof->values[rows[i]];
    if (price >= most) return KN_OK; /* no value is above it */
    const uint64_t before = s->n_steps;
    s->n_steps += n;
    if (come_up_elsewhere(s, rows, n, c)) goto done;
    if (c == s->proof->n_columns) judge(s, rows, n, price);
    else if (s->proof->columns[c].cells == KN_PROOF_NODES) KN_TRY(visit_nodes(s, rows, n, c, price, err));
    else KN_TRY(visit_between(s, rows, n, c, price, most, err));
done:
    if (status == KN_OK && before / TICK_STEPS != s->n_steps / TICK_STEPS)
        status = kn_tick(s->whole->recount->request->ticker, "verify", s->done, err);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

static kn_status make_rooms(search *s, whole *w, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_rows = w->recount->original->n_rows;
    const kn_proof *proof = s->proof = w->proof;
    s->whole = w;
    s->share = 1;
    KN_NEW(s->rooms, proof->n_columns);
    KN_NEW(s->chosen, proof->n_columns);
    KN_NEW(s->scratch, n_rows);
    if (w->person != NULL) KN_NEW(s->mark, n_rows);
    for (uint32_t c = 0; c < proof->n_columns; c++) {
        room *own = &s->rooms[c];
        KN_NEW(own->rows, n_rows);
        if (proof->columns[c].has_pairs) KN_NEW(own->joined, n_rows);
        KN_NEW(own->start, proof->columns[c].n_parts);
        KN_NEW(own->size, proof->columns[c].n_parts);
        KN_NEW(own->seen, proof->columns[c].n_parts);
    }
    KN_NEW(s->need_mark, proof->n_needs);
    for (uint32_t i = 0; i < proof->n_needs; i++) KN_NEW(s->need_mark[i], proof->needs[i].n_values);
done:
    return status;
}

static void free_rooms(search *s, const kn_proof *proof)
{
    for (uint32_t c = 0; s->rooms != NULL && c < proof->n_columns; c++) {
        kn_free(s->rooms[c].rows);
        kn_free(s->rooms[c].joined);
        kn_free(s->rooms[c].start);
        kn_free(s->rooms[c].size);
        kn_free(s->rooms[c].seen);
    }
    for (uint32_t i = 0; s->need_mark != NULL && i < proof->n_needs; i++) kn_free(s->need_mark[i]);
    kn_free(s->need_mark);
    kn_free(s->rooms);
    kn_free(s->chosen);
    kn_free(s->mark);
    kn_free(s->scratch);
}

static kn_status look_at_all(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    whole *w = context;
    search *s = &w->searches[job];
    const uint32_t n_rows = w->recount->original->n_rows;
    uint32_t *rows = NULL;
    KN_NEW(rows, n_rows);
    for (uint32_t row = 0; row < n_rows; row++) rows[row] = row;
    if (has_enough(s, rows, n_rows)) KN_TRY(visit(s, rows, n_rows, 0, 0, err));
done:
    kn_free(rows);
    return status;
}

kn_status kn_proof_holds(bool *holds, const kn_recount *recount, const kn_proof *proof, kn_error *err)
{
    kn_status status = KN_OK;
    kn_pool *pool = recount->request->pool;
    const unsigned n_threads = kn_pool_threads(pool) < MOST_THREADS ? kn_pool_threads(pool) : MOST_THREADS;
    whole w = {.recount = recount, .proof = proof};
    *holds = false;
    KN_TRY(number_persons(&w, err));
    for (double n = 1; w.n_shared < proof->n_columns && n < SHARED_CHOICES; w.n_shared++) {
        const kn_proof_column *column = &proof->columns[w.n_shared];
        n *= column->cells == KN_PROOF_NODES ? column->domain->tree->n_levels : column->n_parts + 1;
    }
    KN_NEW(w.searches, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(make_rooms(&w.searches[i], &w, err));
    KN_TRY(kn_pool_run(pool, n_threads, look_at_all, &w, err));
    *holds = !atomic_load(&w.is_broken);
done:
    for (unsigned i = 0; w.searches != NULL && i < n_threads; i++) free_rooms(&w.searches[i], proof);
    kn_free(w.searches);
    kn_free(w.person);
    return status;
}
