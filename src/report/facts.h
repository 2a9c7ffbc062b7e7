/* What a finished run has to tell: one struct, filled by run/, read by the JSON, the summary and the HTML report. It
 * knows the table and the release, but not how the release was found: what a search tells of itself is plain data
 * (base/outcome.h). */
#ifndef KN_REPORT_FACTS_H
#define KN_REPORT_FACTS_H

#include "base/outcome.h"
#include "base/unit.h"
#include "measure/measure.h"
#include "privacy/privacy.h"
#include "verify/verify.h"

typedef struct kn_loss {
    const char *name;
    double value; /* NAN: the measure does not apply here */
} kn_loss;

typedef struct kn_model_fact {
    const char *name;
    char *params;        /* "k=5", as asked */
    char *public_params; /* the same without values of the data, for JSON and reports */
    bool hides_values;   /* some of `params` are values of the data */
    bool holds;
    double worst;         /* of all classes, the suppressed rows that stay included; NAN without classes */
    bool protects_values; /* says something of a sensitive column, more than a head count ... */
    const char *column;   /* ... namely of this one; NULL: of the only one */
} kn_model_fact;

typedef struct kn_seconds {
    /* The stages of a run, one after the other, and their sum. `measure`: what the release costs; `report`: the page
     * and the schema, and waiting until they and the release are on the disk. Since the JSON says all this it is made
     * after it: its own text, copying to pipes and the renaming are in no stage. */
    double read, encode, search, bound, recode, write, verify, measure, report, total;
} kn_seconds;

typedef struct kn_facts {
    const char *data_name, *output_name; /* as the user gave them */
    kn_unit unit;                        /* that `table`'s person column tells apart */
    const kn_table *table;
    const kn_tuples *tuples;
    const kn_release *release;
    uint64_t n_released_persons; /* with at least one row in it */
    const kn_objective *objective;
    const kn_verdict *verdict;
    const char *algorithm;
    const char *algorithm_params; /* text, may be NULL */
    const char *why;              /* why auto chose it; NULL when the user did */
    uint64_t seed;
    kn_stopped stopped;
    bool optimal;
    kn_guarantee guarantee;
    const kn_good_node *top; /* best first */
    size_t n_top;
    uint64_t n_nodes;
    uint32_t n_blocks;
    /* Local recoding: the clusters as they were found, of which those with equal cells are one class of the release;
     * and the mean entropy of the first sensitive column in them ([SC] 8.4 counts clusters). 0 and NAN: there are none.
     */
    uint32_t n_clusters;
    double cluster_diversity;
    const kn_trace *trace; /* NULL: none */
    kn_loss *losses;
    size_t n_losses;
    kn_model_fact *models;
    size_t n_models;
    double *column_loss;  /* per QI, under the objective; NAN where it has none */
    double loss;          /* under the objective */
    double bound;         /* what the search proved of releases of its own kind; NAN: nothing */
    const char *kind;     /* ... which kind: "levels", "cuts", "local" */
    kn_lower_bound any;   /* what holds for all kinds */
    double polished_from; /* --polish made it better: the loss before; NAN: it did not */
    bool polished;        /* --polish was asked for */
    kn_seconds seconds;
    size_t peak_bytes;
} kn_facts;

/* Losses under every registered measure that applies; needs `tuples` and `release`. */
kn_status kn_facts_losses(kn_facts *facts, kn_pool *pool, kn_error *err);
/* That, the value of every model, and the objective's loss. The pointers to borrowed things are set by the caller. */
kn_status kn_facts_measure(kn_facts *facts, const kn_models *models, kn_pool *pool, kn_error *err);
/* What is counted: where no column tells households apart, every row is a person. */
static inline kn_unit kn_facts_unit(const kn_facts *facts)
{
    return facts->table->person != KN_NONE ? facts->unit : KN_UNIT_PERSON;
}
void kn_facts_free(kn_facts *facts); /* what it owns, not the struct */

/* The largest loss that is proven to be below that of every local recoding; NAN: none. */
double kn_facts_least(const kn_facts *facts);
/* The share of the loss above a lower bound; what is as small as rounding is none. */
double kn_facts_gap(const kn_facts *facts, double bound);
/* Why the guarantee does not hold, as a sentence; yours to kn_buffer_free. */
kn_buffer kn_facts_unproven(const kn_facts *facts);

kn_status kn_facts_json(char **out, const kn_facts *facts, kn_error *err);
/* A short summary for a person, lines of at most 100 characters: first line the result, then "  label   text". */
kn_status kn_facts_summary(char **out, const kn_facts *facts, kn_error *err);

#endif
