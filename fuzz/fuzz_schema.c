/* Any bytes as the schema of somebody else's release: refused with a message, or columns with types and labels for a
 * small table; the lines that are made of its labels are a hierarchy of the column, or that is refused with a message.
 */
#include "fuzz.h"
#include "hierarchy/build.h"
#include "policy/settings.h"
#include "run/schema_read.h"
#include "small_table.h"

#include <string.h>

static void check_column(const kn_schema *schema, const kn_column *column, const kn_column_choice *choice)
{
    for (int masks = 0; masks < 2; masks++) {
        kn_error err = {0};
        kn_domain *domain;
        char *text;
        kn_hierarchy_request request = {
            .spec = choice->hierarchy, .must_be_tree = true, .weight = 1, .max_level = KN_NONE, .grid = choice->grid};
        const kn_status status =
            kn_schema_lines(&text, &request.n_text_bytes, schema, column->name, column, masks == 1, &err);
        require(status == KN_OK || (text == NULL && err.message[0] != '\0'));
        if (status != KN_OK) continue;
        require(text == NULL || strlen(text) == request.n_text_bytes);
        request.text = text;
        if (text != NULL) request.spec = "the labels of the schema";
        if (kn_domain_build(&domain, column, "small.csv", SMALL_ROWS, &request, &err) != KN_OK)
            require(domain == NULL && err.message[0] != '\0');
        kn_domain_free(domain);
        kn_free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static small_table small;
    static memory_file file;
    static kn_settings *settings;
    const char *names[SMALL_QIS];
    kn_column_choice choices[SMALL_QIS] = {{0}};
    kn_error err = {0};
    kn_schema *schema;
    if (settings == NULL) {
        keep_begin();
        small_table_make(&small, "k-anonymity:k=2", "lm", 0);
        require(kn_settings_new(&settings, NULL) == KN_OK);
        keep_end();
    }
    memory_file_write(&file, data, size);
    if (kn_schema_read(&schema, file.path, NULL, &err) != KN_OK) {
        require(schema == NULL && err.message[0] != '\0');
        return 0;
    }
    kn_csv_options csv = {0};
    kn_schema_reading(&csv, schema);
    for (uint32_t c = 0; c < SMALL_QIS; c++) names[c] = small.table->columns[c].name;
    for (uint32_t c = 0; c < SMALL_QIS; c++) choices[c].type = small.table->columns[c].type;
    kn_schema_apply(choices, names, SMALL_QIS, schema, settings);
    for (uint32_t c = 0; c < SMALL_QIS; c++) {
        bool included;
        kn_schema_has_bounds(&included, schema, names[c]);
        check_column(schema, &small.table->columns[c], &choices[c]);
    }
    kn_schema_free(schema);
    return 0;
}
