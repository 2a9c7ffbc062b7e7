/* Agglomerative clustering: unite the two closest classes until every class satisfies the models.
 *
 * [SC] 6.2.1, after Gionis, Mazza, Tassa, k-Anonymization revisited, ICDE 2008, and Nergiz, Clifton 2007.
 * dist(A, B) = |A u B| gc(A u B) - |A| gc(A) - |B| gc(B): what uniting them adds to the loss.
 * In: items. Out: classes, each released as its closure.
 *
 * A class that satisfies the models leaves the game; a last one that does not is united with the class closest to it.
 * Equal rows have distance 0 and would be united first, so the items are distinct tuples in pieces of at most k
 * persons; under PMI, where a union may even gain, they start together all the same. Cost: no matrix; one vector scan
 * over the classes still small per union, and about as many again to look for lost neighbours (class_members.c):
 * quadratic in the number of tuples with a small constant, memory linear. Nothing is suppressed. PMI and the like are
 * followed (value_scan.h); other measures that are no sum over cells through the prices of kn_pricer, which the result
 * says.
 */
#include "engine/closure/class_members.h"

static kn_status agglomerative_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    kn_pricer *pricer = NULL;
    kn_class_members *clusters = NULL;
    uint64_t k = task->models->min_persons > 0 ? task->models->min_persons : 1;
    KN_TRY(kn_tick(task->ticker, "agglomerative", 0, err));
    KN_TRY(kn_items_new(&items, task->tuples, k, kn_task_needs_values(task), err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    KN_TRY(kn_class_members_new(&clusters, task, items, pricer, items->n, err));
    for (uint32_t i = 0; i < items->n; i++) kn_class_members_add(clusters, clusters->n++, i);
    KN_TRY(kn_class_members_merge_small(clusters, task->pool, "agglomerative", err));
    KN_TRY(kn_class_members_answer(answer, clusters, err));
    answer->n_nodes = items->n - answer->n_classes;
    if (!clusters->by_value) answer->followed = kn_pricer_followed(pricer);
done:
    kn_class_members_free(clusters);
    kn_pricer_free(pricer);
    kn_items_free(items);
    return status;
}

/* Measured: 20,000 people, eight columns, 2.4 s. */
static double expected_seconds(const kn_task *task)
{
    const double n = task->tuples->n_tuples;
    return 7.5e-10 * n * n * task->tuples->n_qis;
}

const kn_algorithm kn_algorithm_agglomerative = {
    .name = "agglomerative",
    .summary = "unites the two closest classes until every class satisfies the models",
    .citation = "Gionis, Mazza, Tassa, k-Anonymization revisited, 2008; Goldberger, Tassa 2010, 6.2.1",
    .recoding = KN_RECODING_LOCAL,
    .any_measure = true,
    .seconds = expected_seconds,
    .search = agglomerative_search,
};
