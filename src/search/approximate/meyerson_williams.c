/* A cover by sets of small diameter, made disjoint: at most O(k ln k) times the best loss.
 *
 * Meyerson and Williams 2004, section 4; [AF] 2, [GT] 6.1 and 6.3. In: distinct tuples. Out: classes of k to 2k-1 rows,
 * each released as its closure. The greedy cover of `cover` (cover.c), with the diameter of a set, the largest distance
 * of two of its rows, where that has the price of its closure.
 *
 *   sets=subsets   every subset of k to 2k-1 rows: 3k(1 + ln 2k) times the best loss (Theorem 4.1). There are about
 * n^(2k-1) of them: for tiny tables, refused beyond MOST_SUBSETS. sets=balls     subsets of k to 2k-1 rows of a ball,
 * weighing twice its radius. The best cover's set of diameter d lies in a ball of radius d around any of its rows, so
 * twice the ratio: 6k(1 + ln 2k). The paper takes whole balls and pays ln n for ln 2k; here, as in cover.c, the step is
 * a minimum over balls of 2 radius / min(2k-1, uncovered rows inside), so that parts of balls cost nothing to look at.
 * The uncovered rows nearest to a centre tell all its balls; its best ratio only grows, so a queue by old ratios is
 * exact.
 *
 * The property: the distance is a metric where prices are sub-additive; and a closure of s rows costs a row at most s/2
 * diameters on a tree or an interval, since at least s-1 of the s(s-1)/2 pairs are as far apart in a column as its
 * closure is dear. So classes cost at most (2k-1)^2/2 times their diameters, the optimum at least k times its own: 2k,
 * below the paper's 3k. Cost: nearest neighbours (near.h), some questions per row; refused beyond `limit` rows. */
#include "search/approximate/approximate.h"
#include "search/approximate/disjoint.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Subsets ---------------------------------------------------------------------------------------------------- */

enum { MOST_SUBSET_ROWS = 64 };
static const double MOST_SUBSETS = 4e6;

typedef struct subset {
    uint64_t rows; /* bit set */
    double diameter;
} subset;

typedef struct subsets {
    const kn_task *task;
    uint32_t n, k;
    double *distance; /* [a * n + b] */
    subset *all;
    size_t n_all;
    subset *cover;
    size_t n_cover;
} subsets;

/* How many there are. */
static double count_subsets(uint32_t n, uint32_t k)
{
    double sum = 0, choose = 1;
    for (uint32_t size = 1; size < 2 * k && size <= n; size++) {
        choose *= (double)(n - size + 1) / size;
        if (size >= k) sum += choose;
    }
    return sum;
}

/* All subsets that begin with these rows. */
static void list_subsets(subsets *s, uint64_t rows, uint32_t size, uint32_t next, double diameter)
{
    if (size >= s->k) s->all[s->n_all++] = (subset){rows, diameter};
    if (size == 2 * s->k - 1) return;
    for (uint32_t row = next; row < s->n; row++) {
        double larger = diameter;
        for (uint32_t other = 0; other < row; other++)
            if (rows >> other & 1) larger = fmax(larger, s->distance[row * s->n + other]);
        list_subsets(s, rows | 1ull << row, size + 1, row + 1, larger);
    }
}

/* Phase 1. */
static void cover_by_subsets(subsets *s)
{
    uint64_t uncovered = s->n == 64 ? UINT64_MAX : (1ull << s->n) - 1;
    while (uncovered != 0) {
        double least = INFINITY;
        size_t best = 0;
        for (size_t i = 0; i < s->n_all; i++) {
            uint64_t covers = s->all[i].rows & uncovered;
            if (covers == 0) continue;
            double ratio = s->all[i].diameter / __builtin_popcountll(covers);
            if (ratio >= least) continue;
            least = ratio;
            best = i;
        }
        s->cover[s->n_cover++] = s->all[best];
        uncovered &= ~s->all[best].rows;
    }
}

/* Phase 2, as it is printed. */
static void make_disjoint(subsets *s)
{
    for (size_t i = 0; i < s->n_cover; i++)
        for (size_t j = 0; j < s->n_cover; j++) {
            uint64_t *a = &s->cover[i].rows, *b = &s->cover[j].rows, shared;
            while (j != i && (shared = *a & *b) != 0) {
                const uint64_t row = shared & -shared;
                if (__builtin_popcountll(*a) > (int)s->k) {
                    *a ^= row;
                } else if (__builtin_popcountll(*b) > (int)s->k) {
                    *b ^= row;
                } else {
                    *a |= *b;
                    *b = 0;
                    j = (size_t)-1; /* it may share rows with others now */
                    break;
                }
            }
        }
}

static kn_status subset_classes(uint32_t *row_class, uint32_t *n_classes, uint64_t *n_looks, const kn_task *task,
                                uint32_t k, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = task->tuples;
    subsets s = {.task = task, .n = (uint32_t)tuples->n_rows, .k = k};
    kn_near *near = NULL;
    kn_view view = {0};
    const double n_subsets = count_subsets(s.n, k);
    if (s.n > MOST_SUBSET_ROWS || n_subsets > MOST_SUBSETS)
        KN_FAIL(KN_RESOURCES,
                "meyerson-williams with sets=subsets looks at all %.3g subsets of %u to %u of %u rows, more than its "
                "limit of "
                "%.0f (and %d rows); take sets=balls, or algorithm cover, which proves more",
                n_subsets, k, 2 * k - 1, s.n, MOST_SUBSETS, MOST_SUBSET_ROWS);
    KN_NEW_RAW(s.distance, (size_t)s.n * s.n);
    KN_NEW_RAW(s.all, (size_t)n_subsets + 1);
    KN_NEW_RAW(s.cover, s.n);
    KN_TRY(kn_near_new(&near, task->objective, err));
    KN_TRY(kn_view_init(&view, near, err));
    for (uint32_t a = 0; a < s.n; a++) {
        kn_view_from(&view, near->position[tuples->row_tuple[a]]);
        for (uint32_t b = 0; b < s.n; b++)
            s.distance[a * s.n + b] = kn_view_distance(&view, near->position[tuples->row_tuple[b]]);
    }
    KN_TRY(kn_tick(task->ticker, "meyerson-williams", -1, err));
    list_subsets(&s, 0, 0, 0, 0);
    cover_by_subsets(&s);
    make_disjoint(&s);
    *n_classes = 0;
    for (size_t i = 0; i < s.n_cover; i++) {
        if (s.cover[i].rows == 0) continue;
        for (uint32_t row = 0; row < s.n; row++)
            if (s.cover[i].rows >> row & 1) row_class[row] = *n_classes;
        ++*n_classes;
    }
    *n_looks = s.n_all;
done:
    if (view.near != NULL) kn_view_free(&view);
    kn_near_free(near);
    kn_free(s.distance);
    kn_free(s.all);
    kn_free(s.cover);
    return status;
}

/* --- Balls ------------------------------------------------------------------------------------------------------ */

enum { CENTRES_PER_JOB = 128 };

/* The best ball around a position, as far as it is known. */
typedef struct ball {
    double ratio;
    uint32_t centre;
} ball;

typedef struct balls {
    const kn_task *task;
    uint32_t k;
    kn_near *near;
    kn_disjoint sets;
    double *least_radius; /* [position]: of a ball with k rows */
    kn_view *views;       /* [worker] */
    kn_neighbours *found; /* [worker] */
    ball *heap;
    size_t n_heap;
    uint64_t n_looks;
} balls;

static kn_status job_radius(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    balls *b = context;
    kn_neighbours *found = &b->found[worker];
    uint32_t begin = (uint32_t)job * CENTRES_PER_JOB, end = begin + CENTRES_PER_JOB;
    for (uint32_t p = begin; p < end && p < b->near->n; p++) {
        kn_view_from(&b->views[worker], p);
        KN_TRY(kn_view_nearest(found, &b->views[worker], NULL, NULL, 0, b->k, err));
        b->least_radius[p] = found->list.items[found->list.n - 1].distance;
    }
    KN_TRY(kn_tick(b->task->ticker, "meyerson-williams", -1, err));
done:
    return status;
}

/* The least ratio of any ball around the centre: *n uncovered rows nearest to it, in b->found[0], within *radius. */
static kn_status best_ball(balls *b, uint32_t centre, double *ratio, uint32_t *n, double *radius, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t most = 2 * b->k - 1;
    kn_neighbours *found = &b->found[0];
    uint32_t n_inside = 0;
    *ratio = INFINITY;
    kn_view_from(&b->views[0], centre);
    KN_TRY(kn_view_nearest(found, &b->views[0], b->sets.uncovered, b->sets.box_uncovered, 0, most, err));
    for (size_t i = 0; i < found->list.n; i++) {
        double here = fmax(found->list.items[i].distance, b->least_radius[centre]);
        n_inside += b->sets.uncovered[found->list.items[i].position];
        if (n_inside > most) n_inside = most;
        if (2 * here / n_inside > *ratio) continue; /* as good with more rows is better */
        *ratio = 2 * here / n_inside;
        *n = n_inside;
        *radius = here;
    }
done:
    return status;
}

static bool is_before(const ball *a, const ball *b)
{
    return a->ratio != b->ratio ? a->ratio < b->ratio : a->centre < b->centre;
}

static void sift_down(balls *b, size_t at)
{
    ball *heap = b->heap;
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        if (left < b->n_heap && is_before(&heap[left], &heap[least])) least = left;
        if (left + 1 < b->n_heap && is_before(&heap[left + 1], &heap[least])) least = left + 1;
        if (least == at) return;
        ball swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static void take_ball(balls *b, uint32_t centre, uint32_t n, double radius)
{
    const kn_neighbours *found = &b->found[0];
    kn_disjoint_open(&b->sets);
    for (size_t i = 0; i < found->list.n && n > 0; i++) {
        const uint32_t p = found->list.items[i].position, here = b->sets.uncovered[p] < n ? b->sets.uncovered[p] : n;
        kn_disjoint_put(&b->sets, p, here);
        n -= here;
    }
    b->sets.radius = radius;
    kn_disjoint_close(&b->sets, centre);
}

static kn_status cover_by_balls(balls *b, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t p = 0; p < b->near->n; p++) b->heap[b->n_heap++] = (ball){2 * b->least_radius[p] / (2 * b->k - 1), p};
    for (size_t i = b->n_heap / 2; i-- > 0;) sift_down(b, i);
    while (b->sets.n_uncovered > 0) {
        double ratio, radius = 0;
        uint32_t n = 0;
        KN_TRY(best_ball(b, b->heap[0].centre, &ratio, &n, &radius, err));
        if (b->n_looks++ % 256 == 0)
            KN_TRY(kn_tick(b->task->ticker, "meyerson-williams",
                           1 - (double)b->sets.n_uncovered / (double)b->task->tuples->n_rows, err));
        if (ratio <= b->heap[0].ratio) take_ball(b, b->heap[0].centre, n, radius);
        else b->heap[0].ratio = ratio;
        sift_down(b, 0);
    }
done:
    return status;
}

static kn_status ball_classes(uint32_t *row_class, uint32_t *n_classes, uint64_t *n_looks, const kn_task *task,
                              uint32_t k, kn_error *err)
{
    kn_status status = KN_OK;
    const unsigned n_threads = kn_pool_threads(task->pool);
    const double limit = kn_args_number(task->args, "limit");
    balls b = {.task = task, .k = k};
    if ((double)task->tuples->n_rows > limit)
        KN_FAIL(
            KN_RESOURCES,
            "meyerson-williams takes tables of up to %.0f rows, and this one has %llu; choose forest or cover, which "
            "prove "
            "more, or raise limit=",
            limit, (unsigned long long)task->tuples->n_rows);
    KN_TRY(kn_near_new(&b.near, task->objective, err));
    KN_TRY(kn_disjoint_init(&b.sets, b.near, row_class, k, err));
    KN_NEW_RAW(b.least_radius, b.near->n);
    KN_NEW_RAW(b.heap, b.near->n);
    KN_NEW(b.views, n_threads);
    KN_NEW(b.found, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(kn_view_init(&b.views[i], b.near, err));
    KN_TRY(kn_pool_run(task->pool, ((size_t)b.near->n + CENTRES_PER_JOB - 1) / CENTRES_PER_JOB, job_radius, &b, err));
    KN_TRY(cover_by_balls(&b, err));
    kn_disjoint_number(&b.sets, n_classes);
    *n_looks = b.n_looks;
done:
    for (unsigned i = 0; i < n_threads; i++) {
        if (b.views != NULL && b.views[i].near != NULL) kn_view_free(&b.views[i]);
        if (b.found != NULL) kn_free(b.found[i].list.items);
    }
    kn_free(b.views);
    kn_free(b.found);
    kn_free(b.least_radius);
    kn_free(b.heap);
    kn_disjoint_free(&b.sets);
    kn_near_free(b.near);
    return status;
}

/* --- The search ------------------------------------------------------------------------------------------------- */

static kn_status meyerson_williams_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows, k = kn_approximate_k(task);
    const bool by_balls = kn_args_is(task->args, "sets", "balls");
    const double ratio = 3 * k * (1 + log(2.0 * k));
    uint32_t *row_class = NULL, n_classes = n > 0;
    uint64_t n_looks = 0;
    KN_TRY(kn_tick(task->ticker, "meyerson-williams", 0, err));
    KN_NEW(row_class, n);
    if (n >= k && by_balls) KN_TRY(ball_classes(row_class, &n_classes, &n_looks, task, k, err));
    if (n >= k && !by_balls) KN_TRY(subset_classes(row_class, &n_classes, &n_looks, task, k, err));
    KN_TRY(kn_approximate_answer(answer, task, row_class, n_classes, "meyerson-williams", err));
    kn_approximate_guarantee(answer, task,
                             by_balls ? "Meyerson, Williams 2004, Theorem 4.1, with balls for sets"
                                      : "Meyerson, Williams 2004, Theorem 4.1",
                             by_balls ? 2 * ratio : ratio, KN_PROOF_NO_SUPPRESSION | KN_PROOF_NO_SETS);
    answer->n_nodes = n_looks;
done:
    kn_free(row_class);
    return status;
}

static const kn_param params[] = {
    {.name = "sets",
     .type = KN_PARAM_CHOICE,
     .preset = "balls",
     .choices = "balls|subsets",
     .help = "what covers the rows: parts of balls, or all subsets of k to 2k-1 rows (tiny tables)"},
    {.name = "limit",
     .type = KN_PARAM_INT,
     .preset = "200000",
     .min = 1,
     .max = 100000000,
     .help = "balls: rows, above which it refuses"},
};

const kn_algorithm kn_algorithm_meyerson_williams = {
    .name = "meyerson-williams",
    .summary = "sets of small diameter that cover all rows, made disjoint; at most 6k(1 + ln 2k) times the best loss",
    .citation = "Meyerson, Williams, On the complexity of optimal k-anonymity, 2004, section 4",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs_cell_measure = true,
    .all_or_nothing = true,
    .search = meyerson_williams_search,
};
