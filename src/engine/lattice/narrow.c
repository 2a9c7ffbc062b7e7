/* A lattice without the levels that no feasible node has; see the header. */
#include "engine/lattice/narrow.h"

/* Rows whose value at this level is too rare, whatever the other columns are. */
static kn_status rows_too_few(uint64_t *n_rows, const kn_domain *domain, uint32_t level, uint64_t min_rows,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *node_of_code = domain->tree->at_level[level];
    uint64_t *rows = NULL;
    *n_rows = 0;
    KN_NEW(rows, domain->tree->n_nodes);
    for (uint32_t code = 0; code < domain->n_codes; code++)
        rows[node_of_code[code]] += kn_domain_seen_rows(domain, code);
    for (uint32_t node = 0; node < domain->tree->n_nodes; node++)
        if (rows[node] < min_rows) *n_rows += rows[node];
done:
    kn_free(rows);
    return status;
}

static uint32_t greatest_level(const kn_domain *domain)
{
    uint32_t top = domain->tree->n_levels - 1;
    return domain->max_level < top ? domain->max_level : top;
}

kn_status kn_narrow(kn_narrowed *narrowed, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = task->tuples->n_qis;
    *narrowed = (kn_narrowed){.task = *task, .tuples = *task->tuples, .n_nodes = 1, .n_nodes_left = 1};
    narrowed->task.tuples = &narrowed->tuples;
    narrowed->tuples.domains = NULL;
    KN_NEW(narrowed->domains, n_qis);
    KN_NEW(narrowed->tuples.domains, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) {
        kn_domain *own = &narrowed->domains[q];
        *own = *task->tuples->domains[q];
        narrowed->tuples.domains[q] = own;
        uint32_t most = greatest_level(own);
        if (own->min_level > most) own->min_level = most;
        narrowed->n_nodes *= most - own->min_level + 1;
    }
    for (uint32_t q = 0; q < n_qis; q++) {
        kn_domain *own = &narrowed->domains[q];
        for (; own->min_level < greatest_level(own); own->min_level++) {
            uint64_t n_rows;
            KN_TRY(rows_too_few(&n_rows, own, own->min_level, task->models->min_persons, err));
            if (n_rows <= task->max_suppressed) break;
        }
        narrowed->n_nodes_left *= greatest_level(own) - own->min_level + 1;
    }
done:
    if (status != KN_OK) kn_narrowed_free(narrowed);
    return status;
}

void kn_narrowed_free(kn_narrowed *narrowed)
{
    kn_free(narrowed->domains);
    kn_free(narrowed->tuples.domains);
    narrowed->domains = NULL;
    narrowed->tuples.domains = NULL;
}
