/* The thread pool: workers sleep on a condition variable, wake for a batch of jobs, and take job numbers from one
 * atomic counter. No OpenMP: a libgomp parent that forks hangs its children. */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

struct kn_pool {
    unsigned n_threads, n_started;
    pthread_t *threads;
    kn_account *account; /* of whoever made the pool */
    kn_ticker *ticker;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    uint64_t batch;     /* number of the current batch; workers wait for it to change */
    unsigned n_working; /* workers still inside the current batch */
    bool stop;
    kn_pool_job job;
    void *context;
    size_t n_jobs;
    atomic_size_t next_job;
    size_t failed_job; /* lowest so far; guarded by lock */
    kn_status failure;
    kn_error failure_text;
};

typedef struct worker_start {
    kn_pool *pool;
    unsigned worker;
} worker_start;

static void run_jobs(kn_pool *pool, unsigned worker)
{
    for (;;) {
        size_t job = atomic_fetch_add(&pool->next_job, 1);
        if (job >= pool->n_jobs) return;
        kn_error err = {0};
        kn_status status = pool->job(pool->context, job, worker, &err);
        if (status == KN_OK) continue;
        pthread_mutex_lock(&pool->lock);
        if (job < pool->failed_job) {
            pool->failed_job = job;
            pool->failure = status;
            pool->failure_text = err;
        }
        pthread_mutex_unlock(&pool->lock);
        atomic_store(&pool->next_job, pool->n_jobs);
    }
}

static void *worker_main(void *argument)
{
    worker_start start = *(worker_start *)argument;
    kn_pool *pool = start.pool;
    kn_free(argument);
    kn_scope_join(pool->account);
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && pool->batch == seen) pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stop) break;
        seen = pool->batch;
        pthread_mutex_unlock(&pool->lock);
        run_jobs(pool, start.worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->n_working == 0) pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

kn_status kn_pool_new(kn_pool **out, unsigned n_threads, kn_error *err)
{
    kn_status status = KN_OK;
    kn_pool *pool = NULL;
    *out = NULL;
    if (n_threads == 0) {
        long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
        n_threads = n_cores > 0 ? (unsigned)n_cores : 1;
    }
    KN_NEW(pool, 1);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_condattr_t by_monotonic_clock;
    pthread_condattr_init(&by_monotonic_clock);
    pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->idle, &by_monotonic_clock);
    pthread_condattr_destroy(&by_monotonic_clock);
    pool->n_threads = n_threads;
    pool->account = kn_scope_account();
    KN_NEW(pool->threads, n_threads);
    while (pool->n_started + 1 < n_threads) {
        worker_start *start;
        KN_NEW(start, 1);
        *start = (worker_start){pool, pool->n_started + 1};
        if (pthread_create(&pool->threads[pool->n_started], NULL, worker_main, start) != 0) {
            kn_free(start);
            KN_FAIL_AT(KN_RESOURCES, KN_PLACE(.option = "threads"),
                       "the system refused thread %u of %u; use fewer --threads", pool->n_started + 2, n_threads);
        }
        pool->n_started++;
    }
    *out = pool;
    pool = NULL;
done:
    kn_pool_free(pool);
    return status;
}

void kn_pool_free(kn_pool *pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++) pthread_join(pool->threads[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->idle);
    kn_free(pool->threads);
    kn_free(pool);
}

void kn_pool_watch(kn_pool *pool, kn_ticker *ticker) { pool->ticker = ticker; }

unsigned kn_pool_threads(const kn_pool *pool) { return pool != NULL ? pool->n_threads : 1; }

/* The caller's thread has nothing left to do but to show progress and to see whether it is asked to stop. */
static void wait_for_workers(kn_pool *pool)
{
    enum { NS_BETWEEN_LOOKS = 50 * 1000 * 1000 };
    pthread_mutex_lock(&pool->lock);
    while (pool->n_working != 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += NS_BETWEEN_LOOKS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool->idle, &pool->lock, &until) != ETIMEDOUT) continue;
        pthread_mutex_unlock(&pool->lock);
        kn_ticker_look(pool->ticker);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

kn_status kn_pool_run(kn_pool *pool, size_t n_jobs, kn_pool_job job, void *context, kn_error *err)
{
    if (pool == NULL || pool->n_threads == 1 || n_jobs <= 1) {
        for (size_t i = 0; i < n_jobs; i++) {
            kn_status status = job(context, i, 0, err);
            if (status != KN_OK) return status;
        }
        return KN_OK;
    }
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->context = context;
    pool->n_jobs = n_jobs;
    atomic_store(&pool->next_job, 0);
    pool->failed_job = SIZE_MAX;
    pool->failure = KN_OK;
    pool->n_working = pool->n_started;
    pool->batch++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    run_jobs(pool, 0);

    wait_for_workers(pool);
    if (pool->failure != KN_OK) return kn_error_pass(err, pool->failure, &pool->failure_text);
    return KN_OK;
}
