/* A certificate as text: what it is about, then a value per row of the input. verify/ reads it with code of its own. */
#include "run/run_certificate.h"

#include "verify/certificate.h"

static bool has_all_levels(const kn_domain *domain)
{
    return domain->min_level == 0 && domain->max_level + 1 == domain->tree->n_levels;
}

kn_status kn_certificate_possible(const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_place *place = KN_PLACE(.option = "certificate");
    bool has_any = false;
    if (kn_bound_possible(task) != KN_SAY_NOTHING)
        KN_FAIL_AT(KN_USAGE, place, "--certificate: there is nothing to prove: %s",
                   kn_sentence_english(kn_bound_possible(task)));
    if (task->tuples->table->counts != NULL)
        KN_FAIL_AT(KN_USAGE, place,
                   "--certificate: the table has counts, and a certificate has a line for each row; --certify gives "
                   "the bound without it");
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        has_any |= kn_bound_is_provable(task, q);
        if (!kn_bound_has_nodes(task, q)) continue;
        if (domain->coding != NULL)
            KN_FAIL_AT(KN_USAGE, place,
                       "--certificate: column %.40s has a top, a bottom or a rounding, which a certificate does not "
                       "know; --certify "
                       "gives the bound without it",
                       domain->name);
        if (!has_all_levels(domain))
            KN_FAIL_AT(
                KN_USAGE, place,
                "--certificate: column %.40s may not use all levels of its hierarchy, and a certificate is about all "
                "of them; take --level away",
                domain->name);
    }
    if (task->objective->type->price_cell == NULL || !has_any)
        KN_FAIL_AT(KN_USAGE, place,
                   "--certificate: there is one for sums over cells only, and none for columns with a top, a bottom, a "
                   "rounding, an order or subsets of their own; --certify gives the bound without it");
done:
    return status;
}

/* Numbers values as they come in the rows: codes of sets are ordered by what the search likes. */
static void number_by_row(uint32_t *values, uint32_t *seen, uint32_t n_rows)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        if (seen[values[row]] == 0) seen[values[row]] = ++n;
        values[row] = seen[values[row]] - 1;
    }
}

/* The values of every row in the columns of the proof: leaves, ranks, or in the order of the rows. */
static kn_status digest_values(char hex[KN_SHA256_HEX], const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    uint32_t *values = NULL, *seen = NULL;
    kn_sha256 hash;
    kn_sha256_begin(&hash);
    KN_NEW(values, tuples->n_rows);
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const uint32_t q = problem->columns[c].q, *codes = tuples->codes[q];
        for (uint32_t row = 0; row < tuples->n_rows; row++) values[row] = codes[tuples->row_tuple[row]];
        if (tuples->domains[q]->kind == KN_DOMAIN_SETS) {
            KN_NEW(seen, tuples->domains[q]->n_codes);
            number_by_row(values, seen, (uint32_t)tuples->n_rows);
            kn_free(seen);
            seen = NULL;
        }
        kn_sha256_add(&hash, values, tuples->n_rows * sizeof *values);
    }
    kn_sha256_end(hex, &hash);
done:
    kn_free(values);
    kn_free(seen);
    return status;
}

kn_status kn_certificate_text(char **out, const kn_bound *bound, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = bound->problem;
    const kn_tuples *tuples = task->tuples;
    kn_buffer text = {0};
    char digest[KN_SHA256_HEX];
    *out = NULL;
    KN_TRY(digest_values(digest, problem, err));
    kn_buffer_printf(&text,
                     "%s\nmeasure: %s\nk: %llu\nsuppressed: %llu\nrows: %llu\ndata: %s\nunit: %a\nbound: %.15g\n",
                     KN_CERTIFICATE_TITLE, task->objective->type->name, (unsigned long long)bound->k,
                     (unsigned long long)task->max_suppressed, (unsigned long long)tuples->n_rows, digest,
                     problem->unit, bound->dual_value);
    kn_buffer_printf(&text, "surplus: %llu\nneeds: %u\n", (unsigned long long)bound->dual->surplus, problem->n_needs);
    for (uint32_t i = 0; i < problem->n_needs; i++)
        kn_buffer_printf(&text, "need: %u %u\n",
                         (unsigned)(tuples->sensitive[problem->needs[i].sensitive].column - tuples->table->columns),
                         problem->needs[i].least);
    kn_buffer_printf(&text, "columns: %u\n", problem->n_columns);
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const kn_bound_column *column = &problem->columns[c];
        const kn_domain *domain = tuples->domains[column->q];
        kn_buffer_printf(&text, "column: %u %a ", (unsigned)(domain->column - tuples->table->columns), domain->weight);
        if (domain->kind == KN_DOMAIN_TREE) {
            kn_tree_digest(digest, domain->tree);
            kn_buffer_printf(&text, "nodes %s\n", digest);
        } else if (column->shape == KN_SHAPE_INTERVALS) {
            kn_buffer_printf(&text, "intervals %u\n", column->n_nodes - (column->apart != KN_NONE));
        } else {
            kn_buffer_printf(&text, "sets %d\n", column->shape == KN_SHAPE_PAIRS ? 2 : 1);
        }
    }
    for (uint32_t row = 0; row < tuples->n_rows; row++)
        kn_buffer_printf(&text, "%llu\n",
                         (unsigned long long)bound->dual->units[problem->of_tuple[tuples->row_tuple[row]]]);
    kn_buffer_text(&text, "end\n");
    KN_TRY(kn_buffer_finish(out, &text, err));
done:
    kn_buffer_free(&text);
    return status;
}
