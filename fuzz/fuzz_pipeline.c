/* Any bytes as a table, and settings that fit it: refused with a message, or a release that `verify` accepts.
 *
 * Six bytes choose the settings; the rest stands behind the line a,b,c,s as a CSV file. Run, release and verification
 * are those of the public functions, as a program calls them. */
#include "fuzz.h"

#include <kanon.h>

#include <string.h>

#define HEADER "a,b,c,s\n"
enum { N_CHOICES = 6, WITH_CLIMB = 8 /* one in so many */ };

#define PICK(list, byte) (list)[(byte) % (sizeof(list) / sizeof *(list))]
static const char *const algorithms[] = {
    "auto",       "mondrian",   "cluster",      "sequential",        "agglomerative",
    "k-member",   "hilbert",    "optimal",      "samarati",          "incognito",
    "datafly",    "mu-argus",   "mingen",       "cell-suppression",  "forest",
    "cover",      "two-factor", "three-factor", "meyerson-williams", "k-optimize",
    "hill-climb", "genetic",    "anneal",       "exhaustive",        "mu-argus:suppress=cells",
};
static const char *const models[] = {NULL,
                                     NULL,
                                     "l-diversity:l=2",
                                     "l-diversity:kind=entropy,l=1.5",
                                     "t-closeness:t=0.4",
                                     "p-sensitive:p=2",
                                     "alpha-k:alpha=0.8",
                                     "beta-likeness:beta=4",
                                     "delta-disclosure:delta=3"};
static const char *const specs[] = {NULL,
                                    NULL,
                                    "auto",
                                    "suppress",
                                    "mask(right)",
                                    "mask(left)",
                                    "intervals(5,10)",
                                    "date(month,year)",
                                    "intervals(0.5)",
                                    "similar"};
static const char *const limits[] = {"0", "0", "1", "10%", "50%", "100%"};
static const char *const measures[] = {"lm", "lm", "tree", "entropy", "suppressed-cells", "dm", "am"};

static void set(kn_settings *settings, const char *option, const char *value)
{
    require(value == NULL || kn_settings_set(settings, option, value, NULL) == KN_OK);
}

/* Before k-optimize begins it climbs for some thousand looks, whatever the effort, and that took a third of the time of
 * all runs: it does so for tables of some sizes only. hill-climb climbs the same way. */
static const char *algorithm_of(const uint8_t *choices, size_t n_bytes)
{
    const char *algorithm = PICK(algorithms, choices[0] & 0x7f);
    return strcmp(algorithm, "k-optimize") == 0 && n_bytes % WITH_CLIMB != 0 ? "k-optimize:begin=nothing" : algorithm;
}

/* What the run and its verification are both told. */
static kn_settings *common_settings(const uint8_t *choices, size_t n_bytes)
{
    static const char *const columns[] = {"a", "b", "c"};
    kn_settings *settings;
    char text[64];
    require(kn_settings_new(&settings, NULL) == KN_OK);
    set(settings, "qi", choices[0] & 0x80 ? "a,b" : "a,b,c");
    set(settings, "sensitive", "s");
    if (choices[0] & 0x80) set(settings, "identifier", "c");
    set(settings, "algorithm", algorithm_of(choices, n_bytes));
    snprintf(text, sizeof text, "%d", 1 + choices[1] % 4);
    set(settings, "k", text);
    set(settings, "model", PICK(models, choices[1] >> 2));
    set(settings, "max-suppressed", PICK(limits, choices[2]));
    set(settings, "measure", PICK(measures, choices[2] >> 4));
    for (size_t c = 0; c < (choices[0] & 0x80 ? 2 : 3); c++) {
        const char *spec = PICK(specs, choices[3 + c / 2] >> c % 2 * 4);
        if (spec == NULL) continue;
        snprintf(text, sizeof text, "%s=%s", columns[c], spec);
        set(settings, "hierarchy", text);
    }
    set(settings, "missing", choices[5] & 1 ? "wildcard" : NULL);
    set(settings, "trim", choices[5] & 2 ? "yes" : NULL);
    set(settings, "guard-formulas", choices[5] & 4 ? "yes" : NULL);
    set(settings, "order", choices[5] & 8 ? "input" : NULL);
    set(settings, "grid", choices[5] & 16 ? "a=exact" : NULL);
    set(settings, "fold-sensitive", choices[5] & 32 ? "yes" : NULL);
    set(settings, "unlisted", "drop");
    set(settings, "delimiter", ",");
    set(settings, "threads", "1");
    return settings;
}

/* It was written, recounted and found wrong. */
static bool refuses_itself(const char *message)
{
    return strstr(message, " does not hold: ") != NULL || strstr(message, " could not be checked: ") != NULL;
}

/* The release as CSV; NULL: refused. Yours to free. */
static char *release_of(const memory_file *data, const uint8_t *choices, size_t n_bytes, bool says_so)
{
    static const char *const cells[] = {"labels", "bounds", "both", "labels"};
    kn_settings *settings = common_settings(choices, n_bytes);
    kn_result *result;
    kn_error err = {0};
    char *release = NULL;
    set(settings, "data", data->path);
    set(settings, "output", "text:");
    set(settings, "schema", "text:");
    set(settings, "effort", "15");
    set(settings, "cells", PICK(cells, choices[5] >> 6));
    const kn_status status = kn_anonymize(&result, settings, &err);
    require(status == KN_OK || status == KN_NOT_MET || status == KN_USAGE || status == KN_INPUT);
    if (status == KN_OK) release = strdup(kn_result_kept(result, "output"));
    else require(err.message[0] != '\0' && (says_so || !refuses_itself(err.message)));
    kn_result_free(result);
    kn_settings_free(settings);
    return release;
}

static void verify(const memory_file *data, const memory_file *release, const uint8_t *choices, size_t n_bytes)
{
    kn_settings *settings = common_settings(choices, n_bytes);
    kn_result *result;
    kn_error err = {0};
    set(settings, "original", data->path);
    set(settings, "release", release->path);
    if (kn_verify(&result, settings, &err) != KN_OK) {
        fprintf(stderr, "fuzz_pipeline: %s\n", err.message);
        abort();
    }
    kn_result_free(result);
    kn_settings_free(settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static memory_file table, release;
    if (size < N_CHOICES) return 0;
    const size_t n_rows = size - N_CHOICES;
    char *csv = malloc(sizeof HEADER + n_rows);
    require(csv != NULL);
    memcpy(csv, HEADER, strlen(HEADER));
    memcpy(csv + strlen(HEADER), data + N_CHOICES, n_rows);
    csv[strlen(HEADER) + n_rows] = '\0';
    const bool says_so = refuses_itself(csv); /* a message may show a cell that has these words */
    memory_file_write(&table, csv, strlen(HEADER) + n_rows);
    free(csv);
    char *text = release_of(&table, data, size, says_so);
    if (text == NULL) return 0;
    memory_file_write(&release, text, strlen(text));
    verify(&table, &release, data, size);
    free(text);
    return 0;
}
