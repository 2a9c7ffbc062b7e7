/* The nodes of a lattice as text, JSON and CSV. */
#include "report/lattice_facts.h"

#include "base/json_writer.h"

#include <math.h>
#include <string.h>

typedef struct counts {
    size_t n_feasible, n_minimal, n_locally;
} counts;

static counts count_nodes(const kn_lattice_facts *lattice)
{
    counts found = {0};
    for (size_t i = 0; i < lattice->n; i++) {
        found.n_feasible += lattice->nodes[i].allowed;
        found.n_minimal += lattice->nodes[i].minimal;
        found.n_locally += lattice->nodes[i].locally;
    }
    return found;
}

static void append_levels(kn_buffer *text, const kn_lattice_facts *lattice, size_t node)
{
    uint32_t n_qis = lattice->tuples->n_qis;
    for (uint32_t q = 0; q < n_qis; q++)
        kn_buffer_printf(text, "%s%u", q == 0 ? "[" : ",", lattice->levels[node * n_qis + q]);
    kn_buffer_char(text, ']');
}

/* The first few of the minimal, or of the locally minimal nodes that are not. */
static void append_nodes(kn_buffer *text, const kn_lattice_facts *lattice, const char *name, bool minimal)
{
    enum { SHOWN = 10 };
    size_t shown = 0;
    kn_buffer_printf(text, "  %-14s", name);
    for (size_t i = 0; i < lattice->n; i++) {
        const kn_report_node *node = &lattice->nodes[i];
        if (minimal ? !node->minimal : !node->locally || node->minimal) continue;
        if (shown++ >= SHOWN) continue;
        if (shown > 1) kn_buffer_char(text, ' ');
        append_levels(text, lattice, i);
    }
    kn_buffer_printf(text, "%s\n", shown > SHOWN ? " ..." : "");
}

kn_status kn_lattice_facts_text(char **out, const kn_lattice_facts *lattice, kn_error *err)
{
    kn_buffer text = {0};
    counts found = count_nodes(lattice);
    kn_buffer_printf(&text, "%zu nodes, %zu feasible, %zu minimal, %zu locally minimal\n", lattice->n, found.n_feasible,
                     found.n_minimal, found.n_locally);
    append_nodes(&text, lattice, "minimal", true);
    if (found.n_locally > found.n_minimal) append_nodes(&text, lattice, "locally too", false);
    if (lattice->best < lattice->n) {
        kn_buffer_printf(&text, "  %-14s", "best");
        append_levels(&text, lattice, lattice->best);
        const kn_report_node *node = &lattice->nodes[lattice->best];
        kn_buffer_printf(&text, ", %s %.6g, %llu row%s suppressed\n", lattice->objective->type->name, node->loss,
                         (unsigned long long)node->n_suppressed, node->n_suppressed == 1 ? "" : "s");
    }
    return kn_buffer_finish(out, &text, err);
}

static void put_levels(kn_json *json, const char *key, const kn_lattice_facts *lattice, size_t node)
{
    uint32_t n_qis = lattice->tuples->n_qis;
    kn_json_array(json, key);
    for (uint32_t q = 0; q < n_qis; q++) kn_json_count(json, NULL, lattice->levels[node * n_qis + q]);
    kn_json_end(json);
}

static void put_best(kn_json *json, const kn_lattice_facts *lattice)
{
    if (lattice->best >= lattice->n) {
        kn_json_null(json, "best");
        return;
    }
    const kn_report_node *node = &lattice->nodes[lattice->best];
    kn_json_object(json, "best");
    put_levels(json, "levels", lattice, lattice->best);
    kn_json_real(json, "loss", node->loss);
    kn_json_count(json, "suppressed", node->n_suppressed);
    kn_json_end(json);
}

kn_status kn_lattice_facts_json(char **out, const kn_lattice_facts *lattice, kn_error *err)
{
    kn_json json = {0};
    counts found = count_nodes(lattice);
    const kn_seconds *seconds = &lattice->seconds;
    kn_json_object(&json, NULL);
    kn_json_text(&json, "measure", lattice->objective->type->name);
    kn_json_count(&json, "nodes", lattice->n);
    kn_json_count(&json, "feasible", found.n_feasible);
    kn_json_array(&json, "minimal");
    for (size_t i = 0; i < lattice->n; i++)
        if (lattice->nodes[i].minimal) put_levels(&json, NULL, lattice, i);
    kn_json_end(&json);
    kn_json_array(&json, "locally_minimal");
    for (size_t i = 0; i < lattice->n; i++)
        if (lattice->nodes[i].locally) put_levels(&json, NULL, lattice, i);
    kn_json_end(&json);
    put_best(&json, lattice);
    kn_json_object(&json, "seconds");
    kn_json_real(&json, "read", seconds->read);
    kn_json_real(&json, "encode", seconds->encode);
    kn_json_real(&json, "search", seconds->search);
    kn_json_real(&json, "write", seconds->write);
    kn_json_real(&json, "total", seconds->total);
    kn_json_end(&json);
    kn_json_count(&json, "peak_bytes", lattice->peak_bytes);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static void header(kn_buffer *text, const kn_lattice_facts *lattice, char delimiter)
{
    static const char *const names[] = {"height",   "smallest_class", "kept_classes",   "suppressed_rows",
                                        "feasible", "minimal",        "locally_minimal"};
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const char *name = lattice->tuples->domains[q]->name;
        kn_buffer_cell(text, name, strlen(name), delimiter);
        kn_buffer_char(text, delimiter);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i > 0) kn_buffer_char(text, delimiter);
        kn_buffer_text(text, names[i]);
    }
    for (size_t m = 0; m < lattice->n_measures; m++) {
        kn_buffer_char(text, delimiter);
        kn_buffer_cell(text, lattice->measures[m]->name, strlen(lattice->measures[m]->name), delimiter);
    }
    kn_buffer_char(text, '\n');
}

static void line(kn_buffer *text, const kn_lattice_facts *lattice, size_t i, char delimiter)
{
    const kn_report_node *node = &lattice->nodes[i];
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
        kn_buffer_printf(text, "%u%c", lattice->levels[i * lattice->tuples->n_qis + q], delimiter);
    kn_buffer_printf(text, "%u%c%llu%c%llu%c%llu%c%s%c%s%c%s", node->height, delimiter,
                     (unsigned long long)node->smallest_class, delimiter, (unsigned long long)node->n_classes,
                     delimiter, (unsigned long long)node->n_suppressed, delimiter, node->allowed ? "yes" : "no",
                     delimiter, node->minimal ? "yes" : "no", delimiter, node->locally ? "yes" : "no");
    for (size_t m = 0; m < lattice->n_measures; m++) {
        double loss = lattice->losses[i * lattice->n_measures + m];
        kn_buffer_char(text, delimiter);
        if (!isnan(loss)) kn_buffer_printf(text, "%.12g", loss);
    }
    kn_buffer_char(text, '\n');
}

kn_status kn_lattice_facts_csv(const kn_lattice_facts *lattice, char delimiter, kn_text_sink sink, void *context,
                               kn_error *err)
{
    enum { PIECE_BYTES = 1 << 16 };
    kn_status status = KN_OK;
    kn_buffer text = {0};
    header(&text, lattice, delimiter);
    for (size_t i = 0; i <= lattice->n; i++) {
        if (i < lattice->n) line(&text, lattice, i, delimiter);
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        if (text.n < PIECE_BYTES && i < lattice->n) continue;
        KN_TRY(sink(context, text.bytes, text.n, err));
        kn_buffer_clear(&text);
    }
done:
    kn_buffer_free(&text);
    return status;
}
