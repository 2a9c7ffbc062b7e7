/* A release in codes: its memory, its histograms, its classes as models see them. */
#include "classes/release.h"

void kn_release_free(kn_release *release)
{
    if (release == NULL) return;
    if (release->class_persons != release->class_rows) kn_free(release->class_persons);
    kn_histograms_free(release->histograms, release->tuples->n_sensitive);
    kn_free(release->cells);
    kn_set_pool_free(release->sets);
    kn_free(release->class_rows);
    kn_free(release->row_class);
    kn_free(release->levels);
    kn_free(release);
}

kn_status kn_release_count(kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    uint32_t *group = NULL;
    if (tuples->n_sensitive == 0) return KN_OK;
    /* The suppressed rows are one more group. */
    KN_NEW_RAW(group, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++)
        group[row] = release->row_class[row] == KN_NONE ? release->n_classes : release->row_class[row];
    KN_NEW(release->histograms, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_TRY(kn_histograms_count_on(&release->histograms[s], tuples->sensitive[s].column, group, tuples->n_records,
                                      release->n_classes + 1, pool, err));
done:
    kn_free(group);
    return status;
}

uint32_t kn_release_seen_classes(const kn_release *release)
{
    return release->n_classes + (release->n_suppressed > release->n_removed && !release->suppressed_joined);
}

uint64_t kn_release_seen_persons(const kn_release *release, uint32_t class_index)
{
    if (class_index == release->n_classes) return release->n_suppressed_persons;
    const bool is_joined = release->suppressed_joined && class_index == release->joined_class;
    return is_joined ? release->joined_persons : release->class_persons[class_index];
}

kn_class_counts kn_release_class(const kn_release *release, uint32_t class_index, kn_histogram *buffer)
{
    kn_class_counts counts = {0};
    if (class_index < release->n_classes) {
        counts.n_rows = release->class_rows[class_index];
        counts.n_persons = release->class_persons[class_index];
    } else {
        counts.n_rows = release->n_suppressed;
        counts.n_persons = release->n_suppressed_persons;
    }
    if (release->histograms == NULL) return counts;
    for (uint32_t s = 0; s < release->tuples->n_sensitive; s++)
        buffer[s] = kn_histogram_of(&release->histograms[s], class_index);
    counts.sensitive = buffer;
    return counts;
}
