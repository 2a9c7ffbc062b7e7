/* Any bytes as a certificate: refused, or a bound that no release is below, which eight rows let us know.
 *
 * The first byte says whether a row may be suppressed. In the rest, @ and a letter from A on stand for a line of a
 * certificate that holds, so that what is mutated need not guess hashes. */
#include "fuzz.h"
#include "small_table.h"
#include "verify/certificate.h"

#include <kanon.h>

#include <stdio.h>
#include <string.h>

enum { K = 2, N_CASES = 2, MOST_BYTES = 1 << 16 };

/* What may be suppressed decides what is proven. */
typedef struct proof_case {
    small_table small;
    kn_verify_column columns[SMALL_QIS];
    kn_verify_model model;
    kn_verify_request request;
    kn_sheet *sheet;
    uint32_t in_original[SMALL_QIS];
    kn_reading readings[SMALL_QIS];
    double optimum;
    char *certificate;
} proof_case;

static memory_file certificate;

/* A certificate of the same table, as the program writes it. */
static char *make_certificate(const proof_case *one, uint64_t max_suppressed)
{
    kn_error err = {0};
    kn_settings *settings;
    kn_result *result;
    char limit[2] = {(char)('0' + max_suppressed), '\0'};
    const char *const options[][2] = {{"data", one->small.file.path},
                                      {"qi", "age,zip,job"},
                                      {"type", "zip=text"},
                                      {"grid", "age=exact"},
                                      {"k", "2"},
                                      {"threads", "1"},
                                      {"algorithm", "exhaustive"},
                                      {"certificate", "text:"},
                                      {"output", "text:"},
                                      {"max-suppressed", limit},
                                      {"hierarchy", "zip=" SMALL_TREE_SPEC}};
    require(kn_settings_new(&settings, NULL) == KN_OK);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        require(kn_settings_set(settings, options[i][0], options[i][1], &err) == KN_OK);
    if (kn_anonymize(&result, settings, &err) != KN_OK) fprintf(stderr, "fuzz_certificate: %s\n", err.message);
    char *text = strdup(kn_result_kept(result, "certificate"));
    kn_result_free(result);
    kn_settings_free(settings);
    return text;
}

static bool wants_all(const void *context, uint32_t index, const char *name) { return true; }

static void make_case(proof_case *one, uint64_t max_suppressed)
{
    small_table_make(&one->small, "k-anonymity:k=2", "lm", max_suppressed);
    one->optimum = small_table_optimum(&one->small, K);
    one->model = (kn_verify_model){"k-anonymity", "k=2"};
    for (uint32_t c = 0; c < SMALL_QIS; c++) {
        const kn_column *column = &one->small.table->columns[c];
        one->columns[c] = (kn_verify_column){
            .name = column->name, .role = KN_ROLE_QUASI, .type = column->type, .domain = one->small.domains[c]};
        one->readings[c] = (kn_reading){.type = column->type};
        one->in_original[c] = c;
    }
    one->request = (kn_verify_request){.original_path = one->small.file.path,
                                       .columns = one->columns,
                                       .n_columns = SMALL_QIS,
                                       .models = &one->model,
                                       .n_models = 1,
                                       .certificate_path = certificate.path,
                                       .certificate_name = "fuzz.txt",
                                       .measure = "lm",
                                       .max_suppressed = (int64_t)max_suppressed};
    const kn_sheet_options options = {.path = one->small.file.path,
                                      .name = "small.csv",
                                      .delimiter = ',',
                                      .wants = wants_all,
                                      .fingerprint_column = KN_NONE};
    require(kn_sheet_read(&one->sheet, &options, NULL) == KN_OK && one->sheet->problem == NULL);
    one->certificate = make_certificate(one, max_suppressed);
}

static size_t line_bytes(const char *line)
{
    const char *end = strchr(line, '\n');
    return end != NULL ? (size_t)(end - line) + 1 : strlen(line);
}

/* The input with its letters replaced by lines. Returns how many bytes. */
static size_t write_text(char *out, const proof_case *one, const uint8_t *data, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n < MOST_BYTES; i++) {
        if (data[i] != '@' || i + 1 == size) {
            out[n++] = (char)data[i];
            continue;
        }
        const char *line = one->certificate;
        for (uint8_t skip = data[++i]; skip > 'A' && *line != '\0'; skip--) line += line_bytes(line);
        const size_t n_line = line_bytes(line);
        if (n + n_line > MOST_BYTES) break;
        memcpy(out + n, line, n_line);
        n += n_line;
    }
    return n;
}

static void check(proof_case *one, const char *text, size_t n_bytes)
{
    kn_error err = {0};
    kn_check found = {.state = KN_CHECK_NOT_MADE};
    kn_recount recount = {.request = &one->request,
                          .original = one->sheet,
                          .in_original = one->in_original,
                          .readings = one->readings,
                          .checks = &found,
                          .n_checks = 1};
    memory_file_write(&certificate, text, n_bytes);
    require(kn_recount_certificate(&recount, 0, &err) == KN_OK);
    require(found.detail.n > 0);
    if (found.state == KN_CHECK_HOLDS) {
        const char *bound = strstr(text, "\nbound: ");
        require(bound != NULL && strtod(bound + 8, NULL) <= one->optimum * (1 + 1e-9));
    }
    kn_buffer_free(&found.detail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static proof_case cases[N_CASES];
    static char text[MOST_BYTES + 1];
    if (certificate.path[0] == '\0') {
        keep_begin();
        memory_file_write(&certificate, "", 0);
        for (uint64_t i = 0; i < N_CASES; i++) make_case(&cases[i], i);
        keep_end();
    }
    if (size == 0) return 0;
    proof_case *one = &cases[data[0] % N_CASES];
    const size_t n = write_text(text, one, data + 1, size - 1);
    text[n] = '\0';
    check(one, text, n);
    return 0;
}
