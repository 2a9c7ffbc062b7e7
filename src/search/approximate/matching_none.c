/* Where there is no LEMON: everything else works, the factors say what is missing. */
#include "search/approximate/matching.h"

kn_status kn_lemon_find(kn_matching *out, const kn_matching_problem *problem, bool (*stop)(void *context),
                        void *context)
{
    return KN_USAGE;
}
