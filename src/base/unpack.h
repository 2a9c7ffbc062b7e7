/* Compressed files, and files that are no text at all, known by their first bytes. */
#ifndef KN_BASE_UNPACK_H
#define KN_BASE_UNPACK_H

#include "base/tick.h"

typedef enum kn_packing { KN_PACKED_NOT, KN_PACKED_GZIP, KN_PACKED_ZSTD } kn_packing;

enum { KN_MAGIC_BYTES = 4 };
/* What the first bytes of a file say. */
kn_packing kn_packing_of(const char *bytes, size_t n_bytes);
/* What kind of file it is that is no table of text, to name it: "a Parquet file", "an Excel workbook"; NULL: none that
 * is known. */
const char *kn_binary_kind(const char *bytes, size_t n_bytes);

/* Unpacks `from`, read from its beginning, to the end of `to`; several packed parts one behind the other are one text.
 * KN_INPUT where it is damaged or cut off, where `to` has no room, or where it grows so much that it looks made to fill
 * the disk: beyond a gigabyte and more than five hundred times. `name` for messages; `folder`: where `to` is. */
kn_status kn_unpack(int to, int from, kn_packing packing, const char *name, const char *folder, kn_ticker *ticker,
                    kn_error *err);

#endif
