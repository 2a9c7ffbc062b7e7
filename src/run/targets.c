/* Losing an input to an output, or a finished search to a folder that does not exist, is found out here. */
#include "run/targets.h"

#include "sink/output_file.h"

#include <string.h>

static const char *const target_options[] = {"output", "report", "json", "schema"};
static const char *const source_options[] = {"data", "release", "original", "attack", "population"};
enum { N_TARGETS = sizeof target_options / sizeof *target_options };

static bool is_stdio(const char *path) { return strcmp(path, "-") == 0; }

static kn_status is_source(const char *option, const char *target, const char *source, kn_error *err)
{
    if (source == NULL || is_stdio(source) || !kn_same_file(target, source)) return KN_OK;
    return kn_error_set(err, KN_USAGE, "--%s %s is an input; choose another name", option, target);
}

static kn_status check_against_sources(const char *option, const char *target, const kn_settings *settings,
                                       kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < sizeof source_options / sizeof *source_options; i++)
        KN_TRY(is_source(option, target, kn_settings_text(settings, source_options[i]), err));
    KN_TRY(is_source(option, target, settings->policy_path, err));
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, "hierarchy") != 0) continue;
        for (const char *equals = strchr(item->value, '='); equals != NULL; equals = strchr(equals + 1, '='))
            KN_TRY(is_source(option, target, equals + 1, err));
    }
done:
    return status;
}

kn_status kn_targets_check(const kn_settings *settings, bool output_by_default, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *probe = NULL;
    const char *targets[N_TARGETS];
    for (size_t i = 0; i < N_TARGETS; i++) {
        targets[i] = kn_settings_text(settings, target_options[i]);
        if (targets[i] == NULL && i == 0 && output_by_default) targets[i] = "-";
        if (targets[i] == NULL) continue;
        for (size_t other = 0; other < i; other++)
            if (targets[other] != NULL &&
                (strcmp(targets[i], targets[other]) == 0 ||
                 (!is_stdio(targets[i]) && !is_stdio(targets[other]) && kn_same_file(targets[i], targets[other]))))
                KN_FAIL(KN_USAGE, "--%s and --%s both go to %s; choose two places", target_options[other],
                        target_options[i], is_stdio(targets[i]) ? "standard output" : targets[i]);
        if (is_stdio(targets[i])) continue;
        KN_TRY(check_against_sources(target_options[i], targets[i], settings, err));
        KN_TRY(kn_output_open(&probe, targets[i], err));
        kn_output_discard(probe);
        probe = NULL;
    }
done:
    kn_output_discard(probe);
    return status;
}
