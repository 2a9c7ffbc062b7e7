/* The scope of the running thread. */
#include "base/scope.h"

static _Thread_local kn_scope here;

/* No memory is behind it in the C libraries we know, so it is asked for each time and never freed. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

kn_status kn_scope_enter(kn_scope *before, kn_account *account, kn_error *err)
{
    locale_t ours = c_locale();
    *before = here;
    if (ours == (locale_t)0) return kn_error_set(err, KN_RESOURCES, "out of memory: no locale for numbers");
    here = (kn_scope){.account = account, .host = uselocale(ours)};
    return KN_OK;
}

void kn_scope_leave(const kn_scope *before)
{
    uselocale(here.host);
    here = *before;
}

void kn_scope_join(kn_account *account)
{
    here = (kn_scope){.account = account, .host = uselocale(c_locale()), .is_worker = true};
}

kn_account *kn_scope_account(void) { return here.account; }
bool kn_scope_is_worker(void) { return here.is_worker; }
void kn_scope_to_host(void)
{
    if (here.host != (locale_t)0) uselocale(here.host);
}

void kn_scope_from_host(void)
{
    if (here.host != (locale_t)0) uselocale(c_locale());
}
