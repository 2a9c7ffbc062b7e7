/* Progress and cancelling. */
#include "base/tick.h"

#include "base/scope.h"

#include <time.h>

enum { MS_BETWEEN_CALLS = 100 };

double kn_seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void count_requests(kn_ticker *ticker)
{
    int cancels = ticker->cancel != NULL ? __atomic_load_n(ticker->cancel, __ATOMIC_RELAXED) : 0;
    atomic_store(&ticker->n_requests, cancels + ticker->n_refusals);
}

bool kn_ticker_cancelled(kn_ticker *ticker)
{
    if (ticker == NULL) return false;
    if (!kn_scope_is_worker()) count_requests(ticker);
    return atomic_load(&ticker->n_requests) > ticker->n_served;
}

void kn_ticker_serve(kn_ticker *ticker) { ticker->n_served = atomic_load(&ticker->n_requests); }

bool kn_ticker_out_of_time(kn_ticker *ticker)
{
    if (ticker == NULL) return false;
    if (!kn_scope_is_worker()) kn_ticker_look(ticker); /* a host such as Python knows of Ctrl-C only when it is asked */
    if (kn_ticker_cancelled(ticker)) return true;
    return ticker->search_deadline > 0 && kn_seconds_now() >= ticker->search_deadline;
}

void kn_ticker_limit(kn_ticker *ticker, double seconds)
{
    ticker->search_began = kn_seconds_now();
    ticker->search_deadline = seconds > 0 ? ticker->search_began + seconds : 0;
}

/* A search ends with its work or with its time, whichever is over first. */
static double nearest_end(const kn_ticker *ticker, double fraction)
{
    double granted = ticker->search_deadline - ticker->search_began, passed = kn_seconds_now() - ticker->search_began;
    return ticker->search_deadline > 0 && passed < granted && passed / granted > fraction ? passed / granted : fraction;
}

static void show_progress(kn_ticker *ticker)
{
    uint64_t now_ms = (uint64_t)(kn_seconds_now() * 1000);
    const char *stage = atomic_load(&ticker->stage);
    if (ticker->progress == NULL || stage == NULL || now_ms - ticker->last_shown_ms < MS_BETWEEN_CALLS) return;
    ticker->last_shown_ms = now_ms;
    kn_scope_to_host();
    if (ticker->progress(ticker->user, stage, nearest_end(ticker, atomic_load(&ticker->fraction))) != 0)
        ticker->n_refusals++;
    kn_scope_from_host();
}

void kn_ticker_look(kn_ticker *ticker)
{
    if (ticker == NULL) return;
    show_progress(ticker);
    count_requests(ticker);
}

kn_status kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err)
{
    if (ticker == NULL) return KN_OK;
    size_t nth = atomic_fetch_add(&ticker->n_ticks, 1) + 1;
    atomic_store_explicit(&ticker->stage, stage, memory_order_relaxed);
    atomic_store_explicit(&ticker->fraction, fraction, memory_order_relaxed);
    if (!kn_scope_is_worker()) kn_ticker_look(ticker);
    if (kn_ticker_cancelled(ticker) || nth == atomic_load(&ticker->fail_at))
        return kn_error_set(err, KN_INTERRUPTED, "interrupted during %s; nothing was written", stage);
    if (ticker->give_up_at > 0 && kn_seconds_now() >= ticker->give_up_at)
        return kn_error_set_at(err, KN_NOT_MET, KN_PLACE(.option = "time-limit"),
                               "the time was over during %s, which has nothing to return before its end; raise "
                               "--time-limit, or choose cluster, mondrian or optimal, which return the best they have",
                               ticker->giving_up);
    return KN_OK;
}
