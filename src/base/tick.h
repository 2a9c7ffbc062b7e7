/* Progress and cancelling in one place. Long work calls kn_tick now and then (every few milliseconds is enough);
 * it returns KN_INTERRUPTED once somebody asked to stop, as a status, never a jump out of the library. */
#ifndef KN_BASE_TICK_H
#define KN_BASE_TICK_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct kn_ticker {
    kn_progress_fn progress; /* may be NULL */
    void *user;
    const volatile int *cancel; /* counted up by a signal handler or another thread; may be NULL */
    int cancels_served;     /* requests already answered: an anytime search that was told to stop returned its best */
    double search_deadline; /* kn_seconds_now() at which the search must come to an end; 0: never */
    atomic_uint_fast64_t last_shown_ms;
    atomic_size_t n_ticks, fail_at; /* tests: the fail_at-th tick cancels; 0: never */
} kn_ticker;

/* fraction 0..1 of the stage, or negative when unknown. `ticker` may be NULL. Any thread may call it. */
kn_status kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err);
/* True once --time-limit is over or somebody asked to stop: an anytime search returns its best answer then. */
bool kn_ticker_out_of_time(const kn_ticker *ticker);
bool kn_ticker_cancelled(const kn_ticker *ticker);
double kn_seconds_now(void); /* monotonic clock */

#endif
