/* The registry of privacy models, and the models in force for one run. */
#include "privacy/sensitive.h"

#include <math.h>
#include <string.h>

#define KN_PRIVACY(name) extern const kn_privacy kn_privacy_##name;
#include "privacy/privacy.def"
#undef KN_PRIVACY

static const kn_privacy *const registry[] = {
#define KN_PRIVACY(name) &kn_privacy_##name,
#include "privacy/privacy.def"
#undef KN_PRIVACY
};

enum { N_REGISTRY = sizeof registry / sizeof *registry };

const kn_privacy *const *kn_privacy_all(size_t *n)
{
    *n = N_REGISTRY;
    return registry;
}

static const kn_privacy *find(const char *name, size_t n_bytes)
{
    for (size_t i = 0; i < N_REGISTRY; i++)
        if (strlen(registry[i]->name) == n_bytes && memcmp(registry[i]->name, name, n_bytes) == 0) return registry[i];
    return NULL;
}

const kn_privacy *kn_privacy_find(const char *name) { return find(name, strlen(name)); }

static kn_status unknown_model(const char *spec, int n_bytes, kn_error *err)
{
    kn_buffer names = {0};
    for (size_t i = 0; i < N_REGISTRY; i++) kn_buffer_printf(&names, "%s%s", i > 0 ? ", " : "", registry[i]->name);
    kn_status status = kn_error_set(err, KN_USAGE, "there is no privacy model '%.*s'; there are %s",
                                    n_bytes < 40 ? n_bytes : 40, spec, names.failed ? "others" : names.bytes);
    kn_buffer_free(&names);
    return status;
}

static bool needs_population(const kn_model *model) { return (model->type->needs & KN_NEEDS_POPULATION) != 0; }

/* One population serves all models of a run, because a class has one number of people around it. */
static kn_status check_population(const kn_models *models, const kn_model *model, kn_error *err)
{
    kn_status status = KN_OK;
    const char *path = kn_args_text(&model->args, "population");
    for (const kn_model *other = models->items; other < model; other++)
        if (needs_population(other) && strcmp(kn_args_text(&other->args, "population"), path) != 0)
            KN_FAIL(KN_USAGE, "%s and %s name different population files; one run has one population",
                    other->type->name, model->type->name);
done:
    return status;
}

const char *kn_models_population(const kn_models *models)
{
    for (size_t m = 0; m < models->n; m++)
        if (needs_population(&models->items[m])) return kn_args_text(&models->items[m].args, "population");
    return NULL;
}

kn_status kn_models_set_population(kn_models *models, const kn_table *people, const kn_tuples *tuples, kn_error *err)
{
    kn_population_free(models->population);
    return kn_population_new(&models->population, people, tuples, err);
}

/* --- Joined columns ---------------------------------------------------------------------------------------------- */

enum { MOST_JOINED = 64, FEW_VALUES = 1024 };

static kn_status model_join(kn_model *model, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    bool asked = false;
    model->joined = KN_NONE;
    for (size_t i = 0; i < model->type->n_params; i++)
        asked |= strcmp(model->type->params[i].name, "joint") == 0 && kn_args_is(&model->args, "joint", "yes");
    if (!asked) goto done;
    KN_TRY(kn_model_column(&model->own, tuples, &model->args, err));
    if (tuples->n_table_sensitive > MOST_JOINED)
        KN_FAIL(KN_USAGE, "%s: joint=yes takes at most %d sensitive columns; here are %u", model->type->name,
                MOST_JOINED, tuples->n_table_sensitive);
    if (tuples->n_table_sensitive > 1) KN_TRY(kn_tuples_join(&model->joined, tuples, model->own, err));
done:
    return status;
}

/* One part of a class as the model sees it; entries [begin, end) of the joined histogram. */
typedef struct part {
    uint32_t begin, end;
    kn_class_counts counts;
    kn_histogram histograms[MOST_JOINED];
    uint32_t few[FEW_VALUES], *many; /* values in the model's own column; many: where there are more, on the heap */
    bool failed;                     /* no memory for them: then the class is not good enough */
} part;

/* The next rows that agree in the other columns: they stand together. False: there are none. */
static bool next_part(part *p, const kn_model *model, const kn_class_counts *counts)
{
    const kn_sensitive *joined = &model->tuples->sensitive[model->joined];
    const kn_histogram *all = &counts->sensitive[model->joined];
    uint32_t *values = p->few;
    kn_free(p->many);
    p->many = NULL;
    p->begin = p->end;
    if (p->begin == all->n) return false;
    p->counts = *counts;
    p->counts.n_rows = 0;
    p->counts.sensitive = p->histograms;
    for (; p->end < all->n && joined->others[all->values[p->end]] == joined->others[all->values[p->begin]]; p->end++)
        p->counts.n_rows += all->counts[p->end];
    if (p->end - p->begin > FEW_VALUES) values = p->many = kn_array_alloc_raw(p->end - p->begin, sizeof *values, NULL);
    for (uint32_t i = p->begin; values != NULL && i < p->end; i++)
        values[i - p->begin] = joined->own_value[all->values[i]];
    p->failed = values == NULL;
    p->histograms[model->own] = (kn_histogram){p->failed ? 0 : p->end - p->begin, values, all->counts + p->begin};
    return true;
}

bool kn_model_holds(const kn_model *model, const kn_class_counts *counts)
{
    if (model->joined == KN_NONE) return model->type->holds(model->state, counts);
    part p; /* large: not filled with zeros */
    bool holds = true;
    p.end = 0;
    p.many = NULL;
    while (next_part(&p, model, counts)) holds = holds && !p.failed && model->type->holds(model->state, &p.counts);
    return holds;
}

static bool is_worse(const kn_model *model, double value, double than)
{
    if (isnan(than)) return true;
    return model->worst_is_least ? value < than : value > than;
}

double kn_model_value(const kn_model *model, const kn_class_counts *counts)
{
    if (model->joined == KN_NONE) return model->type->value(model->state, counts);
    part p;
    double worst = NAN;
    p.end = 0;
    p.many = NULL;
    while (next_part(&p, model, counts)) {
        double value = model->type->value(model->state, &p.counts);
        if (is_worse(model, value, worst)) worst = value;
    }
    return worst;
}

/* --- Models in force --------------------------------------------------------------------------------------------- */

static kn_status model_open(kn_model *model, const char *spec, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_bytes = strcspn(spec, ":");
    model->type = find(spec, n_bytes);
    if (model->type == NULL) KN_TRY(unknown_model(spec, (int)n_bytes, err));
    const char *params = spec[n_bytes] == ':' ? spec + n_bytes + 1 : "";
    KN_TRY(kn_args_parse(&model->args, model->type->name, model->type->params, model->type->n_params, params, err));
    KN_TRY(model->type->prepare(&model->state, tuples, &model->args, err));
    model->worst_is_least = model->type->worst_is_least;
    model->letter = model->type->letter;
    if (model->type->orient != NULL) model->worst_is_least = model->type->orient(model->state, &model->letter);
    model->tuples = tuples;
    KN_TRY(model_join(model, tuples, err));
done:
    return status;
}

static kn_status note_least_values(kn_models *models, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *least_values = NULL;
    KN_NEW(least_values, tuples->n_sensitive);
    for (size_t i = 0; i < models->n; i++) {
        const kn_model *model = &models->items[i];
        if (model->type->counts_only) continue;
        /* joined, it says more: a row that is new to a class may be a new part of it */
        bool plain = model->type->least_values != NULL && model->joined == KN_NONE;
        uint32_t column = 0, n = plain ? model->type->least_values(model->state, &column) : 0;
        if (n == 0) goto done;
        if (n > least_values[column]) least_values[column] = n;
    }
    models->least_values = least_values;
    least_values = NULL;
done:
    kn_free(least_values);
    return status;
}

static kn_status note_min_values(kn_models *models, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(models->min_values, tuples->n_sensitive);
    for (size_t i = 0; i < models->n; i++) {
        const kn_model *model = &models->items[i];
        const bool plain = model->type->min_values != NULL && model->joined == KN_NONE;
        uint32_t column = 0, n = plain ? model->type->min_values(model->state, &column) : 0;
        if (n > 0 && n > models->min_values[column]) models->min_values[column] = n;
    }
done:
    return status;
}

kn_status kn_models_new(kn_models **out, const char *const *specs, size_t n_specs, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    kn_models *models = NULL;
    *out = NULL;
    KN_NEW(models, 1);
    KN_NEW(models->items, n_specs);
    models->monotone = models->counts_only = true;
    models->min_persons = 1;
    for (size_t i = 0; i < n_specs; i++) {
        kn_model *model = &models->items[models->n++];
        KN_TRY(model_open(model, specs[i], tuples, err));
        const kn_privacy *type = model->type;
        if (needs_population(model)) KN_TRY(check_population(models, model, err));
        models->needs |= type->needs;
        models->monotone = models->monotone && type->monotone;
        models->counts_only = models->counts_only && type->counts_only;
        uint64_t persons = type->min_persons(model->state);
        if (persons > models->min_persons) models->min_persons = persons;
    }
    KN_TRY(note_least_values(models, tuples, err));
    KN_TRY(note_min_values(models, tuples, err));
    *out = models;
    models = NULL;
done:
    kn_models_free(models);
    return status;
}

void kn_models_free(kn_models *models)
{
    if (models == NULL) return;
    for (size_t i = 0; i < models->n; i++) {
        kn_model *model = &models->items[i];
        if (model->state != NULL) model->type->discard(model->state);
        kn_args_free(&model->args);
    }
    kn_population_free(models->population);
    kn_free(models->items);
    kn_free(models->least_values);
    kn_free(models->min_values);
    kn_free(models);
}

bool kn_models_hold(const kn_models *models, const kn_class_counts *counts)
{
    if (counts->n_persons < models->min_persons) return false;
    if (models->counts_only) return true;
    for (size_t i = 0; i < models->n; i++)
        if (!kn_model_holds(&models->items[i], counts)) return false;
    return true;
}

kn_judgement kn_models_judge(const kn_models *models, const kn_lane_counts *counts, uint32_t *must_go)
{
    kn_judgement judgement = {counts->ask, 0};
    for (size_t i = 0; i < models->n; i++) {
        const kn_privacy *type = models->items[i].type;
        if (type->counts_only) continue; /* says what min_persons says */
        kn_judgement own = {0, counts->ask};
        if (type->judge != NULL && models->items[i].joined == KN_NONE)
            own = type->judge(models->items[i].state, counts, must_go);
        judgement.unsure = (judgement.unsure & (own.holds | own.unsure)) | (judgement.holds & own.unsure);
        judgement.holds &= own.holds;
    }
    return judgement;
}

bool kn_models_hold_class(const kn_models *models, kn_class_counts *counts, const kn_cell *cells,
                          const kn_set_pool *sets)
{
    if (models->population != NULL) counts->n_population = kn_population_count(models->population, cells, sets);
    return kn_models_hold(models, counts);
}

/* --- What is possible at all ------------------------------------------------------------------------------------- */

/* The whole table as one class. */
static kn_status whole_table(kn_histogram **out, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*out, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        const kn_sensitive *sensitive = &tuples->sensitive[s];
        uint32_t *values = NULL, n = 0;
        uint64_t *counts = NULL;
        KN_NEW(values, sensitive->n_values);
        (*out)[s].values = values;
        KN_NEW(counts, sensitive->n_values);
        (*out)[s].counts = counts;
        for (uint32_t value = 0; value < sensitive->n_values; value++) {
            if (sensitive->value_rows[value] == 0) continue;
            values[n] = value;
            counts[n++] = sensitive->value_rows[value];
        }
        (*out)[s].n = n;
    }
done:
    return status;
}

static void free_histograms(kn_histogram *histograms, uint32_t n)
{
    for (uint32_t s = 0; histograms != NULL && s < n; s++) {
        kn_free((void *)histograms[s].values);
        kn_free((void *)histograms[s].counts);
    }
    kn_free(histograms);
}

kn_status kn_models_possible(const kn_models *models, const kn_tuples *tuples, uint64_t max_suppressed, kn_error *err)
{
    kn_status status = KN_OK;
    kn_histogram *histograms = NULL;
    if (max_suppressed > 0 || tuples->n_rows == 0) return KN_OK;
    KN_TRY(whole_table(&histograms, tuples, err));
    kn_class_counts counts = {tuples->n_rows, tuples->n_persons, 0, histograms};
    if (models->population != NULL) counts.n_population = kn_population_size(models->population);
    for (size_t i = 0; i < models->n; i++) {
        const kn_model *model = &models->items[i];
        if (!model->type->monotone || kn_model_holds(model, &counts)) continue;
        double reached = kn_model_value(model, &counts);
        /* rounded to the side that is possible, so that the figure can be used as it stands */
        double limit = model->worst_is_least ? floor(reached * 1e4) / 1e4 : ceil(reached * 1e4) / 1e4;
        KN_FAIL(KN_NOT_MET,
                "%s: %s=%s is impossible without suppressing rows: all rows together as one class reach %.6g, and no "
                "division into classes does better; %s can be at %s %g",
                model->type->name, model->letter, kn_args_text(&model->args, model->letter), reached, model->letter,
                model->worst_is_least ? "most" : "least", limit);
    }
done:
    free_histograms(histograms, tuples->n_sensitive);
    return status;
}

/* --- Findings ---------------------------------------------------------------------------------------------------- */

enum { CLASSES_PER_JOB = 8192 };

typedef struct finding_jobs {
    const kn_models *models;
    const kn_release *release;
    uint32_t n_classes;   /* the suppressed rows included where they stayed */
    kn_finding *findings; /* [job * models->n + model] */
} finding_jobs;

static void note_class(kn_finding *finding, const kn_model *model, const kn_class_counts *counts, uint32_t c)
{
    double value = kn_model_value(model, counts);
    if (is_worse(model, value, finding->worst)) {
        finding->worst = value;
        finding->worst_class = c;
    }
    if (finding->holds && !kn_model_holds(model, counts)) finding->holds = false;
}

static kn_status find_in_classes(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const finding_jobs *jobs = context;
    const kn_models *models = jobs->models;
    const kn_release *release = jobs->release;
    kn_finding *findings = jobs->findings + job * models->n;
    kn_histogram *histograms = NULL;
    KN_NEW(histograms, release->tuples->n_sensitive);
    for (size_t i = 0; i < models->n; i++) findings[i] = (kn_finding){true, NAN, KN_NONE};
    uint32_t end = jobs->n_classes - (uint32_t)job * CLASSES_PER_JOB;
    end = (uint32_t)job * CLASSES_PER_JOB + (end < CLASSES_PER_JOB ? end : CLASSES_PER_JOB);
    for (uint32_t c = (uint32_t)job * CLASSES_PER_JOB; c < end; c++) {
        kn_class_counts counts = kn_release_class(release, c, histograms);
        if (models->population != NULL)
            counts.n_population = kn_population_count(
                models->population, c < release->n_classes ? release->cells + (size_t)c * release->tuples->n_qis : NULL,
                release->sets);
        for (size_t i = 0; i < models->n; i++) note_class(&findings[i], &models->items[i], &counts, c);
    }
done:
    kn_free(histograms);
    return status;
}

kn_status kn_models_findings(kn_finding *findings, const kn_models *models, const kn_release *release, kn_pool *pool,
                             kn_error *err)
{
    kn_status status = KN_OK;
    finding_jobs jobs = {models, release, release->n_classes, NULL};
    if (release->n_suppressed > 0 && release->n_removed == 0 && !release->suppressed_joined) jobs.n_classes++;
    size_t n_jobs = (jobs.n_classes + (size_t)CLASSES_PER_JOB - 1) / CLASSES_PER_JOB;
    KN_NEW(jobs.findings, n_jobs * models->n);
    KN_TRY(kn_pool_run(pool, n_jobs, find_in_classes, &jobs, err));
    for (size_t i = 0; i < models->n; i++) {
        findings[i] = (kn_finding){true, NAN, KN_NONE};
        for (size_t job = 0; job < n_jobs; job++) {
            const kn_finding *some = &jobs.findings[job * models->n + i];
            if (!isnan(some->worst) && is_worse(&models->items[i], some->worst, findings[i].worst)) {
                findings[i].worst = some->worst;
                findings[i].worst_class = some->worst_class;
            }
            findings[i].holds = findings[i].holds && some->holds;
        }
    }
done:
    kn_free(jobs.findings);
    return status;
}
