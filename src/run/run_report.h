/* The HTML report of a run: what the request and the files add to its facts. */
#ifndef KN_RUN_RUN_REPORT_H
#define KN_RUN_RUN_REPORT_H

#include "report/facts.h"
#include "report/page_origin.h"
#include "run/input.h"
#include "search/search.h"

/* For a page that is made now, or at SOURCE_DATE_EPOCH. */
kn_page_origin kn_run_page_origin(const kn_request *request);

/* `task`: what the search was given, for a picture of its lattice. The page as text, yours to kn_free; NULL when
 * --report was not asked for. `release_path` is where the released bytes are now. */
kn_status kn_run_report(char **out, kn_input *input, const kn_facts *facts, const kn_task *task,
                        const char *release_path, kn_error *err);

#endif
