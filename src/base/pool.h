/* A small pthread pool. Work is a number of jobs; which thread runs a job is open, so a job writes only what is its
 * own and takes randomness from its number: results are then the same for any number of threads. */
#ifndef KN_BASE_POOL_H
#define KN_BASE_POOL_H

#include "base/memory.h"
#include "base/tick.h"

typedef struct kn_pool kn_pool;
/* `worker` is 0 .. kn_pool_threads-1, for per-thread scratch. A job that fails ends the loop early. */
typedef kn_status (*kn_pool_job)(void *context, size_t job, unsigned worker, kn_error *err);

/* n_threads 0: as many as the machine has. The calling thread is one of them; the others work in its scope. */
kn_status kn_pool_new(kn_pool **out, unsigned n_threads, kn_error *err);
/* While the calling thread waits for the others it looks after this ticker. */
void kn_pool_watch(kn_pool *pool, kn_ticker *ticker);
void kn_pool_free(kn_pool *pool);
unsigned kn_pool_threads(const kn_pool *pool); /* 1 for NULL */
/* Runs jobs 0 .. n_jobs-1 and waits for them; the failure of the lowest-numbered failed job is returned. A NULL
 * pool runs them here, in order. Not to be called from inside a job. */
kn_status kn_pool_run(kn_pool *pool, size_t n_jobs, kn_pool_job job, void *context, kn_error *err);

#endif
