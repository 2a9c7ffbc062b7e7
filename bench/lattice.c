/* kanon-bench-lattice DATA HIERARCHIES QI,QI,... [option=value]...
 *
 * How fast is the lattice engine, and what does the best node lose? DATA is a CSV file; the hierarchy of column c is
 * HIERARCHIES/c.csv (a QI written c=h takes HIERARCHIES/h.csv). Options: what=all|optimal (every node, or one optimum),
 * k=5, suppressed=0.04 (share of the rows), measure=lm, models="l-diversity:l=3 ..." (besides k-anonymity),
 * sensitive=column, rows=N (that many rows drawn from DATA with jitter), repeat=5, threads=1, time-limit=S, effort=N.
 *
 * One JSON line per run: fastest and median search seconds, wall and CPU (from the tuples to the answer), encode
 * seconds, nodes looked at, the loss reached, the bound, peak bytes of the search. */
#include "engine/lattice/walk.h"
#include "base/rng.h"
#include "hierarchy/build.h"
#include "source/csv/csv_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_QIS = 64, MOST_MODELS = 8 };

typedef struct bench {
    const char *data, *folder, *what, *measure, *models, *sensitive;
    char *names[MOST_QIS], *files[MOST_QIS];
    uint32_t n_qis;
    double k, suppressed, time_limit;
    uint32_t rows, repeat, threads;
    uint64_t effort;
    kn_table *table;
    kn_domain *domains[MOST_QIS];
    kn_tuples *tuples;
    kn_pool *pool;
} bench;

static void parse_options(bench *b, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) continue;
        *value++ = '\0';
        if (strcmp(argv[i], "what") == 0) b->what = value;
        if (strcmp(argv[i], "k") == 0) b->k = atof(value);
        if (strcmp(argv[i], "suppressed") == 0) b->suppressed = atof(value);
        if (strcmp(argv[i], "measure") == 0) b->measure = value;
        if (strcmp(argv[i], "models") == 0) b->models = value;
        if (strcmp(argv[i], "sensitive") == 0) b->sensitive = value;
        if (strcmp(argv[i], "rows") == 0) b->rows = (uint32_t)atof(value);
        if (strcmp(argv[i], "repeat") == 0) b->repeat = (uint32_t)atof(value);
        if (strcmp(argv[i], "threads") == 0) b->threads = (uint32_t)atof(value);
        if (strcmp(argv[i], "time-limit") == 0) b->time_limit = atof(value);
        if (strcmp(argv[i], "effort") == 0) b->effort = (uint64_t)atof(value);
    }
}

static void parse_columns(bench *b, char *list)
{
    for (char *name = strtok(list, ","); name != NULL && b->n_qis < MOST_QIS; name = strtok(NULL, ",")) {
        char *file = strchr(name, '=');
        if (file != NULL) *file++ = '\0';
        b->names[b->n_qis] = name;
        b->files[b->n_qis++] = file != NULL ? file : name;
    }
}

static kn_status read_data(bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    kn_column_plan *plans = NULL;
    KN_TRY(kn_csv_open(&reader, b->data, &(kn_csv_options){0}, err));
    KN_NEW(plans, kn_csv_n_columns(reader));
    for (uint32_t c = 0; c < kn_csv_n_columns(reader); c++) {
        const char *name = kn_csv_column_name(reader, c);
        plans[c].role = KN_ROLE_DROPPED;
        for (uint32_t q = 0; q < b->n_qis; q++)
            if (strcmp(name, b->names[q]) == 0) plans[c].role = KN_ROLE_QUASI;
        if (b->sensitive != NULL && strcmp(name, b->sensitive) == 0) plans[c].role = KN_ROLE_SENSITIVE;
    }
    KN_TRY(kn_csv_read(&b->table, reader, plans, b->pool, NULL, err));
done:
    kn_free(plans);
    kn_csv_close(reader);
    return status;
}

static void set_code(kn_column *column, size_t row, uint32_t code)
{
    if (column->code_bytes == 1) ((uint8_t *)column->codes)[row] = (uint8_t)code;
    else if (column->code_bytes == 2) ((uint16_t *)column->codes)[row] = (uint16_t)code;
    else ((uint32_t *)column->codes)[row] = code;
}

/* More rows of the same kind: a random row each, one cell in twenty from another row. */
static kn_status enlarge(bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    kn_rng rng = kn_rng_new(1, 0);
    kn_table *table = b->table;
    uint32_t n_old = table->n_rows;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        kn_column *column = &table->columns[c];
        if (column->codes == NULL) continue;
        void *moved = kn_array_resize(column->codes, b->rows, column->code_bytes, err);
        if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->codes = moved;
    }
    for (uint32_t row = n_old; row < b->rows; row++) {
        uint32_t from = kn_rng_below(&rng, n_old);
        for (uint32_t c = 0; c < table->n_columns; c++) {
            kn_column *column = &table->columns[c];
            if (column->codes == NULL) continue;
            uint32_t source = kn_rng_below(&rng, 20) == 0 ? kn_rng_below(&rng, n_old) : from;
            set_code(column, row, kn_column_code(column, source));
        }
    }
    table->n_rows = b->rows;
done:
    return status;
}

static kn_status encode(bench *b, double *seconds, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t q = 0; q < b->n_qis; q++) {
        char path[4096];
        uint32_t c = kn_table_find(b->table, b->names[q]);
        if (c == KN_NONE) KN_FAIL(KN_USAGE, "no column %s", b->names[q]);
        snprintf(path, sizeof path, "%s/%s.csv", b->folder, b->files[q]);
        kn_hierarchy_request request = {.spec = path, .must_be_tree = true, .weight = 1, .max_level = KN_NONE};
        KN_TRY(kn_domain_build(&b->domains[q], &b->table->columns[c], b->data, b->table->n_rows, &request, err));
    }
    double start = kn_seconds_now();
    KN_TRY(kn_tuples_new(&b->tuples, b->table, b->domains, b->n_qis, b->pool, NULL, err));
    *seconds = kn_seconds_now() - start;
    if (b->sensitive != NULL) KN_TRY(kn_tuples_histograms(b->tuples, b->pool, err));
done:
    return status;
}

/* Every node: what the visitor saw, so that nothing is optimized away. */
typedef struct seen {
    double least[64];
    uint64_t n[64];
} seen;

static kn_status look(void *context, const kn_node *node, const double *losses, const uint32_t *levels, unsigned worker,
                      kn_error *err)
{
    seen *s = context;
    s->n[worker]++;
    if (node->feasible && node->loss < s->least[worker]) s->least[worker] = node->loss;
    return KN_OK;
}

static kn_status look_at_all(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    seen s = {{0}, {0}};
    for (int i = 0; i < 64; i++) s.least[i] = INFINITY;
    KN_TRY(kn_full_domain_new(&domain, task, KN_MOST_COMBOS, err));
    KN_TRY(kn_each_node(domain, false, look, &s, err));
    answer->bound = INFINITY;
    for (int i = 0; i < 64; i++) {
        answer->n_nodes += s.n[i];
        if (s.least[i] < answer->bound) answer->bound = s.least[i];
    }
done:
    kn_full_domain_free(domain);
    return status;
}

static kn_status node_loss(double *loss, const kn_task *task, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    kn_evaluator *evaluator = NULL;
    kn_node node;
    KN_TRY(kn_full_domain_new(&domain, task, 0, err));
    KN_TRY(kn_evaluator_new(&evaluator, domain, err));
    KN_TRY(kn_evaluate_levels(&node, evaluator, levels, err));
    *loss = node.loss;
done:
    kn_evaluator_free(evaluator);
    kn_full_domain_free(domain);
    return status;
}

/* Of all threads: what a busy machine does not distort. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_line(const bench *b, const kn_answer *answer, const double *seconds, const double *cpu,
                       double encode_seconds, double loss, size_t peak)
{
    static const char *const stopped[] = {"done", "budget", "time", "interrupt"};
    const char *slash = strrchr(b->data, '/');
    printf("{\"bench\":\"lattice\",\"what\":\"%s\",\"data\":\"%s\",\"rows\":%llu,\"tuples\":%u,\"qis\":%u,\"k\":%.0f,"
           "\"suppressed\":%g,\"measure\":\"%s\",\"models\":\"%s\",\"threads\":%u,\"encode_s\":%.4f,\"fastest_s\":%.5f,"
           "\"median_s\":%.5f,\"fastest_cpu_s\":%.5f,\"median_cpu_s\":%.5f,\"runs\":%u,\"nodes\":%llu,\"loss\":%.9g,"
           "\"bound\":%.9g,\"stopped\":\"%s\",\"peak_bytes\":%zu",
           b->what, slash != NULL ? slash + 1 : b->data, (unsigned long long)b->tuples->n_rows, b->tuples->n_tuples,
           b->n_qis, b->k, b->suppressed, b->measure, b->models, b->threads, encode_seconds, seconds[0],
           seconds[b->repeat / 2], cpu[0], cpu[b->repeat / 2], b->repeat, (unsigned long long)answer->n_nodes, loss,
           answer->bound, stopped[answer->stopped], peak);
    for (uint32_t q = 0; answer->levels != NULL && q < b->n_qis; q++)
        printf("%s%u", q == 0 ? ",\"levels\":[" : ",", answer->levels[q]);
    puts(answer->levels != NULL ? "]}" : "}");
}

static kn_status measure_runs(bench *b, double encode_seconds, kn_error *err)
{
    kn_status status = KN_OK;
    kn_models *models = NULL;
    kn_objective *objective = NULL;
    kn_args args = {0};
    kn_answer answer = {0};
    double *seconds = NULL, *cpu = NULL, loss = NAN;
    char anonymity[50], text[1000];
    const char *specs[MOST_MODELS] = {anonymity};
    size_t n_specs = 1, peak = 0;
    const kn_algorithm *optimal = kn_algorithm_find("optimal");
    snprintf(anonymity, sizeof anonymity, "k-anonymity:k=%.0f", b->k);
    snprintf(text, sizeof text, "%s", b->models);
    for (char *spec = strtok(text, " "); spec != NULL && n_specs < MOST_MODELS; spec = strtok(NULL, " "))
        specs[n_specs++] = spec;
    KN_TRY(kn_models_new(&models, specs, n_specs, b->tuples, err));
    KN_TRY(kn_objective_new(&objective, b->measure, b->tuples, err));
    KN_TRY(kn_args_parse(&args, "optimal", optimal->params, optimal->n_params, "", err));
    KN_NEW(seconds, b->repeat);
    KN_NEW(cpu, b->repeat);
    kn_task task = {.tuples = b->tuples,
                    .models = models,
                    .objective = objective,
                    .args = &args,
                    .max_suppressed = (uint64_t)(b->suppressed * (double)b->tuples->n_rows),
                    .effort = b->effort,
                    .pool = b->pool};
    for (uint32_t i = 0; i < b->repeat; i++) {
        kn_ticker ticker = {0};
        if (b->time_limit > 0) ticker.search_deadline = kn_seconds_now() + b->time_limit;
        task.ticker = &ticker;
        kn_answer_free(&answer);
        size_t before = kn_memory_used();
        kn_memory_reset_peak();
        double start = kn_seconds_now(), cpu_start = cpu_seconds();
        if (strcmp(b->what, "all") == 0) KN_TRY(look_at_all(&answer, &task, err));
        else KN_TRY(optimal->search(&answer, &task, err));
        seconds[i] = kn_seconds_now() - start;
        cpu[i] = cpu_seconds() - cpu_start;
        peak = kn_memory_peak() - before;
    }
    qsort(seconds, b->repeat, sizeof *seconds, by_size);
    qsort(cpu, b->repeat, sizeof *cpu, by_size);
    loss = answer.bound;
    if (answer.levels != NULL) KN_TRY(node_loss(&loss, &task, answer.levels, err));
    print_line(b, &answer, seconds, cpu, encode_seconds, loss, peak);
done:
    kn_answer_free(&answer);
    kn_free(seconds);
    kn_free(cpu);
    kn_args_free(&args);
    kn_objective_free(objective);
    kn_models_free(models);
    return status;
}

int main(int argc, char **argv)
{
    kn_account *account = NULL; /* memory is counted from here on */
    kn_scope before;
    bench b = {.what = "optimal", .measure = "lm", .models = "", .k = 5, .repeat = 5, .threads = 1};
    kn_error message = {0}, *err = &message;
    kn_status status = KN_OK;
    double encode_seconds = 0;
    if (argc < 4) {
        fputs("usage: kanon-bench-lattice DATA HIERARCHIES QI,QI,... [option=value]...\n", stderr);
        return 2;
    }
    b.data = argv[1];
    b.folder = argv[2];
    parse_columns(&b, argv[3]);
    parse_options(&b, argc - 4, argv + 4);
    KN_TRY(kn_account_new(&account, NULL, err));
    KN_TRY(kn_scope_enter(&before, account, err));
    KN_TRY(kn_pool_new(&b.pool, b.threads, err));
    KN_TRY(read_data(&b, err));
    if (b.rows > b.table->n_rows) KN_TRY(enlarge(&b, err));
    KN_TRY(encode(&b, &encode_seconds, err));
    KN_TRY(measure_runs(&b, encode_seconds, err));
done:
    if (status != KN_OK) fprintf(stderr, "%s\n", message.message);
    kn_tuples_free(b.tuples);
    for (uint32_t q = 0; q < b.n_qis; q++) kn_domain_free(b.domains[q]);
    kn_table_free(b.table);
    kn_pool_free(b.pool);
    return (int)status;
}
