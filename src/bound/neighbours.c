/* The nearest neighbours of every tuple; see the header. Cost: one step per pair of tuples and column. */
#include "bound/neighbours.h"

#include "bound/bound_problem.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Prices of pairs stand in tables of at most so many codes; what has more is cut into so many runs of codes. */
enum { MOST_CODES = 2048, JOB_TUPLES = 64 };

typedef struct table {
    uint32_t q, n;     /* n: codes or runs of codes */
    uint32_t *of_code; /* [code] */
    float *price;      /* [a * n + b]: at least what a cell with both costs, weight included */
} table;

typedef struct near {
    float distance;
    uint32_t persons;
} near;

typedef struct search {
    const kn_task *task;
    uint64_t k;
    uint32_t n_tables;
    table *tables;
    uint32_t **codes;   /* [table][tuple]: in its table */
    uint32_t step;      /* every step-th tuple is looked at */
    atomic_bool is_cut; /* by time */
    struct own {
        float *distance; /* [tuple] */
        near *near;
    } * own;         /* per thread */
    double *job_sum; /* price above the row's own value, times rows */
} search;

/* --- What a cell with two codes costs ---------------------------------------------------------------------------- */

/* A label of a tree made from the data may be written for just these two. */
static kn_status narrow(kn_cell *cell, const kn_domain *domain, kn_set_pool *sets, uint32_t a, uint32_t b,
                        kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t codes[] = {a < b ? a : b, a < b ? b : a};
    *cell = (kn_cell){codes[0], codes[1], KN_NONE};
    KN_TRY(kn_set_pool_add(&cell->id, sets, codes, 2, err));
    cell->id += domain->tree->n_nodes;
done:
    return status;
}

static kn_status pair_price(double *price, const kn_task *task, uint32_t q, uint32_t a, uint32_t b, kn_set_pool *sets,
                            kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[q];
    kn_cell cell;
    KN_TRY(kn_domain_closure(&cell, domain, sets, (uint32_t[]){a, b}, 2, err));
    const bool is_root = domain->kind == KN_DOMAIN_TREE && cell.id == domain->tree->root;
    if (a != b && domain->kind == KN_DOMAIN_TREE && domain->naming != KN_NAMES_FIXED && !is_root)
        KN_TRY(narrow(&cell, domain, sets, a, b, err));
    *price = kn_objective_price(task->objective, sets, q, &cell);
done:
    return status;
}

/* The least price of two codes of two runs, a <= b: those nearest to each other, because the closure of codes farther
 * apart covers them. Of sets and labels made from the data the ends tell nothing: there a run of several codes is free.
 */
static kn_status run_price(double *price, const kn_task *task, uint32_t q, const uint32_t *starts, uint32_t a,
                           uint32_t b, kn_set_pool *sets, kn_error *err)
{
    const kn_domain *domain = task->tuples->domains[q];
    const bool is_single = starts[a] + 1 == starts[a + 1] && starts[b] + 1 == starts[b + 1];
    const bool has_missing = domain->missing != KN_NONE && (a == b || domain->kind != KN_DOMAIN_RANGES);
    const bool in_order = domain->kind == KN_DOMAIN_RANGES || domain->naming == KN_NAMES_FIXED;
    *price = 0;
    if (!is_single && (a == b || !in_order || has_missing)) return KN_OK;
    return pair_price(price, task, q, a < b ? starts[a + 1] - 1 : starts[a], starts[b], sets, err);
}

static kn_status fill_table(table *t, const kn_task *task, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[q];
    kn_set_pool *sets = NULL;
    uint32_t *starts = NULL;
    t->q = q;
    t->n = domain->n_codes < MOST_CODES ? domain->n_codes : MOST_CODES;
    KN_NEW(t->of_code, domain->n_codes);
    KN_NEW(t->price, (size_t)t->n * t->n);
    KN_NEW(starts, (size_t)t->n + 1);
    for (uint32_t i = 0; i <= t->n; i++) starts[i] = (uint32_t)((uint64_t)i * domain->n_codes / t->n);
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t code = starts[i]; code < starts[i + 1]; code++) t->of_code[code] = i;
    for (uint32_t a = 0; a < t->n; a++) {
        kn_set_pool_free(sets);
        KN_TRY(kn_set_pool_new(&sets, err));
        KN_TRY(kn_tick(task->ticker, "bound", -1, err));
        for (uint32_t b = a; b < t->n; b++) {
            double price;
            KN_TRY(run_price(&price, task, q, starts, a, b, sets, err));
            /* To the next float below. */
            t->price[(size_t)a * t->n + b] = t->price[(size_t)b * t->n + a] = nextafterf((float)price, 0);
        }
    }
done:
    kn_set_pool_free(sets);
    kn_free(starts);
    return status;
}

/* --- Neighbours -------------------------------------------------------------------------------------------------- */

static int by_distance(const void *a, const void *b)
{
    const near *x = a, *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* The distance within which k persons are, the tuple's own included; persons of several tuples count in each. */
static float kth_distance(const search *s, struct own *own, float guess)
{
    const kn_tuples *tuples = s->task->tuples;
    for (;; guess = guess > 0 ? guess * 2 : 1e-6f) {
        uint64_t n_persons = 0;
        uint32_t n = 0;
        for (uint32_t t = 0; t < tuples->n_tuples; t++) {
            if (!(own->distance[t] <= guess)) continue;
            own->near[n++] = (near){own->distance[t], tuples->persons[t]};
            n_persons += tuples->persons[t];
        }
        if (n_persons < s->k) {
            if (n == tuples->n_tuples) return INFINITY;
            continue;
        }
        qsort(own->near, n, sizeof *own->near, by_distance);
        n_persons = 0;
        for (uint32_t i = 0;; i++) {
            n_persons += own->near[i].persons;
            if (n_persons >= s->k) return own->near[i].distance;
        }
    }
}

/* What a row of this tuple costs as it stands. */
static double own_price(const search *s, uint32_t tuple)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n_tables; i++) {
        const kn_domain *domain = s->task->tuples->domains[s->tables[i].q];
        const kn_cell leaf = kn_domain_leaf(domain, s->task->tuples->codes[s->tables[i].q][tuple]);
        sum += kn_objective_price(s->task->objective, NULL, s->tables[i].q, &leaf);
    }
    return sum;
}

static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    search *s = context;
    const kn_tuples *tuples = s->task->tuples;
    struct own *own = &s->own[worker];
    const size_t first = job * JOB_TUPLES * s->step, last = first + (size_t)JOB_TUPLES * s->step;
    float guess = 0;
    double root = 0;
    for (uint32_t i = 0; i < s->n_tables; i++) root += s->task->objective->root_price[s->tables[i].q];
    for (size_t t = first; t < last && t < tuples->n_tuples; t += s->step) {
        if (kn_ticker_out_of_time(s->task->ticker)) {
            atomic_store(&s->is_cut, true);
            break;
        }
        KN_TRY(kn_tick(s->task->ticker, "bound", (double)t / tuples->n_tuples, err));
        memset(own->distance, 0, tuples->n_tuples * sizeof *own->distance);
        for (uint32_t i = 0; i < s->n_tables; i++) {
            const float *price = s->tables[i].price + (size_t)s->codes[i][t] * s->tables[i].n;
            const uint32_t *codes = s->codes[i];
            for (uint32_t other = 0; other < tuples->n_tuples; other++) own->distance[other] += price[codes[other]];
        }
        const float distance = kth_distance(s, own, guess * 1.2f);
        /* Sums of floats: off by less than this share. Fewer than k persons: nothing but suppression is left. */
        const double least = isinf(distance) ? root : distance * (1 - 1e-5), kept = own_price(s, (uint32_t)t);
        if (!isinf(distance)) guess = distance;
        if (least > kept) s->job_sum[job] += (least - kept) * tuples->rows[t];
    }
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

static kn_status prepare(search *s, const bool *takes, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = s->task->tuples;
    KN_NEW(s->tables, tuples->n_qis);
    KN_NEW(s->codes, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!takes[q]) continue;
        const uint32_t at = s->n_tables++;
        KN_NEW(s->codes[at], tuples->n_tuples);
        KN_TRY(fill_table(&s->tables[at], s->task, q, err));
        for (uint32_t i = 0; i < tuples->n_tuples; i++) s->codes[at][i] = s->tables[at].of_code[tuples->codes[q][i]];
    }
    KN_NEW(s->own, kn_pool_threads(s->task->pool));
    for (unsigned w = 0; w < kn_pool_threads(s->task->pool); w++) {
        KN_NEW(s->own[w].distance, tuples->n_tuples);
        KN_NEW(s->own[w].near, tuples->n_tuples);
    }
done:
    return status;
}

static void free_search(search *s)
{
    for (uint32_t i = 0; s->tables != NULL && i < s->n_tables; i++) {
        kn_free(s->tables[i].of_code);
        kn_free(s->tables[i].price);
        if (s->codes != NULL) kn_free(s->codes[i]);
    }
    for (unsigned w = 0; s->own != NULL && w < kn_pool_threads(s->task->pool); w++) {
        kn_free(s->own[w].distance);
        kn_free(s->own[w].near);
    }
    kn_free(s->tables);
    kn_free(s->codes);
    kn_free(s->own);
    kn_free(s->job_sum);
}

kn_status kn_neighbours_bound(kn_neighbours *out, const kn_task *task, const bool *takes, uint64_t max_work,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = task->tuples;
    search s = {.task = task, .k = task->models->min_persons, .step = 1};
    *out = (kn_neighbours){0};
    KN_TRY(prepare(&s, takes, err));
    const double work = (double)tuples->n_tuples * tuples->n_tuples * (s.n_tables + 1.0);
    if (max_work > 0 && work > (double)max_work) s.step = (uint32_t)ceil(work / (double)max_work);
    out->is_partial = s.step > 1;
    out->work = (uint64_t)(work / s.step);
    const size_t n_jobs = tuples->n_tuples / ((size_t)JOB_TUPLES * s.step) + 1;
    KN_NEW(s.job_sum, n_jobs);
    KN_TRY(kn_pool_run(task->pool, n_jobs, run_job, &s, err));
    if (atomic_load(&s.is_cut)) out->is_partial = true;
    double sum = 0;
    for (size_t i = 0; i < n_jobs; i++) sum += s.job_sum[i];
    out->loss = sum * (1 - 1e-9) * task->objective->scale;
done:
    free_search(&s);
    return status;
}
