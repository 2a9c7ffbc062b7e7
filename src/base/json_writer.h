/* JSON out, as it is told: the keys in the order of the calls, two blanks of indentation per level. All JSON of kanon
 * is written here. A failed allocation stays noted in the buffer, so that kn_json_finish is the one place that must be
 * checked; numbers do not depend on the locale.
 *
 *   kn_json json = {0};
 *   kn_json_object(&json, NULL);
 *   kn_json_count(&json, "rows", 12);
 *   kn_json_end(&json);
 *   kn_json_finish(&text, &json, err); */
#ifndef KN_BASE_JSON_WRITER_H
#define KN_BASE_JSON_WRITER_H

#include "base/buffer.h"

#include <stdint.h>

/* Zero-initialise it. Every call takes the key of a member of an object; NULL inside an array and for the whole. */
typedef struct kn_json {
    kn_buffer out;
    unsigned depth;
    uint64_t arrays; /* bit d: what is open at depth d is an array */
    bool follows;    /* something stands before in what is open */
} kn_json;

void kn_json_object(kn_json *json, const char *key);
void kn_json_array(kn_json *json, const char *key);
void kn_json_end(kn_json *json); /* of the object or array opened last */
void kn_json_text(kn_json *json, const char *key, const char *text);
void kn_json_bytes(kn_json *json, const char *key, const char *bytes, size_t n_bytes);
void kn_json_count(kn_json *json, const char *key, uint64_t count);
void kn_json_real(kn_json *json, const char *key, double value); /* 15 digits; null for what is not finite */
void kn_json_bool(kn_json *json, const char *key, bool value);
void kn_json_null(kn_json *json, const char *key);
/* Goes on with a finished object that has members, as if its end had not been told. The text is given away. */
void kn_json_resume(kn_json *json, char *object);
/* The whole with a line end, yours to kn_free; KN_RESOURCES when memory ran out on the way. Empties the writer. */
kn_status kn_json_finish(char **out, kn_json *json, kn_error *err);

#endif
