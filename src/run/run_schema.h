/* --schema FILE: the released columns as JSON, so that pandas or SQL can load the release as it is meant. */
#ifndef KN_RUN_RUN_SCHEMA_H
#define KN_RUN_RUN_SCHEMA_H

#include "classes/release.h"
#include "policy/settings.h"

/* Does nothing unless the settings ask for it. */
kn_status kn_run_schema(const kn_release *release, const kn_settings *settings, kn_error *err);

#endif
