/* What `kanon lattice` has to tell: every node of a full-domain lattice, as the picture in a report shows it too.
 * Filled by run/. */
#ifndef KN_REPORT_LATTICE_FACTS_H
#define KN_REPORT_LATTICE_FACTS_H

#include "report/facts.h"
#include "report/page_origin.h"
#include "report/text.h"

/* One combination of levels. */
typedef struct kn_report_node {
    uint32_t height; /* sum of the levels */
    bool allowed;
    bool minimal; /* allowed, and no allowed node lies below */
    bool locally; /* locally minimal: allowed, and the first allowed one on some way up from the bottom */
    bool chosen;
    double loss; /* under the objective; NAN: not priced */
    uint64_t smallest_class, n_classes, n_suppressed;
} kn_report_node;

typedef struct kn_lattice_facts {
    const char *data_name;
    kn_page_origin origin;
    const kn_tuples *tuples;
    const kn_objective *objective;
    const kn_report_node *nodes; /* by level vector, the last QI counting fastest */
    size_t n;
    size_t best;            /* n: none */
    const uint32_t *levels; /* [node * n_qis] */
    const kn_measure *const *measures;
    size_t n_measures;
    const double *losses; /* [node * n_measures]; NAN: not computed */
    kn_seconds seconds;
    size_t peak_bytes;
} kn_lattice_facts;

/* The feasible, the minimal and the best nodes. */
kn_status kn_lattice_facts_text(char **out, const kn_lattice_facts *lattice, kn_error *err);
/* All minimal and locally minimal nodes; the full table is the CSV's. */
kn_status kn_lattice_facts_json(char **out, const kn_lattice_facts *lattice, kn_error *err);
/* CSV, header first, handed over in pieces: the levels by column name, height, smallest class, classes, suppressed
 * rows, feasible, minimal and locally minimal (yes|no), then the measures by name; an empty cell where a measure was
 * not computed. */
typedef kn_status (*kn_text_sink)(void *context, const char *bytes, size_t n_bytes, kn_error *err);
kn_status kn_lattice_facts_csv(const kn_lattice_facts *lattice, char delimiter, kn_text_sink sink, void *context,
                               kn_error *err);
/* The picture and the minimal nodes. */
kn_status kn_lattice_facts_html(char **out, const kn_lattice_facts *lattice, kn_language language, kn_error *err);

#endif
