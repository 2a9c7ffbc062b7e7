/* The table of all nodes; see the header. One pass over the lattice per measure, the first with class counts. */
#include "algo/lattice_table.h"

#include <math.h>
#include <string.h>

enum { MOST_COMBOS = 9 };

typedef struct filling {
    kn_lattice_table *table;
    size_t *stride; /* [q] */
    const kn_lattice *lattice;
    size_t measure; /* where losses go; n_measures: entries are filled */
} filling;

static size_t place(const filling *f, const uint32_t *levels)
{
    size_t at = 0;
    for (uint32_t q = 0; q < f->table->tuples->n_qis; q++)
        at += (levels[q] - f->lattice->columns[q].min_level) * f->stride[q];
    return at;
}

static kn_status visit(void *context, const kn_node *node, const uint32_t *levels, unsigned worker, kn_error *err)
{
    filling *f = context;
    kn_lattice_table *table = f->table;
    size_t at = place(f, levels);
    if (f->measure < table->n_measures) {
        table->losses[at * table->n_measures + f->measure] = node->loss;
        return KN_OK;
    }
    table->entries[at].node = *node;
    memcpy(table->levels + at * table->tuples->n_qis, levels, table->tuples->n_qis * sizeof *levels);
    for (uint32_t q = 0; q < table->tuples->n_qis; q++) table->entries[at].height += levels[q];
    return KN_OK;
}

/* One measure over all nodes. Without a limit of suppressed rows, so that whole measures price every node. */
static kn_status fill(filling *f, const kn_task *task, const kn_objective *objective, bool details, kn_error *err)
{
    kn_status status = KN_OK;
    enum { MOST_WORK = 300000000 };
    kn_task own = *task;
    kn_full_domain *domain = NULL;
    own.objective = objective;
    if (!details) own.max_suppressed = task->tuples->n_rows;
    double work = (double)f->table->n * task->tuples->n_rows;
    if (!details && objective->type->price_release != NULL && work > MOST_WORK) return KN_OK;
    KN_TRY(kn_full_domain_new(&domain, &own, MOST_COMBOS, err));
    f->lattice = domain->lattice;
    KN_TRY(kn_all_nodes(domain, details, visit, f, err));
done:
    kn_full_domain_free(domain);
    return status;
}

/* Minimal nodes and the best one. */
static kn_status mark(kn_lattice_table *table, const size_t *stride, const uint32_t *least, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = table->tuples->n_qis;
    uint8_t *covered = NULL;
    KN_NEW(covered, table->n);
    table->best = table->n;
    for (size_t i = 0; i < table->n; i++) {
        kn_lattice_entry *entry = &table->entries[i];
        const uint32_t *levels = table->levels + i * n_qis;
        bool below = false;
        for (uint32_t q = 0; q < n_qis; q++)
            if (levels[q] > least[q]) below = below || covered[i - stride[q]];
        covered[i] = below || entry->node.feasible;
        entry->minimal = entry->node.feasible && !below;
        if (entry->node.feasible &&
            (table->best == table->n || kn_node_compare(&entry->node, levels, &table->entries[table->best].node,
                                                        table->levels + table->best * n_qis, n_qis) < 0))
            table->best = i;
    }
done:
    kn_free(covered);
    return status;
}

kn_status kn_lattice_table_new(kn_lattice_table **out, const kn_task *task, const kn_objective *const *objectives,
                               size_t n_objectives, size_t max_nodes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_lattice_table *table = NULL;
    kn_lattice *lattice = NULL;
    uint32_t n_qis = task->tuples->n_qis, *least = NULL;
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
    KN_NEW(least, (size_t)n_qis + 1);
    f.table = table;
    size_t stride = 1;
    for (uint32_t q = n_qis; q-- > 0;) {
        f.stride[q] = stride;
        least[q] = lattice->columns[q].min_level;
        stride *= lattice->columns[q].max_level - lattice->columns[q].min_level + 1;
    }
    f.measure = n_objectives;
    KN_TRY(fill(&f, task, task->objective, true, err));
    for (f.measure = 0; f.measure < n_objectives; f.measure++) {
        table->measures[f.measure] = objectives[f.measure]->type;
        KN_TRY(fill(&f, task, objectives[f.measure], false, err));
    }
    KN_TRY(mark(table, f.stride, least, err));
    *out = table;
    table = NULL;
done:
    kn_free(f.stride);
    kn_free(least);
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

static void quoted(kn_buffer *text, const char *name, char delimiter)
{
    const char special[] = {delimiter, '"', '\n', '\r', '\0'};
    if (strpbrk(name, special) == NULL) {
        kn_buffer_text(text, name);
        return;
    }
    kn_buffer_char(text, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"') kn_buffer_char(text, '"');
        kn_buffer_char(text, *name);
    }
    kn_buffer_char(text, '"');
}

static void header(kn_buffer *text, const kn_lattice_table *table, char delimiter)
{
    static const char *const names[] = {"height", "smallest_class", "classes", "suppressed_rows", "feasible", "minimal"};
    for (uint32_t q = 0; q < table->tuples->n_qis; q++) {
        quoted(text, table->tuples->domains[q]->name, delimiter);
        kn_buffer_char(text, delimiter);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i > 0) kn_buffer_char(text, delimiter);
        kn_buffer_text(text, names[i]);
    }
    for (size_t m = 0; m < table->n_measures; m++) {
        kn_buffer_char(text, delimiter);
        quoted(text, table->measures[m]->name, delimiter);
    }
    kn_buffer_char(text, '\n');
}

static void line(kn_buffer *text, const kn_lattice_table *table, size_t i, char delimiter)
{
    const kn_lattice_entry *entry = &table->entries[i];
    for (uint32_t q = 0; q < table->tuples->n_qis; q++)
        kn_buffer_printf(text, "%u%c", table->levels[i * table->tuples->n_qis + q], delimiter);
    kn_buffer_printf(text, "%u%c%llu%c%llu%c%llu%c%s%c%s", entry->height, delimiter,
                     (unsigned long long)entry->node.smallest, delimiter, (unsigned long long)entry->node.n_classes,
                     delimiter, (unsigned long long)entry->node.n_suppressed, delimiter,
                     entry->node.feasible ? "yes" : "no", delimiter, entry->minimal ? "yes" : "no");
    for (size_t m = 0; m < table->n_measures; m++) {
        double loss = table->losses[i * table->n_measures + m];
        kn_buffer_char(text, delimiter);
        if (!isnan(loss)) kn_buffer_printf(text, "%.12g", loss);
    }
    kn_buffer_char(text, '\n');
}

kn_status kn_lattice_table_csv(const kn_lattice_table *table, char delimiter, kn_text_sink sink, void *context,
                               kn_error *err)
{
    enum { PIECE_BYTES = 1 << 16 };
    kn_status status = KN_OK;
    kn_buffer text = {0};
    header(&text, table, delimiter);
    for (size_t i = 0; i <= table->n; i++) {
        if (i < table->n) line(&text, table, i, delimiter);
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        if (text.n < PIECE_BYTES && i < table->n) continue;
        KN_TRY(sink(context, text.bytes, text.n, err));
        kn_buffer_clear(&text);
    }
done:
    kn_buffer_free(&text);
    return status;
}
