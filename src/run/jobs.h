/* What the commands do, each in a file of its own. The public functions of the same names call them in the scope of a
 * run (jobs.c). */
#ifndef KN_RUN_JOBS_H
#define KN_RUN_JOBS_H

#include "policy/request.h"

typedef kn_status kn_job(kn_result **out, const kn_request *request, kn_error *err);

kn_job kn_job_anonymize;
kn_job kn_job_verify;
kn_job kn_job_measure;
kn_job kn_job_lattice;
kn_job kn_job_risk;
kn_job kn_job_list;
kn_job kn_job_hierarchy;
kn_job kn_job_profile;
kn_job kn_job_check;
kn_job kn_job_compare;

#endif
