/* `suppress`: each value, then *. */
#include "hierarchy/builders.h"

kn_status kn_build_suppress(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    build->paths.n_levels = 2;
    for (uint32_t value = 0; value < build->n_present; value++) {
        KN_TRY(kn_build_leaf(build, value, err));
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}
