/* Any bytes as what k-optimize saved: refused, or a search that goes on and ends with a release that holds.
 *
 * The first byte chooses the measure and whether the bytes stand behind a first line that fits the search, without
 * which nearly all of them are refused at once. */
#include "fuzz.h"
#include "search/cuts/cut_state.h"
#include "small_table.h"

#include <string.h>

enum { K = 2, MAX_SUPPRESSED = 2, MOST_EFFORT = 100 };
static const char *const measures[] = {"dm", "lm", "average-class", "non-uniform-entropy"};
enum { N_MEASURES = sizeof measures / sizeof *measures };

typedef struct search_case {
    small_table small;
    char first_line[64];
} search_case;

static const kn_algorithm *algorithm;

static void make_case(search_case *one, const char *measure)
{
    kn_saved_search saved = {0};
    kn_answer answer = {0};
    small_table_make(&one->small, "k-anonymity:k=2", measure, MAX_SUPPRESSED);
    require(kn_args_parse(&one->small.args, algorithm->name, algorithm->params, algorithm->n_params, "begin=nothing",
                          NULL) == KN_OK);
    one->small.task.saved = &saved;
    require(algorithm->search(&answer, &one->small.task, NULL) == KN_OK);
    const char *end = memchr(saved.next.bytes, '\n', saved.next.n);
    require(end != NULL && (size_t)(end - saved.next.bytes) < sizeof one->first_line - 1);
    memcpy(one->first_line, saved.next.bytes, (size_t)(end - saved.next.bytes) + 1);
    kn_buffer_free(&saved.next);
    kn_answer_free(&answer);
}

/* Classes of fewer than k rows are suppressed; there may be so many of them, and something must be left. */
static void check_release(const small_table *small, const kn_answer *answer)
{
    const kn_tuples *tuples = small->tuples;
    uint32_t n_suppressed = 0;
    for (uint32_t row = 0; row < SMALL_ROWS; row++) {
        uint32_t n_alike = 0;
        for (uint32_t other = 0; other < SMALL_ROWS; other++) {
            bool alike = true;
            for (uint32_t q = 0; q < SMALL_QIS; q++) {
                const uint32_t a = tuples->codes[q][tuples->row_tuple[row]],
                               b = tuples->codes[q][tuples->row_tuple[other]];
                alike &= answer->part[q][a] == answer->part[q][b];
            }
            n_alike += alike;
        }
        n_suppressed += n_alike < K;
    }
    require(n_suppressed <= MAX_SUPPRESSED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static search_case cases[N_MEASURES];
    if (algorithm == NULL) {
        keep_begin();
        algorithm = kn_algorithm_find("k-optimize");
        for (size_t i = 0; i < N_MEASURES; i++) make_case(&cases[i], measures[i]);
        keep_end();
    }
    if (size == 0) return 0;
    search_case *one = &cases[data[0] % N_MEASURES];
    const size_t n_line = (data[0] & 0x80) == 0 ? strlen(one->first_line) : 0, n = n_line + size - 1;
    char *bytes = malloc(n + 1); /* of about the size, so that a sanitizer sees a step beyond it */
    require(bytes != NULL);
    memcpy(bytes, one->first_line, n_line);
    memcpy(bytes + n_line, data + 1, size - 1);
    kn_saved_search saved = {.bytes = bytes, .n_bytes = n};
    kn_answer answer = {0};
    kn_error err = {0};
    one->small.task.saved = &saved;
    one->small.task.effort = MOST_EFFORT;
    const kn_status status = algorithm->search(&answer, &one->small.task, &err);
    require(status == KN_OK || status == KN_INPUT || status == KN_NOT_MET);
    if (status == KN_OK) check_release(&one->small, &answer);
    else require(err.message[0] != '\0');
    kn_answer_free(&answer);
    kn_buffer_free(&saved.next);
    free(bytes);
    return 0;
}
