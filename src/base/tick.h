/* Progress and cancelling in one place. Long work calls kn_tick now and then (every few milliseconds is enough);
 * it returns KN_INTERRUPTED once somebody asked to stop, KN_NOT_MET when a search is given up, as a status, never a
 * jump out of the library. */
#ifndef KN_BASE_TICK_H
#define KN_BASE_TICK_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct kn_ticker {
    kn_progress_fn progress; /* may be NULL */
    void *user;
    const volatile int *cancel; /* counted up by a signal handler or another thread; may be NULL */
    double search_deadline;     /* kn_seconds_now() at which the search must come to an end; 0: never */
    double search_began;        /* when that was decided */
    const char *giving_up;      /* the search's name, for messages */
    double give_up_at;          /* when a search is given up that has nothing to return before its end; 0: never */
    /* The caller's thread alone looks at `cancel` and calls `progress`; the others learn here what it saw. */
    atomic_int n_requests; /* how often somebody asked to stop */
    int n_served;          /* of these: an anytime search that was told to stop returned its best */
    int n_refusals;        /* how often `progress` asked to stop */
    uint64_t last_shown_ms;
    _Atomic(const char *) stage; /* what the threads last said */
    _Atomic double fraction;
    atomic_size_t n_ticks, fail_at; /* tests: the fail_at-th tick cancels; 0: never */
} kn_ticker;

/* fraction 0..1 of the stage, or negative when unknown; `stage` is a constant. `ticker` may be NULL. Any thread may
 * call it; the caller's functions are called on the caller's thread only. */
kn_status kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err);
/* On the caller's thread, while it waits for others: shows what they said and looks whether to stop. */
void kn_ticker_look(kn_ticker *ticker);
/* The search must end within so many seconds from now; 0: no limit. */
void kn_ticker_limit(kn_ticker *ticker, double seconds);
/* True once --time-limit is over or somebody asked to stop: an anytime search returns its best answer then. */
bool kn_ticker_out_of_time(kn_ticker *ticker);
bool kn_ticker_cancelled(kn_ticker *ticker);
void kn_ticker_serve(kn_ticker *ticker); /* what was asked until now is answered; the run goes on */
double kn_seconds_now(void);             /* monotonic clock */

#endif
