/* A certificate: values of the original's rows that prove how little any release can lose. docs/certificate.md has its
 * form. */
#ifndef KN_VERIFY_CERTIFICATE_H
#define KN_VERIFY_CERTIFICATE_H

#include "base/sha256.h"
#include "verify/checks.h"

/* The first line of the file. */
#define KN_CERTIFICATE_TITLE "kanon certificate 3: private, follows the rows of the input, not for release"

kn_status kn_recount_certificate(kn_recount *recount, size_t slot, kn_error *err);

#endif
