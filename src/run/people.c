/* The people among whom those of the table hide, from a file or a table in memory. */
#include "run/people.h"

#include <string.h>

/* Only the quasi-identifiers are read, with the types that the table's columns have. */
static void plan_columns(kn_column_plan *plans, const kn_source *source, const kn_tuples *tuples)
{
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++) {
        plans[c] = (kn_column_plan){KN_ROLE_DROPPED, KN_TYPE_AUTO, KN_USE_NOTHING};
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            if (strcmp(kn_source_column_name(source, c), tuples->domains[q]->name) == 0)
                plans[c] = (kn_column_plan){KN_ROLE_QUASI, tuples->domains[q]->column->type, KN_USE_NOTHING};
    }
}

static kn_status people_read(kn_table **out, const char *path, const kn_source_options *sources,
                             const kn_tuples *tuples, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan *plans = NULL;
    *out = NULL;
    KN_TRY(kn_source_open(&source, path, sources, err));
    KN_NEW(plans, kn_source_n_columns(source));
    plan_columns(plans, source, tuples);
    KN_TRY(kn_source_read(out, source, plans, pool, NULL, err));
done:
    kn_source_close(source);
    kn_free(plans);
    return status;
}

kn_status kn_population_read(kn_population **out, const char *path, const kn_source_options *sources,
                             const kn_tuples *tuples, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_table *people = NULL;
    *out = NULL;
    KN_TRY(people_read(&people, path, sources, tuples, pool, err));
    KN_TRY(kn_population_new(out, people, tuples, err));
done:
    kn_table_free(people);
    return status;
}

kn_status kn_models_read(kn_models **out, const char *const *specs, size_t n_specs, kn_tuples *tuples,
                         const kn_source_options *sources, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_models *models = NULL;
    kn_table *people = NULL;
    *out = NULL;
    KN_TRY(kn_models_new(&models, specs, n_specs, tuples, err));
    const char *path = kn_models_population(models);
    if (path != NULL) {
        KN_TRY(people_read(&people, path, sources, tuples, pool, err));
        KN_TRY(kn_models_set_population(models, people, tuples, err));
    }
    *out = models;
    models = NULL;
done:
    kn_table_free(people);
    kn_models_free(models);
    return status;
}
