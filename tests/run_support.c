#include "run_support.h"

#include "file_support.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

kn_status run_anonymize(const char *data, const char *output, const char *const *options, spoil_fn spoil, void *user,
                        kn_error *message)
{
    kn_settings *settings;
    kn_result *result = NULL;
    assert_ok(kn_settings_new(&settings, err));
    if (data != NULL) assert_ok(kn_settings_set(settings, "data", data, err));
    if (output != NULL) assert_ok(kn_settings_set(settings, "output", output, err));
    for (; *options != NULL; options++) {
        char name[40];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        assert_ok(kn_settings_set(settings, name, equals + 1, err));
    }
    settings->after_write = spoil;
    settings->after_write_user = user;
    const size_t n_open = open_files();
    kn_status status = kn_anonymize(&result, settings, message);
    assert_int_equal(open_files(), n_open);
    assert_true((result != NULL) == (status == KN_OK));
    kn_result_free(result);
    kn_settings_free(settings);
    return status;
}
