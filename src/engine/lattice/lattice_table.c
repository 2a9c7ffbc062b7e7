/* The table of all nodes; see the header. One pass, over bundles where they serve, for all measures but those of whole
 * releases, which take a pass each. */
#include "engine/lattice/lattice_table.h"

#include <math.h>
#include <string.h>

typedef struct filling {
    kn_lattice_table *table;
    const kn_task *task;
    size_t *stride; /* [q] */
    const kn_lattice *lattice;
    size_t n_measures; /* of the pass at hand ... */
    const kn_objective **objectives;
    size_t *column; /* ... and where their losses go; the table's n_measures: the loss of the entry */
    bool entries;   /* the pass fills the entries too */
} filling;

static size_t place(const filling *f, const uint32_t *levels)
{
    size_t at = 0;
    for (uint32_t q = 0; q < f->table->tuples->n_qis; q++)
        at += (levels[q] - f->lattice->columns[q].min_level) * f->stride[q];
    return at;
}

static void put_loss(const filling *f, size_t at, size_t column, double loss)
{
    if (column < f->table->n_measures) f->table->losses[at * f->table->n_measures + column] = loss;
    else f->table->entries[at].node.loss = loss;
}

static kn_status visit(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                       unsigned worker, kn_error *err)
{
    const filling *f = context;
    const kn_lattice_table *table = f->table;
    size_t at = place(f, levels);
    if (f->entries) {
        kn_lattice_entry *entry = &table->entries[at];
        double loss = entry->node.loss;
        *entry = (kn_lattice_entry){.node = *node};
        entry->node.loss = loss;
        memcpy(table->levels + at * table->tuples->n_qis, levels, table->tuples->n_qis * sizeof *levels);
        for (uint32_t q = 0; q < table->tuples->n_qis; q++) entry->height += levels[q];
    }
    for (size_t m = 0; m < f->n_measures; m++) put_loss(f, at, f->column[m], losses[m]);
    return KN_OK;
}

/* --- Passes ---------------------------------------------------------------------------------------------------- */

static void choose_measures(filling *f, const kn_objective *const *objectives, bool whole)
{
    f->n_measures = 0;
    for (size_t m = 0; m <= f->table->n_measures; m++) {
        const kn_objective *objective = m < f->table->n_measures ? objectives[m] : f->task->objective;
        if ((objective->type->price_release != NULL) != whole) continue;
        f->objectives[f->n_measures] = objective;
        f->column[f->n_measures++] = m;
    }
}

static kn_status fill(filling *f, const kn_objective *const *objectives, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    choose_measures(f, objectives, false);
    KN_TRY(kn_full_domain_new_for(&domain, f->task, f->objectives, f->n_measures, KN_MOST_COMBOS, err));
    KN_TRY(kn_each_node(domain, true, visit, f, err));
    f->entries = false;
done:
    kn_full_domain_free(domain);
    return status;
}

/* The measures of whole releases. They price feasible nodes only: those of the table have no limit of suppressed rows.
 */
static kn_status fill_whole(filling *f, const kn_objective *const *objectives, kn_error *err)
{
    kn_status status = KN_OK;
    enum { MOST_WORK = 300000000 };
    kn_full_domain *domain = NULL;
    choose_measures(f, objectives, true);
    size_t n = f->n_measures;
    f->n_measures = 1;
    for (size_t m = 0; m < n; m++) {
        bool listed = f->column[m] < f->table->n_measures;
        kn_task own = *f->task;
        own.objective = f->objectives[m];
        if (listed) own.max_suppressed = own.tuples->n_rows;
        if (listed && (double)f->table->n * (double)own.tuples->n_rows > MOST_WORK) continue;
        f->column[0] = f->column[m];
        KN_TRY(kn_full_domain_new(&domain, &own, 0, err));
        KN_TRY(kn_each_node(domain, false, visit, f, err));
        kn_full_domain_free(domain);
        domain = NULL;
    }
done:
    kn_full_domain_free(domain);
    return status;
}

/* Minimal nodes and the best one. */
static kn_status mark(const filling *f, kn_error *err)
{
    kn_status status = KN_OK;
    kn_lattice_table *table = f->table;
    const uint32_t n_qis = table->tuples->n_qis;
    uint8_t *marks = NULL; /* [number of the node] */
    KN_NEW(marks, table->n);
    table->best = table->n;
    for (size_t i = 0; i < table->n; i++) {
        const kn_node *node = &table->entries[i].node;
        const uint32_t *levels = table->levels + i * n_qis;
        marks[kn_lattice_number(f->lattice, levels)] = node->feasible;
        if (node->feasible &&
            (table->best == table->n || kn_node_compare(node, levels, &table->entries[table->best].node,
                                                        table->levels + table->best * n_qis, n_qis) < 0))
            table->best = i;
    }
    kn_lattice_keep_minimal(marks, f->lattice);
    for (size_t i = 0; i < table->n; i++)
        table->entries[i].minimal = marks[kn_lattice_number(f->lattice, table->levels + i * n_qis)];
done:
    kn_free(marks);
    return status;
}

kn_status kn_lattice_table_new(kn_lattice_table **out, const kn_task *task, const kn_objective *const *objectives,
                               size_t n_objectives, size_t max_nodes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_lattice_table *table = NULL;
    kn_lattice *lattice = NULL;
    uint32_t n_qis = task->tuples->n_qis;
    filling f = {0};
    *out = NULL;
    KN_TRY(kn_lattice_new(&lattice, task->tuples, KN_LATTICE_NO_BASE, err));
    if (lattice->n_nodes > (double)max_nodes)
        KN_FAIL(KN_USAGE, "the lattice has %.0f nodes and at most %zu are listed; limit levels or columns",
                lattice->n_nodes, max_nodes);
    KN_NEW(table, 1);
    table->tuples = task->tuples;
    table->n = (size_t)lattice->n_nodes;
    table->n_measures = n_objectives;
    KN_NEW(table->entries, table->n);
    KN_NEW(table->levels, table->n * n_qis + 1);
    KN_NEW(table->measures, n_objectives + 1);
    KN_NEW_RAW(table->losses, table->n * n_objectives + 1);
    for (size_t i = 0; i < table->n * n_objectives; i++) table->losses[i] = NAN;
    KN_NEW(f.stride, (size_t)n_qis + 1);
    f.table = table;
    f.task = task;
    f.lattice = lattice;
    f.entries = true;
    size_t stride = 1;
    for (uint32_t q = n_qis; q-- > 0; stride *= kn_lattice_levels(lattice, q)) f.stride[q] = stride;
    KN_NEW(f.objectives, n_objectives + 1);
    KN_NEW(f.column, n_objectives + 1);
    for (size_t m = 0; m < n_objectives; m++) table->measures[m] = objectives[m]->type;
    KN_TRY(fill(&f, objectives, err));
    KN_TRY(fill_whole(&f, objectives, err));
    KN_TRY(mark(&f, err));
    *out = table;
    table = NULL;
done:
    kn_free(f.stride);
    kn_free(f.objectives);
    kn_free(f.column);
    kn_lattice_free(lattice);
    kn_lattice_table_free(table);
    return status;
}

void kn_lattice_table_free(kn_lattice_table *table)
{
    if (table == NULL) return;
    kn_free(table->entries);
    kn_free(table->levels);
    kn_free(table->measures);
    kn_free(table->losses);
    kn_free(table);
}
