/* The registry of algorithms and the one place that decides whether an algorithm fits a task. */
#include "search/search.h"

#include <string.h>

#define KN_ALGORITHM(folder, name) extern const kn_algorithm kn_algorithm_##name;
#include "search/search.def"
#undef KN_ALGORITHM

static const kn_algorithm *const algorithms[] = {
#define KN_ALGORITHM(folder, name) &kn_algorithm_##name,
#include "search/search.def"
#undef KN_ALGORITHM
    NULL,
};

const kn_algorithm *const *kn_algorithm_all(size_t *n)
{
    *n = sizeof algorithms / sizeof *algorithms - 1;
    return algorithms;
}

const kn_algorithm *kn_algorithm_find(const char *name)
{
    for (size_t i = 0; algorithms[i] != NULL; i++)
        if (strcmp(algorithms[i]->name, name) == 0) return algorithms[i];
    return NULL;
}

static bool has_limited_levels(const kn_domain *domain)
{
    return domain->kind == KN_DOMAIN_TREE && (domain->min_level > 0 || domain->max_level < domain->tree->n_levels - 1);
}

kn_status kn_algorithm_fits(const kn_algorithm *algorithm, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *measure = task->objective->type;
    if (!algorithm->any_measure && algorithm->needs_cell_measure && measure->price_cell == NULL)
        KN_FAIL(KN_USAGE,
                "%s minimizes sums over cells only, and %s is none; choose lm, tree or an entropy measure, or "
                "algorithm optimal",
                algorithm->name, measure->name);
    if (!algorithm->any_measure && algorithm->needs_monotone_measure && !measure->monotone)
        KN_FAIL(KN_USAGE, "%s needs a monotone measure, and %s is none; choose lm or tree", algorithm->name,
                measure->name);
    if (measure->higher_is_better)
        KN_FAIL(KN_USAGE, "%s is only reported, it cannot be minimized; choose another measure", measure->name);
    if (algorithm->counts_only && !task->models->counts_only)
        KN_FAIL(KN_USAGE, "%s can guarantee k-anonymity only; choose another algorithm for the other models",
                algorithm->name);
    if (algorithm->no_suppression && task->max_suppressed > 0)
        KN_FAIL(KN_USAGE, "%s does not suppress rows; leave --max-suppressed at 0", algorithm->name);
    if (algorithm->only_k > 0 && task->models->min_persons != algorithm->only_k)
        KN_FAIL(KN_USAGE, "%s is for k=%u, and k is %llu here; choose another algorithm, such as forest or cover",
                algorithm->name, algorithm->only_k, (unsigned long long)task->models->min_persons);
    if (algorithm->recoding == KN_RECODING_LOCAL && (task->models->needs & KN_NEEDS_POPULATION) != 0)
        KN_FAIL(KN_USAGE,
                "%s builds classes row by row and cannot count a population file; choose a full-domain algorithm such "
                "as optimal",
                algorithm->name);
    if (algorithm->recoding == KN_RECODING_LOCAL && !algorithm->whole_tuples && task->tuples->table->counts != NULL)
        KN_FAIL(KN_USAGE,
                "%s makes classes of single rows, and a record with a --count is many; choose a full-domain algorithm "
                "such as optimal, or one that cuts, such as k-optimize or mondrian",
                algorithm->name);
    if (algorithm->recoding == KN_RECODING_LOCAL && task->tuples->n_rows >= KN_NONE - 1)
        KN_FAIL(KN_USAGE,
                "%s counts rows in 32 bits, and the records stand for %llu, more than %u; choose a full-domain "
                "algorithm such as optimal, or one that cuts, such as k-optimize, or anonymize the table in parts",
                algorithm->name, (unsigned long long)task->tuples->n_rows, KN_NONE - 2);
    for (uint32_t q = 0; !kn_algorithm_has_levels(algorithm) && q < task->tuples->n_qis; q++)
        if (has_limited_levels(task->tuples->domains[q]))
            KN_FAIL(KN_USAGE,
                    "%s chooses values class by class and knows no levels, but column '%s' has limits; leave them "
                    "out, or choose a full-domain algorithm such as optimal",
                    algorithm->name, task->tuples->domains[q]->name);
    for (uint32_t q = 0; algorithm->recoding == KN_RECODING_CUTS && q < task->tuples->n_qis; q++)
        if (task->tuples->domains[q]->subsets != NULL)
            KN_FAIL(KN_USAGE,
                    "%s cuts columns in an order, and the hierarchy of column '%s' is a collection of subsets; choose "
                    "an algorithm that takes values class by class, such as cluster or sequential",
                    algorithm->name, task->tuples->domains[q]->name);
    if (kn_algorithm_needs_trees(algorithm))
        for (uint32_t q = 0; q < task->tuples->n_qis; q++)
            if (task->tuples->domains[q]->kind != KN_DOMAIN_TREE)
                KN_FAIL(KN_USAGE, "%s needs a hierarchy for column '%s'", algorithm->name,
                        task->tuples->domains[q]->name);
done:
    return status;
}

kn_status kn_algorithm_run(kn_answer *answer, const kn_algorithm *algorithm, const kn_task *task, double deadline,
                           kn_error *err)
{
    kn_ticker *ticker = task->ticker;
    ticker->giving_up = algorithm->name;
    ticker->give_up_at = algorithm->all_or_nothing ? deadline : 0;
    const kn_status status = algorithm->search(answer, task, err);
    ticker->give_up_at = 0;
    return status;
}

void kn_answer_free(kn_answer *answer)
{
    kn_free(answer->levels);
    kn_free(answer->part);
    kn_free(answer->row_class);
    kn_free(answer->cells);
    for (size_t i = 0; i < answer->n_top; i++) kn_free(answer->top[i].levels);
    kn_free(answer->top);
    *answer = (kn_answer){0};
}
