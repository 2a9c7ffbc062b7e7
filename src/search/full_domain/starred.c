/* Groups with suppressed cells as classes; see the header. */
#include "search/full_domain/starred.h"

#include <string.h>

kn_status kn_starred_init(kn_starred *out, const kn_full_domain *domain, kn_evaluator *evaluator,
                          const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = domain->task->tuples;
    const size_t n_values = kn_lattice_entries(domain->lattice);
    *out = (kn_starred){.domain = domain};
    KN_TRY(kn_groups_of_tuples(&out->groups, &out->tuple_group, levels, kn_evaluator_roller(evaluator), err));
    const size_t n = (size_t)out->groups.n + 1;
    KN_OWN(&out->memory, out->stars, n);
    KN_OWN(&out->memory, out->class_of, n);
    memset(out->class_of, 0xff, n * sizeof *out->class_of);
    KN_OWN(&out->memory, out->cells, n * tuples->n_qis + 1);
    KN_OWN(&out->memory, out->nodes, (size_t)tuples->n_qis + 1);
    for (uint32_t q = 0; q < tuples->n_qis; q++) KN_OWN(&out->memory, out->nodes[q], n);
    KN_OWN(&out->memory, out->columns, (size_t)tuples->n_qis + 1);
    KN_OWN(&out->memory, out->alike, n);
    KN_OWN(&out->memory, out->sums, n_values + 1);
    KN_OWN(&out->memory, out->entries, n_values + 1);
    KN_OWN(&out->memory, out->entry_counts, n_values + 1);
    KN_OWN(&out->memory, out->histograms, 2 * (size_t)tuples->n_sensitive + 1);
done:
    if (status != KN_OK) kn_starred_free(out);
    return status;
}

void kn_starred_free(kn_starred *starred)
{
    if (starred->domain == NULL) return;
    kn_owner_free(&starred->memory);
    kn_free(starred->tuple_group);
    kn_groups_free(&starred->groups, starred->domain->lattice);
    *starred = (kn_starred){0};
}

uint32_t kn_starred_node(const kn_starred *starred, uint32_t group, uint32_t q, bool is_suppressed)
{
    const kn_domain *domain = starred->domain->task->tuples->domains[q];
    if (is_suppressed) return domain->tree->root;
    return kn_domain_node_cell(domain, kn_groups_node(starred->domain->lattice, &starred->groups, group, q)).id;
}

/* Whether the models hold for the groups items[members[0]], ... as a class with these cells. */
static bool class_holds(const kn_starred *starred, const kn_cell *cells, const uint32_t *items, const uint32_t *members,
                        uint32_t n)
{
    const kn_task *task = starred->domain->task;
    const kn_lattice *lattice = starred->domain->lattice;
    const kn_tuples *tuples = task->tuples;
    kn_class_counts counts = {0};
    kn_histogram *histograms = starred->histograms, *buffer = histograms + tuples->n_sensitive;
    uint64_t *sums = starred->sums;
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t group = items != NULL ? items[members[i]] : members[i];
        kn_class_counts one = kn_groups_class(lattice, &starred->groups, group, buffer);
        counts.n_rows += one.n_rows;
        counts.n_persons += one.n_persons;
        at = 0;
        for (uint32_t v = 0; one.sensitive != NULL && v < tuples->n_sensitive; at += tuples->sensitive[v++].n_values)
            for (uint32_t e = 0; e < one.sensitive[v].n; e++)
                sums[at + one.sensitive[v].values[e]] += one.sensitive[v].counts[e];
    }
    at = 0;
    uint32_t *values = starred->entries;
    uint64_t *value_counts = starred->entry_counts;
    for (uint32_t v = 0; lattice->has_histograms && v < tuples->n_sensitive; v++) {
        uint32_t n_values = tuples->sensitive[v].n_values, n_present = 0;
        for (uint32_t x = 0; x < n_values; x++) {
            values[n_present] = x;
            value_counts[n_present] = sums[at + x];
            n_present += sums[at + x] > 0;
            sums[at + x] = 0;
        }
        histograms[v] = (kn_histogram){n_present, values, value_counts};
        values += n_values;
        value_counts += n_values;
        at += n_values;
    }
    if (lattice->has_histograms) counts.sensitive = histograms;
    return kn_models_hold_class(task->models, &counts, cells, NULL);
}

static bool is_all(const kn_cell *cells, const kn_tuples *tuples)
{
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (cells[q].id != tuples->domains[q]->tree->root) return false;
    return true;
}

kn_status kn_starred_release(kn_starred *starred, const uint32_t *items, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = starred->domain->task;
    const kn_tuples *tuples = task->tuples;
    uint32_t n_qis = tuples->n_qis, n_alike, *first = NULL, *start = NULL, *members = NULL;
    for (uint32_t q = 0; q < n_qis; q++) {
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t group = items != NULL ? items[i] : i;
            starred->nodes[q][i] = kn_starred_node(starred, group, q, starred->stars[group] >> q & 1);
        }
        starred->columns[q] = (kn_group_column){starred->nodes[q], 4, NULL, tuples->domains[q]->tree->n_nodes};
    }
    KN_TRY(kn_group(starred->alike, &n_alike, &first, n, starred->columns, n_qis, NULL, task->ticker, err));
    KN_TRY(kn_group_members(&start, &members, starred->alike, n, n_alike, err));
    for (uint32_t a = 0; a < n_alike; a++) {
        kn_cell *cells = starred->cells + (size_t)starred->n_classes * n_qis;
        bool has_stars = false;
        for (uint32_t i = start[a]; i < start[a + 1]; i++)
            has_stars |= starred->stars[items != NULL ? items[members[i]] : members[i]] != 0;
        for (uint32_t q = 0; q < n_qis; q++)
            cells[q] = kn_domain_node_cell(tuples->domains[q], starred->nodes[q][first[a]]);
        if (has_stars && is_all(cells, tuples)) continue;
        if (!class_holds(starred, cells, items, members + start[a], start[a + 1] - start[a])) continue;
        for (uint32_t i = start[a]; i < start[a + 1]; i++)
            starred->class_of[items != NULL ? items[members[i]] : members[i]] = starred->n_classes;
        starred->n_classes++;
    }
done:
    kn_free(first);
    kn_free(start);
    kn_free(members);
    return status;
}

void kn_starred_row_classes(uint32_t *row_class, const kn_starred *starred)
{
    const kn_tuples *tuples = starred->domain->task->tuples;
    for (uint32_t row = 0; row < tuples->n_records; row++)
        row_class[row] = starred->class_of[starred->tuple_group[tuples->row_tuple[row]]];
}
