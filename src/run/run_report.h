/* The HTML report of a run: what the settings and the files add to its facts. */
#ifndef KN_RUN_RUN_REPORT_H
#define KN_RUN_RUN_REPORT_H

#include "report/facts.h"
#include "run/input.h"

/* The page as text, yours to kn_free; NULL when --report was not asked for. `release_path` is where the released bytes
 * are now. Made before the release takes its place, and written after it: a report never speaks of what is not there.
 */
kn_status kn_run_report(char **out, kn_input *input, const kn_facts *facts, const char *release_path, kn_error *err);
/* Writes it where the settings say. */
kn_status kn_run_report_save(const char *html, const kn_settings *settings, kn_error *err);

#endif
