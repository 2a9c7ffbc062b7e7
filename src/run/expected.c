/* What comes after the search is work per cell, as reading is: the release is sorted and written, both files are read
 * and compared by other code. So it is told from how long this run took to read a cell, on this machine, with what else
 * there is to do. A part goes by all cells; another, recoding, labels and measures, by the cells of distinct tuples:
 * intervals and sets have many labels, hierarchies few. 300,000 generated people in mondrian's classes of 10, seconds
 * expected and taken: eight columns without hierarchies 8.2 and 8.6, with them 5.2 and 5.2, four without 4.4 and 3.9,
 * three with five copied columns 3.7 and 3.7. */
#include "run/expected.h"

#include <math.h>

/* In the time that it takes to read a cell; and that time where a table was in memory already. */
static const double PER_CELL = 2.1, PER_TREE_CELL = 1.2, PER_OTHER_CELL = 4.5, LEAST_SECONDS = 5e-8;

double kn_expected_after(const kn_input *input)
{
    const kn_table *table = input->table;
    double n_columns = 0;
    for (uint32_t c = 0; c < table->n_columns; c++)
        n_columns += table->columns[c].role != KN_ROLE_DROPPED && table->columns[c].role != KN_ROLE_IDENTIFIER;
    const double n_cells = table->n_rows * fmax(1, n_columns);
    const double seconds = fmax(input->seconds_read / fmax(1, n_cells), LEAST_SECONDS);
    double cells = PER_CELL * n_cells;
    for (uint32_t q = 0; q < input->n_qis; q++)
        cells += input->tuples->n_tuples * (input->domains[q]->kind == KN_DOMAIN_TREE ? PER_TREE_CELL : PER_OTHER_CELL);
    return seconds * cells;
}
