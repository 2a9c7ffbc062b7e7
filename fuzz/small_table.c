#include "small_table.h"

#include "hierarchy/build.h"
#include "source/csv/csv_read.h"

#include <math.h>
#include <string.h>

static void read_table(small_table *out)
{
    kn_csv_reader *reader;
    kn_column_plan plans[SMALL_QIS] = {{.role = KN_ROLE_QUASI}, {.role = KN_ROLE_QUASI}, {.role = KN_ROLE_QUASI}};
    plans[1].type = KN_TYPE_TEXT;
    memory_file_write(&out->file, SMALL_CSV, strlen(SMALL_CSV));
    require(kn_csv_open(&reader, out->file.path, &(kn_csv_options){.delimiter = ','}, NULL) == KN_OK);
    require(kn_csv_read(&out->table, reader, plans, NULL, NULL, NULL) == KN_OK);
    kn_csv_close(reader);
}

void small_table_make(small_table *out, const char *model, const char *measure, uint64_t max_suppressed)
{
    static const char *const specs[SMALL_QIS] = {NULL, SMALL_TREE_SPEC, NULL};
    *out = (small_table){0};
    read_table(out);
    for (uint32_t q = 0; q < SMALL_QIS; q++) {
        const kn_hierarchy_request request = {.spec = specs[q], .weight = 1, .max_level = KN_NONE};
        require(kn_domain_build(&out->domains[q], &out->table->columns[q], "small.csv", SMALL_ROWS, &request, NULL) ==
                KN_OK);
    }
    require(kn_tuples_new(&out->tuples, out->table, out->domains, SMALL_QIS, NULL, NULL, NULL) == KN_OK);
    require(kn_models_new(&out->models, &model, 1, out->tuples, NULL) == KN_OK);
    require(kn_objective_new(&out->objective, measure, out->tuples, NULL) == KN_OK);
    out->task = (kn_task){.tuples = out->tuples,
                          .models = out->models,
                          .objective = out->objective,
                          .args = &out->args,
                          .max_suppressed = max_suppressed,
                          .seed = 1};
}

/* --- The best release ----------------------------------------------------------------------------------------------
 */

/* What the rows of a class, a bit each, lose together. */
static double class_price(const small_table *small, uint32_t members)
{
    double price = 0;
    for (uint32_t q = 0; q < SMALL_QIS; q++) {
        uint32_t codes[SMALL_ROWS], n = 0;
        kn_set_pool *sets;
        kn_cell cell;
        for (uint32_t row = 0; row < SMALL_ROWS; row++)
            if (members >> row & 1) codes[n++] = small->tuples->codes[q][small->tuples->row_tuple[row]];
        require(kn_set_pool_new(&sets, NULL) == KN_OK);
        require(kn_domain_closure(&cell, small->domains[q], sets, codes, n, NULL) == KN_OK);
        price += n * kn_objective_price(small->objective, sets, q, &cell);
        kn_set_pool_free(sets);
    }
    return price;
}

static double root_price(const small_table *small)
{
    double price = 0;
    for (uint32_t q = 0; q < SMALL_QIS; q++) {
        const kn_cell root = kn_domain_root(small->domains[q]);
        price += kn_objective_price(small->objective, NULL, q, &root);
    }
    return price;
}

/* The rows in `left` as classes of k and suppressed rows, as cheaply as can be. */
static double cheapest(const small_table *small, const double *price, uint32_t left, uint32_t k, uint64_t may_go)
{
    if (left == 0) return 0;
    const uint32_t first = left & (~left + 1);
    double least =
        may_go > 0 ? root_price(small) + cheapest(small, price, left & ~first, k, may_go - 1) : (double)INFINITY;
    for (uint32_t others = left & ~first, set = others;; set = (set - 1) & others) {
        const uint32_t class = set | first;
        if ((uint32_t)__builtin_popcount(class) >= k) {
            const double here = price[class] + cheapest(small, price, left & ~class, k, may_go);
            if (here < least) least = here;
        }
        if (set == 0) break;
    }
    return least;
}

double small_table_optimum(const small_table *small, uint32_t k)
{
    double price[1 << SMALL_ROWS] = {0}, weights = 0;
    for (uint32_t set = 1; set < 1u << SMALL_ROWS; set++) price[set] = class_price(small, set);
    for (uint32_t q = 0; q < SMALL_QIS; q++) weights += small->domains[q]->weight;
    const double least = cheapest(small, price, (1u << SMALL_ROWS) - 1, k, small->task.max_suppressed);
    return least / weights / SMALL_ROWS;
}
