/* --schema FILE, and what a Parquet file says of itself: the released columns as JSON, so that pandas or SQL can load
 * the release as it is meant. */
#ifndef KN_RUN_RUN_SCHEMA_H
#define KN_RUN_RUN_SCHEMA_H

#include "classes/release.h"
#include "policy/request.h"
#include "table/text_form.h"

/* Yours to kn_free. */
kn_status kn_run_schema(char **out, const kn_release *release, const kn_text_form *form, const kn_request *request,
                        kn_error *err);

#endif
