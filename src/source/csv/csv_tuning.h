/* For tests and benches: how the reader cuts its work, which never changes what it reads. */
#ifndef KN_SOURCE_CSV_CSV_TUNING_H
#define KN_SOURCE_CSV_CSV_TUNING_H

#include "source/csv/csv_read.h"
#include "source/csv/csv_tokens.h"

typedef struct kn_csv_tuning {
    size_t block_bytes;         /* one job's share of the text */
    unsigned blocks_per_thread; /* in one round */
    kn_csv_kernel kernel;
} kn_csv_tuning;

/* Between kn_csv_open and kn_csv_read. Fields that are 0 keep the default; the kernel is always taken. */
void kn_csv_tune(kn_csv_reader *reader, const kn_csv_tuning *tuning);

#endif
