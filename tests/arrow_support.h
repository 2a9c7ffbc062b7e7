/* Arrow arrays made by hand, each buffer a block of exactly its size, so that a sanitizer sees every byte read beyond.
 *
 *     struct ArrowArray *age = test_fixed(3, NULL, (int32_t[]){31, 32, 33}, 4);
 *     struct ArrowArray *sex = test_strings(3, (const char *[]){"f", NULL, "m"}, false);
 *     test_stream_start(&stream, 2, (const char *[]){"age", "i", "sex", "u"});
 *     test_stream_add(&stream, 3, 0, (struct ArrowArray *[]){age, sex});
 *
 * Whoever takes the stream releases everything; test_arrow_live counts what was not. */
#ifndef KN_TESTS_ARROW_SUPPORT_H
#define KN_TESTS_ARROW_SUPPORT_H

#include "support.h"

#include <kanon_arrow.h>

extern int test_arrow_live; /* nodes not released yet; a test leaves none */
int nothing_is_left(void **state);
#define LEAVES_NOTHING(test) cmocka_unit_test_teardown(test, nothing_is_left)

/* `valid`: one byte per value, NULL: all are. */
struct ArrowArray *test_fixed(int64_t n, const uint8_t *valid, const void *data, size_t item_bytes);
struct ArrowArray *test_bools(int64_t n, const uint8_t *valid, const uint8_t *values);
struct ArrowArray *test_nulls(int64_t n);
/* NULL is a null. */
struct ArrowArray *test_strings(int64_t n, const char *const *cells, bool large);
struct ArrowArray *test_views(int64_t n, const char *const *cells);
/* Takes both. */
struct ArrowArray *test_dictionary(struct ArrowArray *indices, struct ArrowArray *values);
/* The same buffers, seen from value `offset` on. */
struct ArrowArray *test_slice(struct ArrowArray *array, int64_t offset, int64_t length);

/* names_and_formats: name, format, name, format, ...; a format "i>u" is a dictionary with int32 indices. */
void test_stream_start(struct ArrowArrayStream *out, int64_t n_columns, const char *const *names_and_formats);
/* Takes the columns; `offset` and `length` are the batch's own. */
void test_stream_add(struct ArrowArrayStream *stream, int64_t length, int64_t offset,
                     struct ArrowArray *const *columns);
/* get_next fails with this code once the batches are out; its message is "the cable was cut". */
void test_stream_fail(struct ArrowArrayStream *stream, int code);

#endif
