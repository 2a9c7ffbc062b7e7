/* Populations: read here, because privacy/ opens no tables, and handed to the models that need one. */
#ifndef KN_RUN_PEOPLE_H
#define KN_RUN_PEOPLE_H

#include "privacy/privacy.h"
#include "source/source.h"

/* `sources`: where tables are and how they are spelled; NULL: a plain file. */
kn_status kn_population_read(kn_population **out, const char *path, const kn_source_options *sources,
                             const kn_tuples *tuples, kn_pool *pool, kn_error *err);
/* kn_models_new, and the population where they name one. */
kn_status kn_models_read(kn_models **out, const char *const *specs, size_t n_specs, kn_tuples *tuples,
                         const kn_source_options *sources, kn_pool *pool, kn_error *err);

#endif
