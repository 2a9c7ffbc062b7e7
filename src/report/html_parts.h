/* The sections of the HTML reports, in the order in which they are written. */
#ifndef KN_REPORT_HTML_PARTS_H
#define KN_REPORT_HTML_PARTS_H

#include "report/page.h"
#include "report/report_data.h"

/* html_report.c */
void part_asked(page *to, const kn_report *report);
void part_guaranteed(page *to, const kn_report *report);
void part_worst(page *to, const kn_report *report);
/* html_promise.c: "alpha-k: income", and what that promises; codebooks say it, too. The column that a model protects:
 * it names it, or there is one sensitive column only; NULL: it protects none. */
const char *report_protected_column(const kn_facts *facts, const kn_model_fact *model);
void report_model_name(kn_buffer *out, const kn_facts *facts, const kn_model_fact *model);
void report_promise(kn_buffer *out, const page *to, const kn_model_fact *model, const char *column);
/* html_loss.c */
kn_status part_lost(page *to, const kn_report *report, kn_error *err);
void part_optimum(page *to, const kn_report *report);
void part_values(page *to, const kn_report *report);
kn_status part_search(page *to, const kn_report *report, kn_error *err);
void part_classes(page *to, const kn_report *report);
/* html_compared.c */
bool can_be_compared(const kn_report *report);
kn_status part_compared(page *to, const kn_report *report, kn_error *err);
/* html_lattice.c */
kn_status part_lattice(page *to, const kn_report_node *nodes, size_t n_nodes, kn_error *err);
/* html_risk.c; without a release only the table as it is */
kn_status part_sizes(page *to, const kn_report *report, kn_error *err);
void part_risk(page *to, const kn_report *report);
void part_sets(page *to, const kn_report *report);
/* html_words.c */
void part_words(page *to, const kn_report *report);
void part_limits(page *to, const kn_report *report);
void part_settings(page *to, const kn_report *report);
void part_sign(page *to, const kn_report *report);
/* The date and the files that a page is about; the released one and its hash may be NULL. */
void part_origin(page *to, const kn_page_origin *origin, const char *release_file, const char *release_hash);
void fact_row(page *to, kn_text name,
              const char *value); /* of a table with two columns; none where there is no value */

/* Does a model other than a head count speak of this sensitive column? */
bool report_is_protected(const kn_report *report, uint32_t sensitive);

#endif
