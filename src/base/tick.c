/* Progress and cancelling. */
#include "base/tick.h"

#include <time.h>

enum { MS_BETWEEN_CALLS = 100 };

double kn_seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool kn_ticker_cancelled(const kn_ticker *ticker)
{
    return ticker != NULL && ticker->cancel != NULL && *ticker->cancel > ticker->cancels_served;
}

bool kn_ticker_out_of_time(const kn_ticker *ticker)
{
    if (ticker == NULL) return false;
    if (kn_ticker_cancelled(ticker)) return true;
    return ticker->search_deadline > 0 && kn_seconds_now() >= ticker->search_deadline;
}

kn_status kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err)
{
    if (ticker == NULL) return KN_OK;
    size_t nth = atomic_fetch_add(&ticker->n_ticks, 1) + 1;
    if (kn_ticker_cancelled(ticker) || nth == atomic_load(&ticker->fail_at))
        return kn_error_set(err, KN_INTERRUPTED, "interrupted during %s; nothing was written", stage);
    if (ticker->progress == NULL) return KN_OK;
    uint_fast64_t now_ms = (uint_fast64_t)(kn_seconds_now() * 1000), last_ms = atomic_load(&ticker->last_shown_ms);
    if (now_ms - last_ms < MS_BETWEEN_CALLS) return KN_OK;
    if (!atomic_compare_exchange_strong(&ticker->last_shown_ms, &last_ms, now_ms)) return KN_OK;
    if (ticker->progress(ticker->user, stage, fraction) != 0)
        return kn_error_set(err, KN_INTERRUPTED, "interrupted during %s; nothing was written", stage);
    return KN_OK;
}
