/* Everything the HTML report shows: the facts of a run, what the caller knows besides (settings, hashes, date), and
 * what kn_report_analyse works out from them. Filled by run/, written by kn_report_html. */
#ifndef KN_REPORT_REPORT_DATA_H
#define KN_REPORT_REPORT_DATA_H

#include "base/json_writer.h"
#include "report/lattice_facts.h"
#include "report/page_origin.h"
#include "risk/risk.h"

typedef struct kn_report_setting {
    const char *option, *value;
    const char *params; /* of a model; NULL: of none */
    const char *where;  /* "policy.yaml:12:5"; NULL: a flag */
} kn_report_setting;

/* What a released cell of a quasi-identifier tells; on all pages, and by the measure suppressed-cells. */
typedef enum kn_told {
    KN_TOLD_VALUE,   /* its value */
    KN_TOLD_SOME,    /* something, such as 2022, even where every value lies in it */
    KN_TOLD_NOTHING, /* the root of its hierarchy, all of its domain, or * */
} kn_told;
kn_told kn_cell_told(const kn_release *release, uint32_t q, const kn_cell *cell, const char *text);

/* What became of one quasi-identifier. */
typedef struct kn_report_column {
    uint64_t n_unchanged, n_generalized, n_suppressed; /* rows, by kn_told; removed ones are suppressed */
    uint32_t n_values_before, n_values_after;
} kn_report_column;

/* A released value that carries much of its column's loss. */
typedef struct kn_report_value {
    uint32_t q;
    kn_cell cell;
    uint64_t n_rows;
    double share;            /* of the column's loss */
    uint64_t smallest_class; /* persons */
} kn_report_value;

typedef enum kn_example_kind { KN_EXAMPLE_SMALLEST, KN_EXAMPLE_LARGEST, KN_EXAMPLE_COSTLIEST } kn_example_kind;

typedef struct kn_report_example {
    uint32_t class_index;
    kn_example_kind kind;
} kn_report_example;

#define KN_MAX_EXAMPLES 12

typedef struct kn_report {
    /* given; everything is borrowed */
    const kn_facts *facts;
    kn_language language;
    kn_page_origin origin;
    char release_hash[65];     /* "" where there is none */
    const kn_buffer *warnings; /* sentences; NULL: none */
    const kn_report_setting *settings;
    size_t n_settings;
    double threshold;               /* of risk; 0: the default */
    double fraction;                /* of the population that is in the table; 0: unknown */
    bool redact;                    /* show no released values either */
    const uint64_t *populations;    /* persons of a population file that share each tuple; NULL: no such file */
    const kn_attack_result *attack; /* NULL: none was made */
    const char *attack_name;        /* the file with names */
    uint64_t attack_k;
    const kn_report_node *nodes; /* the lattice of the search; NULL: none, or too large to look at */
    size_t n_nodes;

    /* worked out by kn_report_analyse */
    kn_risk_sizes before, after;
    kn_disclosure *disclosure_before, *disclosure_after; /* per sensitive column; NULL where not counted */
    kn_column_risk *sets;                                /* of the original table; NULL: not looked at */
    bool has_estimate;
    kn_risk_estimate estimate;
    kn_report_column *columns; /* per QI */
    kn_report_value *costly;
    size_t n_costly;
    kn_report_example examples[KN_MAX_EXAMPLES];
    size_t n_examples;
} kn_report;

/* Sensitive columns are compared before and after only where the tuples' histograms were counted. */
kn_status kn_report_analyse(kn_report *report, kn_pool *pool, kn_ticker *ticker, kn_error *err);
void kn_report_free(kn_report *report); /* what kn_report_analyse made, not the struct */

kn_status kn_report_html(char **out, const kn_report *report, kn_error *err);

/* `kanon risk`: the same risk figures for a table as it is; facts has the table, the tuples and the data's name only.
 */
kn_status kn_report_risk_html(char **out, const kn_report *report, kn_error *err);
kn_status kn_report_risk_text(char **out, const kn_report *report, kn_error *err);
kn_status kn_report_risk_json(char **out, const kn_report *report, kn_error *err);
/* The key "column_sets", which `kanon profile` has too; `sets` may be NULL. */
void kn_report_put_sets(kn_json *json, const kn_tuples *tuples, const kn_column_risk *sets);

#endif
