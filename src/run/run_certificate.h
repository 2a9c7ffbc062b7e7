/* --certificate FILE: what proves the bound, for whoever has the original (verify/check_certificate.c). */
#ifndef KN_RUN_RUN_CERTIFICATE_H
#define KN_RUN_RUN_CERTIFICATE_H

#include "bound/bound.h"

/* Before the search: KN_USAGE where no certificate can be made. */
kn_status kn_certificate_possible(const kn_task *task, kn_error *err);
/* The text of the file; yours to kn_free. */
kn_status kn_certificate_text(char **out, const kn_bound *bound, const kn_task *task, kn_error *err);

#endif
