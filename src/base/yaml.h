/* The part of YAML that a policy needs, and JSON, read strictly: block and flow mappings and lists, plain and quoted
 * scalars, comments. Whatever a reader of the policy could take for something else is refused with its place: anchors,
 * aliases, tags, directives, blocks of text, a second document, a value over several lines, a key that stands twice, a
 * tab as indentation. Scalars are text; what they mean is the policy's business. */
#ifndef KN_BASE_YAML_H
#define KN_BASE_YAML_H

#include "base/buffer.h"
#include "base/memory.h"

typedef enum kn_yaml_kind { KN_YAML_SCALAR, KN_YAML_MAPPING, KN_YAML_LIST } kn_yaml_kind;

/* Items of a list, and keys of a mapping, are linked from `first` by `next`. */
typedef struct kn_yaml kn_yaml;
struct kn_yaml {
    kn_yaml_kind kind;
    bool is_plain;         /* a scalar without quotes; without text too: nothing stands there */
    unsigned line, column; /* from 1; the column in characters, behind an opening quote */
    char *text;            /* of a scalar; NUL-terminated, but an escaped NUL may be in it */
    size_t n_bytes;
    kn_yaml *first, *next;
    kn_yaml *value; /* of a key */
};

/* *out is NULL for a text without content. KN_USAGE, with "path:line:column: ", for what is refused. Free with
 * kn_yaml_free. */
kn_status kn_yaml_parse(kn_yaml **out, const char *text, size_t n_bytes, const char *path, kn_error *err);
void kn_yaml_free(kn_yaml *node);

bool kn_yaml_is_nothing(const kn_yaml *node);                         /* NULL, or a plain scalar without text */
const kn_yaml *kn_yaml_find(const kn_yaml *mapping, const char *key); /* the value, or NULL */

/* A scalar of YAML that reads back as this text, in quotes where it needs them. */
void kn_yaml_put(kn_buffer *out, const char *text);

#endif
