/* Depth-first search below one node: [BA] 5, Figure 5.
 *
 * A node is evaluated; it is closed when its bound is no better than the best release known; otherwise letters of its
 * tail that cannot lead to anything better are dropped and it is evaluated again, as long as that drops any. Then the
 * letter is taken that splits many classes and would be missed most (5.5: choose); when all
 * below that child is done, the letter leaves the tail and the node is evaluated again.
 *
 * Departs from the paper: the tail is pruned by the bound of the node with the letter taken, one level deep (Figure 5
 * read literally asks whether its tail is empty, and prunes everything); order is decided anew at every node; a letter
 * that only lowers prices is taken at once. Cost: see cut_kernel.h, per evaluation. */
#include "search/cuts/cut_search.h"

#include "search/cuts/cut_exact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

double kn_cut_better(const kn_cuts *cuts, double best)
{
    return cuts->bound->by_cell && isfinite(best) ? best - 1e-9 * (fabs(best) + 1e-300) : best;
}

static kn_status note_release(kn_cut_search *search, kn_cut_worker *worker, const kn_cut_frame *frame, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = search->cuts;
    kn_cut_cost found = {worker->cost, frame->n_suppressed, frame->n_classes > 0};
    if (!(found.cost < search->best) || !kn_cut_is_release(cuts, &found)) goto done;
    if (worker->exact != NULL) {
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
            worker->exact->in[letter] = frame->state[letter] == KN_LETTER_HEAD;
        KN_TRY(kn_cut_exact_cost(&found, worker->exact, err));
        if (!(found.cost < search->best) || !kn_cut_is_release(cuts, &found)) goto done;
    }
    search->best = found.cost;
    search->has_found = true;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        search->found[letter] = frame->state[letter] == KN_LETTER_HEAD;
done:
    return status;
}

/* Letters above it are in force: what it splits can be seen. */
static bool is_usable(const kn_cuts *cuts, const kn_cut_frame *frame, uint32_t letter)
{
    const uint32_t parent = cuts->letters[letter].parent;
    return parent == KN_NONE || frame->state[parent] == KN_LETTER_HEAD;
}

static bool in_force(const kn_cut_search *search, kn_cut_rule rule) { return (search->without >> rule & 1) == 0; }

/* Marks the letters of the tail that cannot be in anything better; returns how many. */
static uint32_t mark_drops(kn_cut_search *search, kn_cut_worker *worker, const kn_cut_frame *frame)
{
    const kn_cuts *cuts = search->cuts;
    const double better = kn_cut_better(cuts, search->best);
    uint32_t n = 0;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        const kn_letter_view *view = &worker->letters[letter];
        kn_cut_rule rule = KN_N_CUT_RULES;
        if (frame->state[letter] != KN_LETTER_TAIL) continue;
        if (in_force(search, KN_CUT_TAIL_SUPPRESSION) &&
            frame->n_suppressed + view->suppressed > (double)cuts->max_suppressed)
            rule = KN_CUT_TAIL_SUPPRESSION;
        else if (in_force(search, KN_CUT_USELESS) && cuts->bound->useless_letters && !view->gains &&
                 is_usable(cuts, frame, letter))
            rule = KN_CUT_USELESS;
        else if (in_force(search, KN_CUT_TAIL_BOUND) && worker->bound + view->rise >= better) rule = KN_CUT_TAIL_BOUND;
        if (rule == KN_N_CUT_RULES) continue;
        search->counts.by_rule[rule]++;
        worker->drop[letter] = 1;
        n++;
    }
    return n;
}

/* Evaluates until nothing more falls out of the tail; *open is false when nothing below the node can be better. */
static kn_status prune(bool *open, kn_cut_search *search, kn_cut_worker *worker, kn_cut_frame *frame, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = search->cuts;
    *open = false;
    for (;;) {
        if (frame->n_suppressed > (double)cuts->max_suppressed) { /* no descendant suppresses less */
            search->counts.by_rule[KN_CUT_SUPPRESSION]++;
            break;
        }
        cuts->bound->evaluate(worker, frame);
        search->counts.n_evaluations++;
        search->counts.n_looked_up += (uint64_t)frame->items.n * cuts->n_columns + worker->n_positions;
        if (worker->bound > frame->bound) frame->bound = worker->bound;
        KN_TRY(note_release(search, worker, frame, err));
        if (search->watch != NULL) search->watch(search->user, worker, frame);
        if (frame->n_tail == 0) break;
        if (in_force(search, KN_CUT_BOUND) && frame->bound >= kn_cut_better(cuts, search->best)) {
            search->counts.by_rule[KN_CUT_BOUND]++;
            break;
        }
        if (mark_drops(search, worker, frame) == 0) {
            *open = true;
            break;
        }
        kn_cut_frame_drop(worker, frame);
        if (frame->n_tail == 0) break; /* the node itself was looked at */
    }
done:
    return status;
}

/* The letter to take next, of those whose parent is in force. */
static uint32_t choose(kn_cut_search *search, const kn_cut_worker *worker, kn_cut_frame *frame)
{
    const kn_cuts *cuts = search->cuts;
    uint32_t best = KN_NONE;
    double most = 0;
    frame->forced = false;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        const kn_letter_view *view = &worker->letters[letter];
        if (frame->state[letter] != KN_LETTER_TAIL || !is_usable(cuts, frame, letter)) continue;
        if (cuts->bound->by_cell && view->n_splits == 0 && in_force(search, KN_CUT_FORCED)) {
            frame->forced = true;
            search->counts.by_rule[KN_CUT_FORCED]++;
            return letter;
        }
        /* splits count for more than worth: what was measured to leave fewest nodes */
        const double squared = view->n_splits * view->n_splits, score = squared * squared * (view->worth + 1);
        if (best == KN_NONE || (!search->without_order && score > most)) best = letter, most = score;
    }
    assert(best != KN_NONE); /* the topmost letter of a tail needs none in it */
    return best;
}

/* A node for later: the frame's, without `without`. */
static kn_status leave(kn_cut_search *search, const kn_cut_frame *frame, uint32_t without, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = search->cuts;
    kn_open_node node = {.bound = frame->bound};
    KN_NEW_RAW(node.state, cuts->n_letters + (size_t)1);
    memcpy(node.state, frame->state, cuts->n_letters);
    for (uint32_t letter = 0; without != KN_NONE && letter < cuts->n_letters; letter++) {
        const uint32_t parent = cuts->letters[letter].parent;
        if (letter == without || (parent != KN_NONE && node.state[parent] == KN_LETTER_OUT))
            node.state[letter] = KN_LETTER_OUT;
    }
    KN_PUSH(&search->left, node);
    node.state = NULL;
done:
    kn_free(node.state);
    return status;
}

/* What is left when the search stops at `depth`: there whether the frame was pruned already or not. */
static kn_status leave_all(kn_cut_search *search, const kn_cut_worker *worker, uint32_t depth, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t d = 0; d <= depth; d++) {
        const kn_cut_frame *frame = &worker->frames[d];
        if (frame->chosen != KN_NONE && frame->forced) continue;
        KN_TRY(leave(search, frame, frame->chosen, err));
    }
done:
    return status;
}

/* All below the chosen child is done: the letter leaves the tail, and the rest is looked at, if there is any. */
static kn_status come_back(bool *open, kn_cut_search *search, kn_cut_worker *worker, kn_cut_frame *frame, kn_error *err)
{
    kn_status status = KN_OK;
    *open = !frame->forced && frame->n_tail > 1;
    if (!*open) goto done;
    worker->drop[frame->chosen] = 1;
    kn_cut_frame_drop(worker, frame);
    frame->chosen = KN_NONE;
    *open = frame->n_tail > 0;
    if (*open) KN_TRY(prune(open, search, worker, frame, err));
done:
    return status;
}

kn_status kn_cut_search_run(kn_cut_search *search, kn_cut_worker *worker, const uint8_t *state, kn_ticker *ticker,
                            kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_frame *frame, *child;
    uint32_t depth = 0;
    bool open;
    KN_TRY(kn_cut_frame_at(&frame, worker, 0, err));
    KN_TRY(kn_cut_frame_start(worker, frame, state, err));
    frame->bound = -INFINITY;
    search->counts.n_nodes++;
    KN_TRY(prune(&open, search, worker, frame, err));
    if (!open) goto done;
    for (;;) {
        frame = &worker->frames[depth];
        const bool stop = search->counts.n_evaluations >= search->most_evaluations || kn_ticker_out_of_time(ticker);
        if (stop) {
            KN_TRY(leave_all(search, worker, depth, err));
            break;
        }
        open = true;
        if (frame->chosen != KN_NONE) KN_TRY(come_back(&open, search, worker, frame, err));
        if (!open) {
            if (depth-- == 0) break;
            continue;
        }
        frame->chosen = choose(search, worker, frame);
        KN_TRY(kn_cut_frame_at(&child, worker, depth + 1, err));
        KN_TRY(kn_cut_frame_take(worker, child, frame, frame->chosen, err));
        child->bound = frame->bound;
        search->counts.n_nodes++;
        KN_TRY(prune(&open, search, worker, child, err));
        if (open) depth++;
    }
done:
    return status;
}
