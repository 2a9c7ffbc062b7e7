/* The public jobs. The settings are resolved once, here. A run gets an account of its own, with its limit, and the
 * locale in which kanon thinks; its pool's threads inherit both, and the result takes its memory along. */
#include "run/jobs.h"

static kn_status run_job(kn_result **out, const kn_settings *settings, kn_job *job, kn_error *err)
{
    kn_status status = KN_OK;
    kn_account *account = NULL;
    kn_request *request = NULL;
    kn_scope before;
    *out = NULL;
    KN_TRY(kn_account_new(&account, kn_account_allocator(kn_settings_account(settings)), err));
    KN_TRY(kn_scope_enter(&before, account, err));
    status = kn_request_new(&request, settings, err);
    if (status == KN_OK) {
        kn_account_limit(account, request->memory);
        status = job(out, request, err);
    }
    kn_request_free(request);
    kn_scope_leave(&before);
done:
    kn_account_free(account);
    return status;
}

#define JOB(function, job)                                                                                             \
    kn_status function(kn_result **out, const kn_settings *settings, kn_error *err)                                    \
    {                                                                                                                  \
        return run_job(out, settings, job, err);                                                                       \
    }
JOB(kn_anonymize, kn_job_anonymize)
JOB(kn_verify, kn_job_verify)
JOB(kn_measure_files, kn_job_measure)
JOB(kn_lattice_nodes, kn_job_lattice)
JOB(kn_risk, kn_job_risk)
JOB(kn_list, kn_job_list)
JOB(kn_hierarchy, kn_job_hierarchy)
JOB(kn_profile, kn_job_profile)
JOB(kn_check_policy, kn_job_check)
JOB(kn_compare_runs, kn_job_compare)
