/* A list of errors. */
#include "base/problems.h"

#include <string.h>

kn_status kn_problem_add(kn_problems *problems, const kn_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    KN_PUSH(&problems->items, *problem);
done:
    return status;
}

kn_status kn_problem_note(kn_problems *problems, kn_status status, kn_error *err)
{
    if (problems == NULL || err == NULL || (status != KN_USAGE && status != KN_INPUT && status != KN_NOT_MET))
        return status;
    const kn_problem problem = {.about = *err};
    *err = (kn_error){0};
    return kn_problem_add(problems, &problem, err);
}

const kn_problem *kn_problem_find(const kn_problems *problems, kn_problem_kind kind, const char *column)
{
    for (size_t i = 0; problems != NULL && i < problems->items.n; i++) {
        const kn_problem *one = &problems->items.items[i];
        if (one->kind == kind && strcmp(one->about.column, column) == 0) return one;
    }
    return NULL;
}

void kn_problems_free(kn_problems *problems)
{
    kn_free(problems->items.items);
    *problems = (kn_problems){0};
}
