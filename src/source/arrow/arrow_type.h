/* Format strings of the Arrow C data interface ("i", "tsu:UTC", "d:12,2", ...) as types that can be read. */
#ifndef KN_SOURCE_ARROW_ARROW_TYPE_H
#define KN_SOURCE_ARROW_ARROW_TYPE_H

#include "base/memory.h"

#include <kanon_arrow.h>

typedef enum kn_arrow_kind {
    KN_ARROW_NULL,
    KN_ARROW_BOOL,
    KN_ARROW_INT, /* from here to TIMESTAMP: `width` bytes per value */
    KN_ARROW_UINT,
    KN_ARROW_FLOAT,
    KN_ARROW_DECIMAL,
    KN_ARROW_DATE,
    KN_ARROW_TIME,
    KN_ARROW_TIMESTAMP,
    KN_ARROW_STRING, /* offsets of `width` bytes */
    KN_ARROW_VIEW    /* views of 16 bytes */
} kn_arrow_kind;

typedef struct kn_arrow_type {
    kn_arrow_kind kind;
    unsigned width;      /* 1 .. 32 */
    int32_t scale;       /* decimals: digits after the point */
    uint32_t per_second; /* times and timestamps: 1, 1000, 1000000 or 1000000000; date64: 1000; date32: 0 */
    bool has_zone;
    bool is_binary;
    bool is_dictionary; /* the above is about the values; indices are integers: */
    unsigned index_width;
    bool index_signed;
} kn_arrow_type;

/* KN_INPUT naming the type when it cannot be read; `where` and the column's name for the message. */
kn_status kn_arrow_type_read(kn_arrow_type *out, const struct ArrowSchema *schema, const char *where, const char *name,
                             kn_error *err);

#endif
