/* What a thread of a run carries: the account that its memory is counted in, and the "C" locale, so that numbers look
 * the same in every host. A public function enters a scope and leaves it again; workers of a pool work in the scope of
 * whoever made the pool. This is all that is per thread, and nothing is per process: two runs do not see each other. */
#ifndef KN_BASE_SCOPE_H
#define KN_BASE_SCOPE_H

#include "base/status.h"

#include <locale.h>

typedef struct kn_account kn_account; /* base/memory.h */

typedef struct kn_scope {
    kn_account *account; /* NULL: memory is not counted */
    locale_t host;       /* what the caller had chosen; in force again while a function of the caller runs */
    bool is_worker;      /* a thread of a pool: progress and cancelling are the caller's thread's business */
} kn_scope;

/* Enters; `before` is for kn_scope_leave. */
kn_status kn_scope_enter(kn_scope *before, kn_account *account, kn_error *err);
void kn_scope_leave(const kn_scope *before);
/* The first thing that a pool's thread does; it never leaves. */
void kn_scope_join(kn_account *account);

kn_account *kn_scope_account(void);
bool kn_scope_is_worker(void);
/* Before and after a call of the caller's own function. */
void kn_scope_to_host(void);
void kn_scope_from_host(void);

#endif
