/* The nearest neighbours of every tuple; see the header.
 *
 * Tuples lie in a tree of boxes (Friedman, Bentley, Finkel 1977): each box is cut in two by the column in which its
 * tuples differ most, down to some dozens. A box is passed over where a cell with the tuple and any code of the box,
 * column by column, costs more than the k-th neighbour found so far. Cost: on Adult with 14 columns a tenth of all
 * pairs, with few columns far less. */
#include "bound/neighbours.h"

#include "bound/bound_problem.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Prices of pairs stand in tables of at most so many codes; what has more is cut into so many runs of codes. */
enum { MOST_CODES = 2048, FEWEST_CODES = 64, LEAF_TUPLES = 24, SAMPLE = 48, N_JOBS = 256 };
/* Steps of a pair of codes that is priced; of a tuple and column in each row of boxes. */
enum { PRICE_STEPS = 20, PLACE_STEPS = 3 };

typedef struct table {
    uint32_t q, n;     /* n: codes or runs of codes */
    uint32_t *of_code; /* [code] */
    float *price;      /* [a * n + b]: at least what a cell with both costs, weight included */
    float *nearest;    /* [a]: the least of them with another code */
    bool is_ordered;
} table;

/* Tuples first..last-1 of the tree's order. Children: the next box, and `second`; 0: it has none. */
typedef struct box {
    uint32_t first, last, second;
} box;

typedef struct near {
    float distance;
    uint32_t persons;
} near;

typedef struct search {
    const kn_task *task;
    uint64_t k;
    uint32_t n_tables;
    table *tables;
    uint32_t *order; /* tuples, box by box */
    uint32_t *codes; /* [place in order * n_tables + table] */
    KN_VECTOR(box) boxes;
    KN_VECTOR(uint32_t) ends; /* [box * n_tables * 2 + table * 2]: least and largest code */
    double root;              /* what a suppressed row pays */
    uint64_t work;            /* spent before the jobs */
    uint64_t max_work;        /* of a job; 0: no limit */
    atomic_bool is_cut;       /* by time or work */
    struct own {
        KN_VECTOR(near) heap; /* the nearest: k persons, but not without the farthest of them, which is on top */
        uint64_t n_persons, work;
    } * own;         /* per thread */
    double *job_sum; /* what rows' cells cost at least */
    uint64_t *job_work;
} search;

/* --- What a cell with two codes costs ---------------------------------------------------------------------------- */

/* The farther apart two codes are, the more a cell with both costs. */
static bool is_ordered(const kn_domain *domain)
{
    return domain->kind == KN_DOMAIN_RANGES || (domain->kind == KN_DOMAIN_TREE && domain->naming == KN_NAMES_FIXED);
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
    *price = 0;
    if (!is_single && (a == b || !is_ordered(domain) || has_missing)) return KN_OK;
    const uint32_t codes[] = {a < b ? starts[a + 1] - 1 : starts[a], starts[b]};
    return kn_least_cell_price(price, task, q, sets, codes, a < b ? 2 : 1, err);
}

static kn_status fill_table(table *t, const kn_task *task, uint32_t q, uint32_t most_codes, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[q];
    kn_set_pool *sets = NULL;
    uint32_t *starts = NULL;
    t->q = q;
    t->n = domain->n_codes < most_codes ? domain->n_codes : most_codes;
    KN_NEW(t->of_code, domain->n_codes);
    KN_NEW(t->price, (size_t)t->n * t->n);
    KN_NEW(t->nearest, t->n);
    t->is_ordered = is_ordered(domain);
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
    for (uint32_t a = 0; a < t->n; a++) {
        t->nearest[a] = INFINITY;
        for (uint32_t b = 0; b < t->n; b++)
            if (b != a) t->nearest[a] = fminf(t->nearest[a], t->price[(size_t)a * t->n + b]);
    }
done:
    kn_set_pool_free(sets);
    kn_free(starts);
    return status;
}

/* --- Boxes ------------------------------------------------------------------------------------------------------- */

static uint32_t code_at(const search *s, uint32_t place, uint32_t i)
{
    return s->codes[(size_t)place * s->n_tables + i];
}

/* The column in which some tuples of first..last-1 differ most, and a code to cut at: up to it, and above. False: they
 * are all alike. */
static bool choose_cut(uint32_t *column, uint32_t *code, const search *s, uint32_t first, uint32_t last)
{
    const uint32_t n = last - first, n_sample = n < SAMPLE ? n : SAMPLE;
    double most = -1;
    for (uint32_t i = 0; i < s->n_tables; i++) {
        const table *t = &s->tables[i];
        uint32_t codes[SAMPLE], least = UINT32_MAX, largest = 0;
        double sum = 0;
        for (uint32_t j = 0; j < n_sample; j++) {
            codes[j] = code_at(s, first + (uint32_t)((uint64_t)j * n / n_sample), i);
            if (codes[j] < least) least = codes[j];
            if (codes[j] > largest) largest = codes[j];
        }
        for (uint32_t j = 0; j < n_sample; j++)
            sum += t->price[(size_t)codes[j] * t->n + codes[(j + n_sample / 2) % n_sample]];
        if (least == largest || sum <= most) continue;
        most = sum;
        *column = i;
        /* half of the sample, or as near to it as equal codes allow */
        uint32_t best = n_sample;
        for (uint32_t j = 0; j < n_sample; j++) {
            uint32_t below = 0;
            for (uint32_t m = 0; m < n_sample; m++) below += codes[m] <= codes[j];
            const uint32_t off = below > n_sample / 2 ? below - n_sample / 2 : n_sample / 2 - below;
            if (codes[j] == largest || off >= best) continue;
            best = off;
            *code = codes[j];
        }
    }
    return most >= 0;
}

static void swap_places(search *s, uint32_t a, uint32_t b)
{
    const uint32_t tuple = s->order[a];
    s->order[a] = s->order[b];
    s->order[b] = tuple;
    for (uint32_t i = 0; i < s->n_tables; i++) {
        const uint32_t code = code_at(s, a, i);
        s->codes[(size_t)a * s->n_tables + i] = code_at(s, b, i);
        s->codes[(size_t)b * s->n_tables + i] = code;
    }
}

static kn_status build(search *s, uint32_t first, uint32_t last, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t this = s->boxes.n;
    uint32_t column = 0, code = 0;
    KN_PUSH(&s->boxes, ((box){first, last, 0}));
    for (uint32_t i = 0; i < s->n_tables; i++) {
        uint32_t least = UINT32_MAX, largest = 0;
        for (uint32_t place = first; place < last; place++) {
            const uint32_t here = code_at(s, place, i);
            if (here < least) least = here;
            if (here > largest) largest = here;
        }
        KN_PUSH(&s->ends, least);
        KN_PUSH(&s->ends, largest);
    }
    if (last - first <= LEAF_TUPLES || !choose_cut(&column, &code, s, first, last)) goto done;
    uint32_t middle = first;
    for (uint32_t place = first; place < last; place++)
        if (code_at(s, place, column) <= code) swap_places(s, place, middle++);
    KN_TRY(kn_tick(s->task->ticker, "bound", -1, err));
    KN_TRY(build(s, first, middle, err));
    s->boxes.items[this].second = (uint32_t)s->boxes.n;
    KN_TRY(build(s, middle, last, err));
done:
    return status;
}

/* --- Neighbours -------------------------------------------------------------------------------------------------- */

static float kth_distance(const search *s, const struct own *own)
{
    return own->n_persons >= s->k ? own->heap.items[0].distance : INFINITY;
}

static void sink(near *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1].distance > heap[child].distance) child++;
        if (heap[child].distance <= heap[i].distance) return;
        const near moved = heap[i];
        heap[i] = heap[child];
        heap[child] = moved;
    }
}

static kn_status add_near(const search *s, struct own *own, near this, kn_error *err)
{
    kn_status status = KN_OK;
    KN_PUSH(&own->heap, this);
    near *heap = own->heap.items;
    size_t i = own->heap.n - 1;
    for (; i > 0 && heap[(i - 1) / 2].distance < this.distance; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = this;
    own->n_persons += this.persons;
    while (own->n_persons - heap[0].persons >= s->k) {
        own->n_persons -= heap[0].persons;
        heap[0] = heap[--own->heap.n];
        sink(heap, own->heap.n, 0);
    }
done:
    return status;
}

/* At least what a cell with the tuple at a place and any one of a box costs. */
static float box_distance(const search *s, const uint32_t *codes, uint32_t number)
{
    const uint32_t *ends = s->ends.items + (size_t)number * s->n_tables * 2;
    float sum = 0;
    for (uint32_t i = 0; i < s->n_tables; i++) {
        const table *t = &s->tables[i];
        const uint32_t code = codes[i], nearest = code < ends[2 * i] ? ends[2 * i] : ends[2 * i + 1];
        if (code >= ends[2 * i] && code <= ends[2 * i + 1]) sum += t->price[(size_t)code * t->n + code];
        else sum += t->is_ordered ? t->price[(size_t)code * t->n + nearest] : t->nearest[code];
    }
    return sum;
}

/* `least`: the box's distance. */
static kn_status look_into(search *s, struct own *own, const uint32_t *codes, uint32_t number, float least,
                           kn_error *err)
{
    kn_status status = KN_OK;
    const box *this = &s->boxes.items[number];
    if (this->second != 0) {
        const uint32_t boxes[] = {number + 1, this->second};
        const float distances[] = {box_distance(s, codes, boxes[0]), box_distance(s, codes, boxes[1])};
        const int first = distances[1] < distances[0];
        own->work += 2 * s->n_tables;
        for (int i = 0; i < 2; i++)
            if (distances[first ^ i] < kth_distance(s, own))
                KN_TRY(look_into(s, own, codes, boxes[first ^ i], distances[first ^ i], err));
        goto done;
    }
    uint32_t place = this->first;
    for (; place < this->last && least < kth_distance(s, own); place++) {
        const uint32_t *others = s->codes + (size_t)place * s->n_tables;
        float sum = 0;
        for (uint32_t i = 0; i < s->n_tables; i++)
            sum += s->tables[i].price[(size_t)codes[i] * s->tables[i].n + others[i]];
        if (sum < kth_distance(s, own))
            KN_TRY(add_near(s, own, (near){sum, (uint32_t)s->task->tuples->persons[s->order[place]]}, err));
    }
    own->work += (uint64_t)(place - this->first) * s->n_tables;
done:
    return status;
}

/* What the cells of a row of this tuple cost as they stand. */
static double kept_price(const search *s, uint32_t tuple)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n_tables; i++) {
        const uint32_t q = s->tables[i].q;
        const kn_cell leaf = kn_domain_leaf(s->task->tuples->domains[q], s->task->tuples->codes[q][tuple]);
        sum += kn_objective_price(s->task->objective, NULL, q, &leaf);
    }
    return sum;
}

/* Places job, job + N_JOBS, ...: everywhere in the table, so that a job that stops early has seen some of all kinds. */
static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    search *s = context;
    const kn_tuples *tuples = s->task->tuples;
    struct own *own = &s->own[worker];
    bool goes_on = s->boxes.n > 0;
    own->work = 0;
    for (size_t place = job; place < tuples->n_tuples; place += N_JOBS) {
        const uint32_t tuple = s->order[place];
        const double kept = kept_price(s, tuple);
        double least = 0;
        if (goes_on && (kn_ticker_out_of_time(s->task->ticker) || (s->max_work > 0 && own->work > s->max_work))) {
            goes_on = false;
            atomic_store(&s->is_cut, true);
        }
        if (goes_on) {
            KN_TRY(kn_tick(s->task->ticker, "bound", (double)job / N_JOBS, err));
            own->heap.n = own->n_persons = 0;
            KN_TRY(look_into(s, own, s->codes + place * s->n_tables, 0, 0, err));
            const float distance = kth_distance(s, own);
            /* Sums of floats: off by less than this share. Fewer than k persons: nothing but suppression is left. */
            least = isinf(distance) ? s->root : distance * (1 - 1e-5);
        }
        s->job_sum[job] += (least > kept ? least : kept) * (double)tuples->rows[tuple];
    }
    s->job_work[job] = own->work;
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* What it takes to price all pairs of so many codes. */
static double price_work(const kn_tuples *tuples, const bool *takes, uint32_t most_codes)
{
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const double n = tuples->domains[q]->n_codes < most_codes ? tuples->domains[q]->n_codes : most_codes;
        sum += takes[q] ? PRICE_STEPS * n * n / 2 : 0;
    }
    return sum;
}

static kn_status fill_tables(search *s, const bool *takes, uint64_t max_work, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = s->task->tuples;
    uint32_t most_codes = MOST_CODES;
    while (max_work > 0 && most_codes > FEWEST_CODES && price_work(tuples, takes, most_codes) > (double)max_work / 4)
        most_codes /= 2;
    s->work += (uint64_t)price_work(tuples, takes, most_codes);
    KN_NEW(s->tables, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!takes[q]) continue;
        KN_TRY(fill_table(&s->tables[s->n_tables++], s->task, q, most_codes, err));
        s->root += s->task->objective->root_price[q];
    }
done:
    return status;
}

static kn_status prepare(search *s, const bool *takes, uint64_t max_work, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = s->task->tuples;
    KN_TRY(fill_tables(s, takes, max_work, err));
    const double n_rows_of_boxes = fmax(1, log2((double)tuples->n_tuples / LEAF_TUPLES));
    s->work += (uint64_t)(PLACE_STEPS * n_rows_of_boxes * tuples->n_tuples * s->n_tables);
    KN_NEW(s->order, tuples->n_tuples);
    KN_NEW_RAW(s->codes, (size_t)tuples->n_tuples * s->n_tables);
    for (uint32_t tuple = 0; tuple < tuples->n_tuples; tuple++) {
        s->order[tuple] = tuple;
        for (uint32_t i = 0; i < s->n_tables; i++)
            s->codes[(size_t)tuple * s->n_tables + i] = s->tables[i].of_code[tuples->codes[s->tables[i].q][tuple]];
    }
    /* Boxes that leave too little work for looking into them are not made. */
    if (max_work > 0 && s->work > max_work * 2 / 3) atomic_store(&s->is_cut, true);
    else KN_TRY(build(s, 0, tuples->n_tuples, err));
    s->max_work = max_work > s->work ? (max_work - s->work) / N_JOBS + 1 : max_work > 0;
    KN_NEW(s->own, kn_pool_threads(s->task->pool));
    KN_NEW(s->job_sum, N_JOBS);
    KN_NEW(s->job_work, N_JOBS);
done:
    return status;
}

static void free_search(search *s)
{
    for (uint32_t i = 0; s->tables != NULL && i < s->n_tables; i++) {
        kn_free(s->tables[i].of_code);
        kn_free(s->tables[i].price);
        kn_free(s->tables[i].nearest);
    }
    for (unsigned w = 0; s->own != NULL && w < kn_pool_threads(s->task->pool); w++) kn_free(s->own[w].heap.items);
    kn_free(s->tables);
    kn_free(s->order);
    kn_free(s->codes);
    kn_free(s->boxes.items);
    kn_free(s->ends.items);
    kn_free(s->own);
    kn_free(s->job_sum);
    kn_free(s->job_work);
}

kn_status kn_neighbours_bound(kn_neighbours *out, const kn_task *task, const bool *takes, uint64_t max_work,
                              kn_error *err)
{
    kn_status status = KN_OK;
    search s = {.task = task, .k = task->models->min_persons};
    double sum = 0, discount = 0;
    *out = (kn_neighbours){0};
    KN_TRY(prepare(&s, takes, max_work, err));
    out->work = s.work;
    KN_TRY(kn_pool_run(task->pool, N_JOBS, run_job, &s, err));
    out->is_partial = atomic_load(&s.is_cut);
    for (size_t i = 0; i < N_JOBS; i++) {
        sum += s.job_sum[i];
        out->work += s.job_work[i];
    }
    for (uint32_t i = 0; i < s.n_tables; i++) discount += kn_bound_discount(task, s.tables[i].q);
    /* Rounded: it is the sums that are off. */
    sum -= discount + 1e-9 * (fabs(sum) + fabs(discount));
    out->loss = sum > 0 ? sum * task->objective->scale : 0;
done:
    free_search(&s);
    return status;
}
