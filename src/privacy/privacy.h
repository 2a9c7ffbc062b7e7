/* Privacy models: "may this class be released?" One file per model, one line in privacy.def.
 *
 * A model is a predicate on a class, given the table's distribution. It is constant data plus a few functions; fit
 * between algorithm and model is decided from the flags here, never by naming a model. */
#ifndef KN_PRIVACY_PRIVACY_H
#define KN_PRIVACY_PRIVACY_H

#include "base/param.h"
#include "partition/release.h"

enum {
    KN_NEEDS_HISTOGRAM = 1,  /* of its sensitive column: kn_class_counts.sensitive */
    KN_NEEDS_POPULATION = 2, /* kn_class_counts.n_population */
};

typedef struct kn_privacy {
    const char *name, *summary, *citation;
    const kn_param *params;
    size_t n_params;
    unsigned needs;
    bool monotone;       /* two classes that hold, merged, hold */
    bool counts_only;    /* says just: n_persons >= min_persons */
    bool worst_is_least; /* the worst class is the one with the smallest value (k, l); otherwise the largest (t) */
    /* Also refuses what no release can give, with the largest (smallest) value that is possible. */
    kn_status (*prepare)(void **state, const kn_tuples *tuples, const kn_args *args, kn_error *err);
    void (*discard)(void *state);
    bool (*holds)(const void *state, const kn_class_counts *counts);
    double (*value)(const void *state, const kn_class_counts *counts); /* in the model's own unit: k, l, alpha, t */
    /* A number of persons that every class that holds has: k for k-anonymity, l for l-diversity. 1 when unknown. */
    uint64_t (*min_persons)(const void *state);
} kn_privacy;

/* One model in force. */
typedef struct kn_model {
    const kn_privacy *type;
    kn_args args;
    void *state;
} kn_model;

typedef struct kn_models {
    size_t n;
    kn_model *items;
    unsigned needs;       /* union */
    bool monotone;        /* all of them */
    bool counts_only;     /* the models together say just: n_persons >= min_persons. The kernel's fast path */
    uint64_t min_persons; /* largest of them */
} kn_models;

const kn_privacy *const *kn_privacy_all(size_t *n);
const kn_privacy *kn_privacy_find(const char *name);

/* `specs`: "k-anonymity:k=5", "l-diversity:column=diagnosis,l=3", ... The column parameter may be left out when there
 * is one sensitive column. */
kn_status kn_models_new(kn_models **out, const char *const *specs, size_t n_specs, const kn_tuples *tuples,
                        kn_error *err);
void kn_models_free(kn_models *models);
bool kn_models_hold(const kn_models *models, const kn_class_counts *counts);

#endif
