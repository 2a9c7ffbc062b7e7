/* LEMON behind matching.h: the only C++ in the tree. Nothing that is thrown leaves this file. */
#include "search/approximate/matching.h"

/* In place of lemon/bits/lock.h: a graph is one thread's. LEMON's own lock stays locked where an allocation under it
 * fails, and whoever clears up then waits for ever. */
#define LEMON_BITS_LOCK_H
namespace lemon
{
namespace bits
{
class Lock
{
  public:
    void lock() {}
    void unlock() {}
};
} // namespace bits
} // namespace lemon
#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <new>
#include <vector>

namespace
{

typedef lemon::SmartGraph graph;

struct interrupted {
};

/* Weights by edge. LEMON asks for them all the time, and cannot be interrupted in any other way. */
class weights
{
  public:
    typedef graph::Edge Key;
    typedef int64_t Value;
    weights(const kn_matching_edge *all, bool (*ask)(void *), void *about) : edges(all), stop(ask), context(about) {}
    int64_t operator[](const graph::Edge &edge) const
    {
        if ((++n_asked & 0xFFFFF) == 0 && stop(context)) throw interrupted();
        return edges[graph::id(edge)].weight;
    }

  private:
    const kn_matching_edge *edges;
    bool (*stop)(void *);
    void *context;
    mutable uint64_t n_asked = 0;
};

typedef lemon::MaxWeightedMatching<graph, weights> heaviest;
typedef lemon::MaxWeightedPerfectMatching<graph, weights> heaviest_perfect;

bool solve(heaviest &solver)
{
    solver.run();
    return true;
}

bool solve(heaviest_perfect &solver) { return solver.run(); }

/* The blossoms as a forest, those that hold others first. */
template <typename solver_type> void take_blossoms(kn_matching *out, const solver_type &solver, uint32_t n_vertices)
{
    std::vector<int> order;
    for (int i = 0; i < solver.blossomNum(); i++) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return solver.blossomSize(a) > solver.blossomSize(b); });
    out->n_blossoms = (uint32_t)order.size();
    std::fill(out->blossom, out->blossom + n_vertices, UINT32_MAX);
    for (uint32_t b = 0; b < order.size(); b++) {
        typename solver_type::BlossomIt vertex(solver, order[b]);
        const uint32_t parent = out->blossom[graph::id(vertex)];
        out->parent[b] = parent;
        out->depth[b] = parent == UINT32_MAX ? 1 : out->depth[parent] + 1;
        out->sum[b] = solver.blossomValue(order[b]) + (parent == UINT32_MAX ? 0 : out->sum[parent]);
        for (; vertex != lemon::INVALID; ++vertex) out->blossom[graph::id(vertex)] = b;
    }
}

template <typename solver_type>
kn_status find(kn_matching *out, const kn_matching_problem *problem, bool (*stop)(void *), void *context)
{
    static_assert(solver_type::dualScale == KN_MATCHING_SCALE, "duals are scaled as the header says");
    graph all;
    all.reserveNode((int)problem->n_vertices);
    all.reserveEdge((int)problem->n_edges);
    for (uint32_t v = 0; v < problem->n_vertices; v++) all.addNode();
    for (size_t e = 0; e < problem->n_edges; e++)
        all.addEdge(graph::nodeFromId((int)problem->edges[e].a), graph::nodeFromId((int)problem->edges[e].b));
    weights weight(problem->edges, stop, context);
    solver_type solver(all, weight);
    if (!solve(solver)) return KN_NOT_MET;
    for (size_t e = 0; e < problem->n_edges; e++) out->used[e] = solver.matching(graph::edgeFromId((int)e));
    for (uint32_t v = 0; v < problem->n_vertices; v++) out->dual[v] = solver.nodeValue(graph::nodeFromId((int)v));
    take_blossoms(out, solver, problem->n_vertices);
    return KN_OK;
}

} // namespace

kn_status kn_lemon_find(kn_matching *out, const kn_matching_problem *problem, bool (*stop)(void *context),
                        void *context)
{
    try {
        return problem->perfect ? find<heaviest_perfect>(out, problem, stop, context)
                                : find<heaviest>(out, problem, stop, context);
    } catch (const interrupted &) {
        return KN_INTERRUPTED;
    } catch (const std::bad_alloc &) {
        return KN_RESOURCES;
    }
}
