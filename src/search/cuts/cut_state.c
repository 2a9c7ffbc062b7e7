/* The heap of open nodes, and the saved state.
 *
 * Saved: a line of text that names format and search, then binary numbers of this machine. It is read again only by a
 * search whose letters, rows, models, measure and limit are the same: their hash stands in the first line. */
#include "search/cuts/cut_state.h"

#include "base/buffer.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

/* --- Open nodes ------------------------------------------------------------------------------------------------ */

static bool comes_before(const kn_open_node *a, const kn_open_node *b)
{
    return a->bound != b->bound ? a->bound < b->bound : a->number < b->number;
}

static kn_status push(kn_cut_state *state, kn_open_node node, kn_error *err)
{
    kn_status status = KN_OK;
    KN_PUSH(&state->open, node);
    size_t at = state->open.n - 1;
    kn_open_node *items = state->open.items;
    for (; at > 0 && comes_before(&node, &items[(at - 1) / 2]); at = (at - 1) / 2) items[at] = items[(at - 1) / 2];
    items[at] = node;
    node.state = NULL;
done:
    kn_free(node.state);
    return status;
}

kn_status kn_cut_state_push(kn_cut_state *state, double bound, uint8_t *node, kn_error *err)
{
    return push(state, (kn_open_node){bound, state->next_number++, node}, err);
}

uint8_t *kn_cut_state_pop(kn_cut_state *state)
{
    kn_open_node *items = state->open.items;
    uint8_t *top = items[0].state;
    const kn_open_node last = items[--state->open.n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < state->open.n; at = child) {
        if (child + 1 < state->open.n && comes_before(&items[child + 1], &items[child])) child++;
        if (!comes_before(&items[child], &last)) break;
        items[at] = items[child];
    }
    if (state->open.n > 0) items[at] = last;
    return top;
}

void kn_cut_state_free(kn_cut_state *state)
{
    for (size_t i = 0; i < state->open.n; i++) kn_free(state->open.items[i].state);
    kn_free(state->open.items);
    kn_free(state->letters);
    *state = (kn_cut_state){0};
}

/* --- Bytes ------------------------------------------------------------------------------------------------------ */

#define FIRST_LINE "kanon k-optimize state 1 %016llx\n"
enum { N_NAME = 24 }; /* of the first line, before the hash */

/* Everything that decides what the letters mean and what they cost. */
static uint64_t fingerprint(const kn_cuts *cuts)
{
    uint64_t hash = kn_checksum_bytes(cuts->objective->type->name, strlen(cuts->objective->type->name));
    hash = kn_checksum_combine(hash, cuts->max_suppressed);
    hash = kn_checksum_combine(hash, (uint64_t)cuts->least_rows);
    hash = kn_checksum_combine(
        hash, kn_checksum_bytes(cuts->tuples->repeats, cuts->tuples->n_repeats * sizeof *cuts->tuples->repeats));
    for (uint32_t i = 0; i < cuts->n_letters; i++) {
        const kn_letter *letter = &cuts->letters[i];
        const uint32_t facts[] = {letter->q, letter->parent, letter->first, letter->last, letter->n_cuts};
        hash = kn_checksum_combine(hash, kn_checksum_bytes(facts, sizeof facts));
        hash = kn_checksum_combine(hash, kn_checksum_bytes(letter->cuts, letter->n_cuts * sizeof *letter->cuts));
    }
    for (size_t m = 0; m < cuts->models->n; m++) {
        const kn_model *model = &cuts->models->items[m];
        hash = kn_checksum_combine(hash, kn_checksum_bytes(model->type->name, strlen(model->type->name)));
        for (size_t a = 0; a < model->args.n; a++) {
            const char *text = model->args.values[a].text;
            hash = kn_checksum_combine(hash, text != NULL ? kn_checksum_bytes(text, strlen(text)) : 0);
        }
    }
    hash = kn_checksum_combine(hash, kn_checksum_bytes(&cuts->root_price, sizeof cuts->root_price));
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        const kn_cut_column *column = &cuts->columns[q];
        const size_t n_prices = column->prices != NULL ? (size_t)column->n_positions * column->n_positions : 0;
        hash = kn_checksum_combine(hash, kn_checksum_bytes(column->domain->name, strlen(column->domain->name)));
        hash = kn_checksum_combine(hash, kn_checksum_bytes(&column->domain->weight, sizeof column->domain->weight));
        hash = kn_checksum_combine(hash, kn_checksum_bytes(column->prices, n_prices * sizeof *column->prices));
    }
    hash = kn_checksum_combine(
        hash, kn_checksum_bytes(cuts->items.keys, (size_t)cuts->items.n * cuts->n_keys * sizeof *cuts->items.keys));
    return kn_checksum_combine(
        hash, kn_checksum_bytes(cuts->items.lanes, (size_t)cuts->items.n * cuts->n_lanes * sizeof *cuts->items.lanes));
}

/* The numbers that stand before the nodes. */
typedef struct state_head {
    uint64_t n_open, next_number;
    double best;
    uint64_t has_best, n_nodes, n_evaluations, by_rule[KN_N_CUT_RULES];
} state_head;

kn_status kn_cut_state_save(kn_buffer *out, const kn_cut_state *state, const kn_cuts *cuts, kn_error *err)
{
    kn_status status = KN_OK;
    state_head head = {.n_open = state->open.n,
                       .next_number = state->next_number,
                       .best = state->best,
                       .has_best = state->has_best,
                       .n_nodes = state->counts.n_nodes,
                       .n_evaluations = state->counts.n_evaluations};
    memcpy(head.by_rule, state->counts.by_rule, sizeof head.by_rule);
    kn_buffer_clear(out);
    kn_buffer_printf(out, FIRST_LINE, (unsigned long long)fingerprint(cuts));
    kn_buffer_append(out, (const char *)&head, sizeof head);
    kn_buffer_append(out, (const char *)state->letters, state->n_letters);
    for (size_t i = 0; i < state->open.n; i++) {
        const kn_open_node *node = &state->open.items[i];
        kn_buffer_append(out, (const char *)&node->bound, sizeof node->bound);
        kn_buffer_append(out, (const char *)&node->number, sizeof node->number);
        kn_buffer_append(out, (const char *)node->state, state->n_letters);
    }
    if (out->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

/* Bytes that are read from front to back. */
typedef struct reading {
    const char *at, *end;
} reading;

static kn_status take(void *to, reading *from, size_t n_bytes, kn_error *err)
{
    if ((size_t)(from->end - from->at) < n_bytes) return kn_error_set(err, KN_INPUT, "it ends too early");
    memcpy(to, from->at, n_bytes);
    from->at += n_bytes;
    return KN_OK;
}

static kn_status check_letters(const kn_cuts *cuts, const uint8_t *letters, uint8_t most, kn_error *err)
{
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        const uint32_t parent = cuts->letters[letter].parent;
        if (letters[letter] > most || (parent != KN_NONE && letters[letter] > letters[parent]))
            return kn_error_set(err, KN_INPUT, "it is damaged");
    }
    return KN_OK;
}

static kn_status take_nodes(reading *from, kn_cut_state *state, const kn_cuts *cuts, uint64_t n_open, kn_error *err)
{
    kn_status status = KN_OK;
    kn_open_node node = {0};
    for (uint64_t i = 0; i < n_open; i++) {
        KN_NEW_RAW(node.state, cuts->n_letters + (size_t)1);
        KN_TRY(take(&node.bound, from, sizeof node.bound, err));
        KN_TRY(take(&node.number, from, sizeof node.number, err));
        KN_TRY(take(node.state, from, cuts->n_letters, err));
        KN_TRY(check_letters(cuts, node.state, KN_LETTER_HEAD, err));
        if (isnan(node.bound)) KN_FAIL(KN_INPUT, "it is damaged");
        const kn_open_node taken = node;
        node.state = NULL;
        KN_TRY(push(state, taken, err));
    }
done:
    kn_free(node.state);
    return status;
}

kn_status kn_cut_state_load(kn_cut_state *state, const kn_cuts *cuts, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer expected = {0};
    reading from = {bytes, bytes + n_bytes};
    state_head head;
    kn_buffer_printf(&expected, FIRST_LINE, (unsigned long long)fingerprint(cuts));
    if (expected.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (n_bytes < expected.n || memcmp(bytes, expected.bytes, N_NAME) != 0)
        KN_FAIL(KN_INPUT, "k-optimize did not save it");
    if (memcmp(bytes, expected.bytes, expected.n) != 0)
        KN_FAIL(KN_INPUT, "it was saved by a search of other data, columns, models, measure or limits");
    from.at += expected.n;
    KN_TRY(take(&head, &from, sizeof head, err));
    KN_TRY(take(state->letters, &from, cuts->n_letters, err));
    KN_TRY(check_letters(cuts, state->letters, 1, err));
    KN_TRY(take_nodes(&from, state, cuts, head.n_open, err));
    if (from.at != from.end || isnan(head.best)) KN_FAIL(KN_INPUT, "it is damaged");
    state->next_number = head.next_number;
    state->best = head.best;
    state->has_best = head.has_best != 0;
    state->counts = (kn_cut_counts){.n_nodes = head.n_nodes, .n_evaluations = head.n_evaluations};
    memcpy(state->counts.by_rule, head.by_rule, sizeof head.by_rule);
done:
    kn_buffer_free(&expected);
    return status;
}
