/* The best group around a seed: of all patterns that the seed shares with at least k persons of the site, the one that
 * keeps most (by weight of its lanes). Branch and bound over the lanes, the most frequent first, with a bit per record;
 * it stops after so many nodes, so that a try stays cheap: the dice of the next try lead elsewhere. */
#include "search/cluster/cluster_site.h"

enum { MAX_SEED_NODES = 1500, MAX_SEED_LANES = 256 };

typedef struct seed_search {
    uint32_t n_lanes, n_words, n_nodes;
    int32_t k;
    int64_t best;
    const uint64_t *bits; /* lane by lane, in the order of the search */
    uint64_t persons[KN_SITE_SEED_WORDS], found[KN_SITE_SEED_WORDS];
    int64_t weight[MAX_SEED_LANES], weight_left[MAX_SEED_LANES + 1];
} seed_search;

/* Behind `matches` there is room for those of every lane that is kept. */
static void seed_descend(seed_search *search, uint32_t j, uint64_t *matches, int64_t kept)
{
    if (kept > search->best) {
        search->best = kept;
        memcpy(search->found, matches, search->n_words * sizeof *matches);
    }
    if (++search->n_nodes > MAX_SEED_NODES) return;
    for (; j < search->n_lanes; j++) {
        if (kept + search->weight_left[j] <= search->best) return;
        uint64_t *both = matches + search->n_words;
        const uint64_t *bits = search->bits + (size_t)j * search->n_words;
        int32_t n_persons = 0;
        for (uint32_t w = 0; w < search->n_words; w++) {
            both[w] = matches[w] & bits[w];
            n_persons += __builtin_popcountll(both[w] & search->persons[w]);
        }
        if (n_persons >= search->k) seed_descend(search, j + 1, both, kept + search->weight[j]);
    }
}

/* Bit y % 64 of word y / 64 of lane j of a vector: does record left[y] have what the seed has there? */
static void seed_bits(const kn_cluster_block *block, uint64_t *bits, uint32_t n_words, uint32_t seed, uint32_t n_left,
                      uint32_t v)
{
    const kn_cluster_site *site = &block->site;
    const kn_lanes own = site_lanes(block, seed)[v];
    memset(bits, 0, (size_t)KN_LANES * n_words * sizeof *bits);
    for (uint32_t y = 0; y < n_left; y += KN_LANES) {
        uint32_t n = n_left - y < KN_LANES ? n_left - y : KN_LANES;
        kn_lanes same = (kn_lanes){0}; /* a record's lanes as bits */
        for (uint32_t i = 0; i < n; i++) {
            kn_lanes equal = (kn_lanes)(site_lanes(block, site->left[y + i])[v] == own);
            ((uint16_t *)&same)[i] = lanes_bits(&equal);
        }
        for (uint32_t j = 0; j < KN_LANES; j++) { /* the other way round: a lane's records */
            kn_lanes top = same << (KN_LANES - 1 - j);
            bits[j * n_words + y / 64] |= (uint64_t)lanes_bits(&top) << (y % 64);
        }
    }
}

/* Lanes that at least k records left share with the seed, the most frequent first (with noise); sets bits. */
static uint32_t seed_lanes(kn_cluster_block *block, seed_search *search, uint32_t seed, uint32_t n_left)
{
    kn_cluster_site *site = &block->site;
    const uint16_t *own = (const uint16_t *)site_lanes(block, seed);
    uint64_t *unsorted = site->bits + (size_t)block->n_equal * search->n_words,
             of_vector[KN_LANES * KN_SITE_SEED_WORDS];
    uint32_t n = 0;
    for (uint32_t j = 0; j < block->n_equal && n < MAX_SEED_LANES; j++) {
        if (j % KN_LANES == 0) seed_bits(block, of_vector, search->n_words, seed, n_left, j / KN_LANES);
        if (own[j] == KN_STAR) continue;
        const uint64_t *bits = of_vector + (size_t)(j % KN_LANES) * search->n_words;
        uint32_t count = 0;
        for (uint32_t w = 0; w < search->n_words; w++) count += (uint32_t)__builtin_popcountll(bits[w]);
        if (count < block->problem->k) continue;
        memcpy(unsorted + (size_t)n * search->n_words, bits, search->n_words * sizeof *bits);
        site->order[n] = j;
        site->key[n] = ((int64_t)(4 * count + kn_rng_below(&block->rng, n_left + 1)) << 16) | (0xffff - n);
        n++;
    }
    const int16_t *weight = (const int16_t *)record_weight(block, site->record[seed]);
    for (uint32_t place = 0; place < n; place++) {
        uint32_t x = 0;
        for (uint32_t y = 1; y < n; y++)
            if (site->key[y] > site->key[x]) x = y;
        site->key[x] = -1;
        memcpy(site->bits + (size_t)place * search->n_words, unsorted + (size_t)x * search->n_words,
               search->n_words * sizeof *site->bits);
        search->weight[place] = weight[site->order[x]];
    }
    return n;
}

void kn_site_seed_group(kn_cluster_block *block, uint32_t place, uint32_t *n_left)
{
    kn_cluster_site *site = &block->site;
    uint32_t seed = site->left[place], n_matches = 0, n = *n_left;
    uint64_t *all = site->bits_left;
    seed_search search = {.n_words = (n + 63) / 64, .k = (int32_t)block->problem->k, .best = -1, .bits = site->bits};
    memset(all, 0, search.n_words * sizeof *all);
    for (uint32_t y = 0; y < n; y++) {
        all[y / 64] |= 1ull << (y % 64);
        search.persons[y / 64] |= (uint64_t)site_person(block, site->left[y]) << (y % 64);
    }
    search.n_lanes = seed_lanes(block, &search, seed, n);
    search.weight_left[search.n_lanes] = 0;
    for (uint32_t j = search.n_lanes; j-- > 0;) search.weight_left[j] = search.weight_left[j + 1] + search.weight[j];
    seed_descend(&search, 0, all, 0);

    uint32_t g = kn_site_group_new(block, seed);
    for (uint32_t y = 0; y < n; y++)
        if (y != place && search.found[y / 64] >> (y % 64) & 1) site->matches[n_matches++] = site->left[y];
    bool every = toss_coin(block);
    memset(site->taken, 0, site->n);
    site->taken[seed] = 1;
    for (uint32_t x = 0; x < n_matches && (every || site->persons[g] < search.k); x++) {
        uint32_t y = x + kn_rng_below(&block->rng, n_matches - x), match = site->matches[y];
        site->matches[y] = site->matches[x];
        kn_site_group_add(block, g, match);
        site->taken[match] = 1;
    }
    *n_left = 0;
    for (uint32_t y = 0; y < n; y++)
        if (!site->taken[site->left[y]]) site->left[(*n_left)++] = site->left[y];
}
