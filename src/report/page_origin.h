/* What ties a page to one moment and one policy. */
#ifndef KN_REPORT_PAGE_ORIGIN_H
#define KN_REPORT_PAGE_ORIGIN_H

typedef struct kn_page_origin {
    char date[40];           /* "2026-11-15 22:15 UTC" */
    const char *policy_path; /* borrowed; NULL without one */
    char policy_hash[65];    /* "" without one */
} kn_page_origin;

#endif
