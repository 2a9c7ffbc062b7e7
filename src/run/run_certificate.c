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
    bool has_tree = false;
    if (kn_bound_possible(task) != KN_SAY_NOTHING)
        KN_FAIL_AT(KN_USAGE, place, "--certificate: there is nothing to prove: %s",
                   kn_sentence_english(kn_bound_possible(task)));
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        if (!kn_bound_has_nodes(task, q)) continue;
        has_tree = true;
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
    if (task->objective->type->price_cell == NULL || !has_tree)
        KN_FAIL_AT(
            KN_USAGE, place,
            "--certificate: there is one for sums over cells of columns with hierarchies only; --certify gives the "
            "bound without it");
done:
    return status;
}

/* The leaf of every row in the columns of the proof. */
static kn_status digest_leaves(char hex[KN_SHA256_HEX], const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    uint32_t *leaves = NULL;
    kn_sha256 hash;
    kn_sha256_begin(&hash);
    KN_NEW(leaves, tuples->n_rows);
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const uint32_t *codes = tuples->codes[problem->columns[c].q];
        for (uint32_t row = 0; row < tuples->n_rows; row++) leaves[row] = codes[tuples->row_tuple[row]];
        kn_sha256_add(&hash, leaves, tuples->n_rows * sizeof *leaves);
    }
    kn_sha256_end(hex, &hash);
done:
    kn_free(leaves);
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
    KN_TRY(digest_leaves(digest, problem, err));
    kn_buffer_printf(&text, "%s\nmeasure: %s\nk: %llu\nsuppressed: %llu\nrows: %u\ndata: %s\nunit: %a\nbound: %.15g\n",
                     KN_CERTIFICATE_TITLE, task->objective->type->name, (unsigned long long)bound->k,
                     (unsigned long long)task->max_suppressed, tuples->n_rows, digest, problem->unit,
                     bound->dual_value);
    kn_buffer_printf(&text, "surplus: %llu\ncolumns: %u\n", (unsigned long long)bound->dual->surplus,
                     problem->n_columns);
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const kn_domain *domain = tuples->domains[problem->columns[c].q];
        kn_tree_digest(digest, domain->tree);
        kn_buffer_printf(&text, "column: %u %a %s\n", (unsigned)(domain->column - tuples->table->columns),
                         domain->weight, digest);
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
