/* Whether two classes of a release cover a common tuple. */
#ifndef KN_CLASSES_RELEASE_OVERLAP_H
#define KN_CLASSES_RELEASE_OVERLAP_H

#include "classes/release.h"

/* *overlaps is false when no tuple that there could be lies inside the cells of two classes (classes with equal cells
 * count as two). Full-domain releases (with `levels`) are known not to overlap and are not looked at. */
kn_status kn_release_overlaps(bool *overlaps, const kn_release *release, kn_pool *pool, kn_error *err);

#endif
