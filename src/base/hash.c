/* The key of the hash tables. */
#include "base/hash.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t kn_hash_key[4] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u, 0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u};

/* Before anybody has a table. A system that has no random numbers yet gives what differs from process to process. */
__attribute__((constructor)) static void draw_key(void)
{
    uint64_t drawn[4] = {0};
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t sum = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 44;
        for (int i = 0; i < 4; i++) drawn[i] = sum = kn_checksum_combine(sum, (uintptr_t)&now);
    }
    for (int i = 0; i < 4; i++) kn_hash_key[i] = i < 2 ? drawn[i] | 1 : drawn[i];
}
