/* Losing an input to an output, a finished search to a folder that does not exist, or a release to a report that did
 * not fit on the disk, is prevented here. */
#include "run/targets.h"

#include "run/result.h"

#include <string.h>

/* In the order in which they take their places: whoever sees a new release finds all that belongs to it. */
static const char *const options[] = {"certificate", "schema", "codebook", "json", "report", "output"};
enum { N_TARGETS = sizeof options / sizeof *options };
_Static_assert((int)N_TARGETS == (int)KN_N_KEPT, "a result has room for what every target keeps");

struct kn_targets {
    kn_files *files;
    kn_output *outputs[N_TARGETS]; /* NULL: nobody asked for it */
    bool used[N_TARGETS];
};

/* Where the release goes: memory when it was asked for, or when the data is there and nobody said otherwise. */
static const char *release_target(const kn_request *request)
{
    if (request->output != NULL) return kn_is_table_name(request->output) ? NULL : request->output;
    return request->data != NULL && kn_is_table_name(request->data) && request->sql == NULL ? NULL : "-";
}

kn_status kn_targets_new(kn_targets **out, const kn_request *request, kn_files *files, kn_output_use use, kn_error *err)
{
    kn_status status = KN_OK;
    /* Only a run that makes a release writes one; verify reads it. */
    const char *certificate = use == KN_OUTPUT_RELEASE ? request->certificate : NULL;
    const char *schema = use != KN_OUTPUT_IF_ASKED ? request->schema : NULL;    /* risk and measure read it */
    const char *codebook = use == KN_OUTPUT_RELEASE ? request->codebook : NULL; /* a policy may ask for it */
    const char *paths[N_TARGETS] = {certificate, schema, codebook, request->json, request->report, request->output};
    const char **output = &paths[N_TARGETS - 1];
    KN_NEW(*out, 1);
    (*out)->files = files;
    if (use == KN_OUTPUT_RELEASE) *output = release_target(request);
    else if (use == KN_OUTPUT_STDOUT && *output == NULL) *output = "-";
    for (size_t i = N_TARGETS; i-- > 0;)
        if (paths[i] != NULL && !kn_is_kept(paths[i]))
            KN_TRY(kn_error_about(err, kn_files_guard(files, options[i], paths[i], err),
                                  KN_PLACE(.option = options[i], .file = paths[i])));
    if (use == KN_OUTPUT_RELEASE && request->state != NULL) /* not among them: it is written during the search */
        KN_TRY(kn_error_about(err, kn_files_guard(files, "state", request->state, err),
                              KN_PLACE(.option = "state", .file = request->state)));
    for (size_t i = N_TARGETS; i-- > 0;)
        if (paths[i] != NULL)
            KN_TRY(kn_error_about(err, kn_output_open(&(*out)->outputs[i], paths[i], err),
                                  KN_PLACE(.option = options[i], .file = paths[i])));
    kn_output_keep_private((*out)->outputs[0]);
done:
    return status;
}

void kn_targets_free(kn_targets *targets)
{
    if (targets == NULL) return;
    for (size_t i = 0; i < N_TARGETS; i++) kn_output_discard(targets->outputs[i]);
    kn_free(targets);
}

kn_output *kn_targets_output(kn_targets *targets, const char *option)
{
    size_t i = 0;
    while (strcmp(options[i], option) != 0) i++;
    targets->used[i] = true;
    return targets->outputs[i];
}

kn_status kn_targets_text(kn_targets *targets, const char *option, const char *text, kn_error *err)
{
    kn_output *output = kn_targets_output(targets, option);
    return output != NULL ? kn_output_write(output, text, strlen(text), err) : KN_OK;
}

kn_status kn_targets_sync(kn_targets *targets, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < N_TARGETS; i++)
        if (targets->used[i] && targets->outputs[i] != NULL) KN_TRY(kn_output_sync(targets->outputs[i], err));
done:
    return status;
}

kn_status kn_targets_commit(kn_targets *targets, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *ready[N_TARGETS];
    size_t n = 0;
    KN_TRY(kn_files_check(targets->files, err));
    for (size_t i = 0; i < N_TARGETS; i++)
        if (targets->used[i] && targets->outputs[i] != NULL) ready[n++] = targets->outputs[i];
    KN_TRY(kn_outputs_commit(ready, n, ticker, err));
done:
    return status;
}

kn_status kn_targets_keep(kn_targets *targets, kn_result *result, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < N_TARGETS; i++) {
        result->kept[i].option = options[i];
        KN_TRY(kn_output_kept(&result->kept[i].text, targets->outputs[i], err));
    }
done:
    return status;
}
