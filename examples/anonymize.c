/* A whole program that uses the library: anonymizes the table named on its command line and prints the summary.
 *
 *     cc anonymize.c $(pkg-config --cflags --libs kanon) -o anonymize
 *     ./anonymize ten_people.csv release.csv */
#include <kanon.h>
#include <stdio.h>

static int show_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    if (fraction >= 0) fprintf(stderr, "%s: %.0f %%\n", stage, 100 * fraction);
    return 0; /* anything else asks to stop */
}

int main(int argc, char **argv)
{
    kn_error err = {0};
    kn_settings *settings = NULL;
    kn_result *result = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: anonymize DATA RELEASE\n");
        return KN_USAGE;
    }
    kn_status status = kn_settings_new(&settings, &err);
    if (status == KN_OK) status = kn_settings_set(settings, "data", argv[1], &err);
    if (status == KN_OK) status = kn_settings_set(settings, "output", argv[2], &err);
    if (status == KN_OK) status = kn_settings_set(settings, "qi", "ZIP,MaritalStatus,Sex", &err);
    if (status == KN_OK) status = kn_settings_set(settings, "sensitive", "Disease", &err);
    if (status == KN_OK) status = kn_settings_set(settings, "k", "3", &err);
    if (status == KN_OK) {
        kn_settings_on_progress(settings, show_progress, NULL);
        status = kn_anonymize(&result, settings, &err);
    }
    if (status == KN_OK) {
        fputs(kn_result_warnings(result), stderr);
        fputs(kn_result_text(result), stdout);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    kn_result_free(result);
    kn_settings_free(settings);
    return status;
}
