/* Privacy models: "may this class be released?" One file per model, one line in privacy.def.
 *
 * A model is a predicate on a class, given the table's distribution. It is constant data plus a few functions; fit
 * between algorithm and model is decided from the flags here, never by naming a model. */
#ifndef KN_PRIVACY_PRIVACY_H
#define KN_PRIVACY_PRIVACY_H

#include "base/param.h"
#include "classes/release.h"
#include "privacy/population.h"

enum {
    KN_NEEDS_HISTOGRAM = 1,  /* of its sensitive column: kn_class_counts.sensitive */
    KN_NEEDS_POPULATION = 2, /* kn_class_counts.n_population: who evaluates a class must know its cells, see
                                kn_models_hold_class */
};

/* Up to KN_LANE_CLASSES classes side by side, a lane each: vectors answer for all of them at once. */
enum { KN_LANE_CLASSES = 16, KN_LANES_MOST_ROWS = INT16_MAX, KN_LANES_MOST_VALUES = 64 };
typedef struct kn_lane_counts {
    uint32_t ask; /* bit set of the classes in question: neither empty nor of more than KN_LANES_MOST_ROWS. Of the
                     others numbers may be anything. */
    const uint32_t *n_rows;           /* [class]; aligned as a vector, as what follows */
    const uint16_t *const *sensitive; /* [sensitive column][value * KN_LANE_CLASSES + class]: rows */
} kn_lane_counts;
/* Bit sets of classes; what was asked about and is in neither breaks. */
typedef struct kn_judgement {
    uint32_t holds, unsure;
} kn_judgement;

typedef struct kn_promise {
    const char *when; /* "kind=entropy" */
    const char *text;
} kn_promise;

typedef struct kn_privacy {
    const char *name, *summary, *citation;
    /* For whoever gets the release: what it promises, with parameters in braces, {1/l} as a share. Where a parameter
     * changes what it means, `variants` says it otherwise, up to one without `when`. */
    const char *promise;
    const kn_promise *variants; /* NULL: none */
    const kn_param *params;
    size_t n_params;
    unsigned needs;
    bool monotone;    /* two classes that hold, merged, hold */
    bool counts_only; /* says just: n_persons >= min_persons */
    /* NULL, or how many different values of *column a class needs, where the model says just that and n_persons >=
     * min_persons; 0: it says something else. */
    uint32_t (*least_values)(const void *state, uint32_t *column);
    bool worst_is_least; /* the worst class is the one with the smallest value (k, l); otherwise the largest (t) */
    const char *letter;  /* the parameter that bounds `value`: "k", "l", "t" */
    /* NULL, or overrides the two lines above where they depend on the parameters; returns worst_is_least. */
    bool (*orient)(const void *state, const char **letter);
    /* Also refuses what no release can give, with the largest (smallest) value that is possible. */
    kn_status (*prepare)(void **state, const kn_tuples *tuples, const kn_args *args, kn_error *err);
    void (*discard)(void *state);
    bool (*holds)(const void *state, const kn_class_counts *counts);
    /* NULL, or what `holds` says, faster, for searches that ask about millions of classes: unsure near the limit. Of a
     * class that breaks it may raise must_go[class], a number of rows: with fewer of them taken out, whichever, it does
     * not hold. must_go is aligned as a vector; of classes that were not asked about it may become anything. */
    kn_judgement (*judge)(const void *state, const kn_lane_counts *counts, uint32_t *must_go);
    double (*value)(const void *state, const kn_class_counts *counts); /* in the model's own unit: k, l, alpha, t */
    /* A number of persons that every class that holds has: k for k-anonymity, l for l-diversity. 1 when unknown. */
    uint64_t (*min_persons)(const void *state);
    /* NULL, or a number of different values of *column that every class that holds has. */
    uint32_t (*min_values)(const void *state, uint32_t *column);
} kn_privacy;

/* One model in force. */
typedef struct kn_model {
    const kn_privacy *type;
    kn_args args;
    void *state;
    bool worst_is_least; /* of this use of it */
    const char *letter;
    /* The column of tuples->sensitive in which the model's column is joined to the others; KN_NONE: read alone. Joined,
     * the model must hold for every part of a class whose rows agree in the others ([SV] 5: they are quasi-identifiers
     * to who knows them). Two such classes merged hold where the model is monotone, since their parts merge. */
    uint32_t joined, own;
    const kn_tuples *tuples;
} kn_model;

/* Whether the model holds for a class, and what it says of it: of its worst part where it is joined. */
bool kn_model_holds(const kn_model *model, const kn_class_counts *counts);
double kn_model_value(const kn_model *model, const kn_class_counts *counts);

typedef struct kn_models {
    size_t n;
    kn_model *items;
    unsigned needs; /* union */
    bool monotone;  /* all of them */
    /* What kernels have fast paths for. The models together say just: n_persons >= min_persons ... */
    bool counts_only;
    /* ... or that, and that a class has so many different values of each sensitive column. A class that holds then goes
     * on holding with any rows added. NULL: they say more; 0: of this column nothing. */
    uint32_t *least_values;
    uint64_t min_persons; /* largest of them */
    uint32_t *min_values; /* [sensitive column] the same; what has fewer different values holds in no part either */
    kn_population *population; /* where a model needs one; owned */
} kn_models;

const kn_privacy *const *kn_privacy_all(size_t *n);
const kn_privacy *kn_privacy_find(const char *name);

/* `specs`: "k-anonymity:k=5", "l-diversity:column=diagnosis,l=3", ... The column parameter may be left out when there
 * is one sensitive column. Models with joint=yes join columns (kn_tuples_join). */
kn_status kn_models_new(kn_models **out, const char *const *specs, size_t n_specs, kn_tuples *tuples, kn_error *err);
/* The name of the population that the models need, as their parameters say it; NULL: none. Whoever reads tables hands
 * it over before the models are asked anything. */
const char *kn_models_population(const kn_models *models);
kn_status kn_models_set_population(kn_models *models, const kn_table *people, const kn_tuples *tuples, kn_error *err);
void kn_models_free(kn_models *models);
/* Whether a class may be released. For models that need a population `counts->n_population` must be set. */
bool kn_models_hold(const kn_models *models, const kn_class_counts *counts);
/* The same from lanes, for classes with at least min_persons; unsure where kn_models_hold has to be asked. */
kn_judgement kn_models_judge(const kn_models *models, const kn_lane_counts *counts, uint32_t *must_go);
/* As kn_models_hold for a class whose cells are known: fills in n_population where a model needs it. */
bool kn_models_hold_class(const kn_models *models, kn_class_counts *counts, const kn_cell *cells,
                          const kn_set_pool *sets);
/* Refuses, with KN_NOT_MET and the value that is possible, what no release without suppressed rows can give: a monotone
 * model that the whole table as one class breaks. With `max_suppressed` above 0 nothing is refused, because leaving
 * rows out changes the distribution. What no release can give at all is refused by kn_models_new already. */
kn_status kn_models_possible(const kn_models *models, const kn_tuples *tuples, uint64_t max_suppressed, kn_error *err);

/* How a release stands to each model, in the order of models->items. The suppressed rows are a class when they stayed
 * in the file. Without any class `worst` is NAN and the model holds. */
typedef struct kn_finding {
    bool holds;
    double worst;         /* may be infinite (recursive l-diversity, delta-disclosure) */
    uint32_t worst_class; /* n_classes: the suppressed rows; KN_NONE without classes */
} kn_finding;
kn_status kn_models_findings(kn_finding *findings, const kn_models *models, const kn_release *release, kn_pool *pool,
                             kn_error *err);

#endif
