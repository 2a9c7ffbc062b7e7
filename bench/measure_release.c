/* kanon-bench-measure [ROWS] [K] [THREADS]
 *
 * How long do all measures and all models of one release take? A synthetic table (8 quasi-identifiers, a categorical
 * and a numeric sensitive column) is anonymized by mondrian; then everything that a report says about the release is
 * computed. One JSON line. */
#include "search/search.h"
#include "base/rng.h"
#include "hierarchy/build.h"
#include "recode/recode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_QIS = 8, N_COLUMNS = 10 };

static const struct {
    const char *name;
    uint32_t n_values;
    kn_type type;
} columns[N_COLUMNS] = {
    {"age", 100, KN_TYPE_INT},       {"sex", 3, KN_TYPE_TEXT},        {"zip", 900, KN_TYPE_INT},
    {"marital", 6, KN_TYPE_TEXT},    {"education", 14, KN_TYPE_TEXT}, {"occupation", 60, KN_TYPE_TEXT},
    {"country", 40, KN_TYPE_TEXT},   {"income", 2000, KN_TYPE_INT},   {"diagnosis", 60, KN_TYPE_TEXT},
    {"expenses", 5000, KN_TYPE_INT},
};

static kn_status make_column(kn_column *column, uint32_t c, uint32_t n_rows, kn_rng *rng, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = columns[c].n_values;
    *column = (kn_column){.role = c < N_QIS ? KN_ROLE_QUASI : KN_ROLE_SENSITIVE,
                          .type = columns[c].type,
                          .n_spellings = n,
                          .n_values = n,
                          .code_bytes = 2};
    column->name = kn_string_copy(columns[c].name, strlen(columns[c].name), err);
    KN_NEW(column->bytes, n * 8);
    KN_NEW(column->offset, n + 1);
    KN_NEW(column->first_line, n);
    uint16_t *codes;
    KN_NEW(codes, n_rows);
    column->codes = codes;
    if (column->type == KN_TYPE_INT) KN_NEW(column->number, n);
    for (uint32_t v = 0; v < n; v++) {
        int length = sprintf(column->bytes + column->offset[v], column->type == KN_TYPE_INT ? "%u" : "v%04u", v);
        column->offset[v + 1] = column->offset[v] + (uint64_t)length;
        if (column->number != NULL) column->number[v] = v;
    }
    /* skewed, and every value occurs */
    for (uint32_t row = 0; row < n_rows; row++) {
        double u = kn_rng_unit(rng);
        codes[row] = (uint16_t)(row < n ? row : u * u * n);
    }
done:
    return status;
}

static kn_status make_table(kn_table **out, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    kn_rng rng = kn_rng_new(1, 0);
    KN_NEW(*out, 1);
    **out = (kn_table){.n_rows = n_rows, .n_columns = N_COLUMNS, .person = KN_NONE};
    (*out)->source = kn_string_copy("bench", 5, err);
    KN_NEW((*out)->columns, N_COLUMNS);
    for (uint32_t c = 0; c < N_COLUMNS; c++) KN_TRY(make_column(&(*out)->columns[c], c, n_rows, &rng, err));
done:
    return status;
}

static const char *const model_specs[] = {
    "k-anonymity:k=2",
    "l-diversity:l=2,column=diagnosis",
    "l-diversity:l=2,column=diagnosis,kind=entropy",
    "l-diversity:l=2,column=diagnosis,kind=frequency",
    "l-diversity:l=2,column=diagnosis,kind=recursive,c=3",
    "p-sensitive:p=2,column=diagnosis",
    "alpha-k:alpha=0.5,column=diagnosis",
    "t-closeness:t=0.5,column=diagnosis",
    "t-closeness:t=0.5,column=expenses,distance=ordered",
    "beta-likeness:beta=2,column=diagnosis",
    "beta-likeness:beta=2,column=diagnosis,enhanced=yes",
    "delta-disclosure:delta=2,column=diagnosis",
};
enum { N_MODELS = sizeof model_specs / sizeof *model_specs };

static kn_status anonymize(kn_release **out, kn_tuples *tuples, const char *k, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_models *models = NULL;
    kn_objective *objective = NULL;
    kn_answer answer = {0};
    kn_args args = {0};
    char spec[64];
    const char *specs[] = {spec};
    snprintf(spec, sizeof spec, "k-anonymity:k=%s", k);
    const kn_algorithm *mondrian = kn_algorithm_find("mondrian");
    KN_TRY(kn_models_new(&models, specs, 1, tuples, err));
    KN_TRY(kn_objective_new(&objective, "lm", tuples, err));
    KN_TRY(kn_args_parse(&args, mondrian->name, mondrian->params, mondrian->n_params, "", err));
    kn_task task = {.tuples = tuples, .models = models, .objective = objective, .args = &args, .seed = 1, .pool = pool};
    KN_TRY(mondrian->search(&answer, &task, err));
    KN_TRY(kn_recode(out, &answer, &task, err));
done:
    kn_answer_free(&answer);
    kn_args_free(&args);
    kn_models_free(models);
    kn_objective_free(objective);
    return status;
}

/* Of all threads: what the machine had to do, also when it was busy with other things. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static kn_status run(uint32_t n_rows, const char *k, unsigned n_threads, kn_error *err)
{
    kn_status status = KN_OK;
    kn_pool *pool = NULL;
    kn_table *table = NULL;
    kn_domain *domains[N_QIS] = {NULL};
    kn_tuples *tuples = NULL;
    kn_release *release = NULL;
    kn_measure_report *report = NULL;
    kn_models *models = NULL;
    kn_finding findings[N_MODELS];
    KN_TRY(kn_pool_new(&pool, n_threads, err));
    KN_TRY(make_table(&table, n_rows, err));
    for (uint32_t q = 0; q < N_QIS; q++) {
        kn_hierarchy_request request = {.weight = 1, .max_level = KN_NONE};
        KN_TRY(kn_domain_build(&domains[q], &table->columns[q], "bench", n_rows, &request, err));
    }
    KN_TRY(kn_tuples_new(&tuples, table, domains, N_QIS, pool, NULL, err));
    KN_TRY(anonymize(&release, tuples, k, pool, err));
    KN_TRY(kn_models_new(&models, model_specs, N_MODELS, tuples, err));
    double began = kn_seconds_now(), began_cpu = cpu_seconds();
    KN_TRY(kn_measure_report_new(&report, release, false, pool, err));
    double measured = kn_seconds_now();
    KN_TRY(kn_models_findings(findings, models, release, pool, err));
    double judged = kn_seconds_now(), cpu = cpu_seconds() - began_cpu;
    printf(
        "{\"bench\":\"measure_release\",\"rows\":%u,\"classes\":%u,\"k\":%s,\"threads\":%u,\"measures\":%zu,"
        "\"measure_seconds\":%.3f,\"models\":%d,\"model_seconds\":%.3f,\"cpu_seconds\":%.3f,\"lm\":%.6f,\"kl\":%.6f}\n",
        n_rows, release->n_classes, k, kn_pool_threads(pool), report->n, measured - began, N_MODELS, judged - measured,
        cpu, report->items[0].value, report->items[14].value);
done:
    kn_measure_report_free(report);
    kn_models_free(models);
    kn_release_free(release);
    kn_tuples_free(tuples);
    for (uint32_t q = 0; q < N_QIS; q++) kn_domain_free(domains[q]);
    kn_table_free(table);
    kn_pool_free(pool);
    return status;
}

int main(int argc, char **argv)
{
    kn_error err = {0};
    uint32_t n_rows = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    kn_status status = run(n_rows, argc > 2 ? argv[2] : "10", argc > 3 ? (unsigned)atoi(argv[3]) : 2, &err);
    if (status != KN_OK) fprintf(stderr, "%s\n", err.message);
    return (int)status;
}
