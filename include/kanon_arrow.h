/* kanon_arrow: tables in memory, by the Arrow C data and stream interfaces.
 *
 *     kn_settings_set_table(settings, "data", &stream, &err)         instead of a file
 *     kn_anonymize(&result, settings, &err)
 *     kn_result_table(result, &released, &err)                       a stream of the released table
 *
 * Whatever takes the name of a table file also takes a table in memory, by the name `table:NAME`:
 *
 *     kn_settings_set_table(settings, "ages", &stream, &err)
 *     kn_settings_set(settings, "hierarchy", "age=table:ages", &err)
 *     kn_settings_set(settings, "model", "k-map:k=5,population=table:town", &err)
 *
 * A table whose NAME is an option that takes a table (data, original, release, population, attack) is that option's
 * value at once. A hierarchy that was made from the data says so in the first cell of its first row, as a file does in
 * its first line. Nothing of such a run touches the disk.
 *
 * A table in memory means exactly what a CSV file would mean that has each cell in its canonical spelling:
 *
 *   null               missing: the first of the `null` values (by default the empty cell)
 *   boolean            true, false
 *   integers           digits: -17, 18446744073709551615
 *   floats             the shortest digits that read back as the same value of that width: 34, 0.1, -2.5, 1e+300. Plain
 *                      notation from 1e-5 up to 1e16, otherwise digits with a point after the first, then e, the sign
 *                      and at least two digits. -0 keeps its sign; NaN is missing; infinities are inf and -inf
 *   decimals           exact, with as many digits after the point as the scale says: 12.50; a negative scale adds zeros
 *   dates              2024-01-31; date64 that is no whole day like a timestamp
 *   timestamps         2024-01-31T10:30:05, then .25 as far as the fraction is not zero, then Z where the type has a
 *                      time zone: the moment is given in UTC, whatever the zone
 *   times              10:30:05, 10:30:05.25
 *   strings, binary    their bytes, which must be UTF-8 without NUL; `trim` applies to them
 *   dictionaries       their values
 *
 * Years outside 0001..9999 are spelled with their sign (+12024-01-31), and make a column text like anything else that
 * is neither number nor date. Types are found as in a file: strings of digits are numbers, too. All integers, decimals
 * and moments are kept exact: no two of them are ever taken for one because a double could not tell them apart. Lists,
 * structs, maps, unions, durations, intervals, fixed-size binary and run-end encoded columns are refused by name:
 * cast them first, unless the policy leaves the column out. Messages call row n, counted from 1, line n. */
#ifndef KANON_ARROW_H
#define KANON_ARROW_H

#include <kanon.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Takes the stream, also when it fails, and reads it to its end: the settings hold its batches until they are freed or
 * the same name is set again, so one set of settings serves several jobs. KN_INPUT when the stream fails, is no stream
 * of record batches, or a column's type cannot be read. */
KN_API kn_status kn_settings_set_table(kn_settings *settings, const char *name, struct ArrowArrayStream *stream,
                                       kn_error *err);

/* The released table of kn_anonymize, kept where `data` was a table in memory and no `output` was set, or where
 * `output` was set to "table:". Every column is a dictionary of strings (utf8, large_utf8 beyond 2 GB), indices as
 * narrow as they fit; cells that are the missing value as a null of the data is spelled are nulls. The dictionaries
 * hold what released rows have, nothing else, and share no memory with the data. Rows and dictionaries stand in the
 * order of the lines and cells of the CSV file that kn_result_csv writes.
 *
 * These are the arrays that were verified. They live as long as somebody holds one of them, longer than result and
 * settings if need be, and may be released on any thread. May be called again: every stream starts at the first row.
 * KN_USAGE when the result has no table. */
KN_API kn_status kn_result_table(const kn_result *result, struct ArrowArrayStream *out, kn_error *err);
/* Tables with counts: for an engine that holds a table too long for one machine and counts its distinct tuples itself.
 *
 *     kn_settings_set(settings, "count", "n", &err)         each row of the data, called record, stands for n rows
 *     kn_settings_set(settings, "order", "input", &err)
 *
 * A record has quasi-identifiers, sensitive columns and a count, a 64-bit integer of at least 1; several records may
 * have equal cells. Everything is as if it were repeated so often: hierarchies, domains, distributions, models,
 * measures and the limit of suppressed rows, and the levels or cut points found are those of the longer table. With
 * "person", records are told apart by the person, too. Persons whose rows are all in one record need no name: where the
 * person is missing, "person-count" is the column that says how many of them there are.
 *
 * The result is a mapping: a row for each record that is released, and this list, which tells which record it was,
 * counted from 0; records that are not listed have to be left out of the release, with all their rows. The list is
 * borrowed, and NULL for other results. Private, like any order of the input.
 *
 * Rows are counted up to 2^53. Refused: searches that make classes of single rows (all local ones but "mondrian"),
 * "mondrian" from 2^32 - 2 rows on, as many persons, means of classes ("cells" both), certificates. From 2^32 - 2 rows
 * on there is no bound of the loss. */
KN_API const uint32_t *kn_result_records(const kn_result *result, size_t *n);
/* Parts of tables: for an engine that cuts a table into parts and has each anonymized where it lies.
 *
 *     kn_settings_set_table(settings, "domains", &stream, &err)         columns column, value, rows
 *
 * A row of it says how many rows of the whole table have a value of a column. With it the data is a part of that table:
 * types, order, hierarchies, grids and prices of cells are those of the whole table, and models that compare a class
 * with the table (t-closeness, beta-likeness, delta-disclosure) compare it with the whole one. All values of all
 * quasi-identifiers and sensitive columns must be there, spelled as in the data, once each; every column must have
 * equally many rows. Text or any other type: it counts as spelled above. The rows of a value may be as many as 2^53.
 *
 * What a part cannot show is for whoever has the whole table: whether copied columns stand one-to-one with
 * quasi-identifiers, and how many persons are beyond the threshold of a top or bottom coding. Labels that are made from
 * values ("20..37") are written for the values of the part's released rows. Limits of suppressed rows are the part's.
 * Private, like the data. Refused: "similar" groups, which need whole rows; certificates. */

/* The same table as the CSV file that `output` would have made of it, byte for byte, in pieces. */
KN_API kn_status kn_result_csv(const kn_result *result, kn_write_fn write, void *user, kn_error *err);

#ifdef __cplusplus
}
#endif
#endif
