/* What a model promises, in words, with what was asked of it: the text by language, parameters put into their braces.
 */
#include "report/html_parts.h"

#include "base/param.h"

#include <string.h>

const char *report_protected_column(const kn_facts *facts, const kn_model_fact *model)
{
    if (model->column != NULL || !model->protects_values || facts->tuples->n_table_sensitive == 0) return model->column;
    return facts->tuples->sensitive[0].column->name;
}

void report_model_name(kn_buffer *out, const kn_facts *facts, const kn_model_fact *model)
{
    const char *column = report_protected_column(facts, model);
    kn_buffer_text(out, model->name);
    if (column == NULL) return;
    kn_buffer_text(out, ": ");
    kn_buffer_cut(out, column, 40);
}

/* A parameter as asked for, or as it is when nobody says; NULL: neither. The column, which may be called anything,
 * stands first. *n becomes the length. */
static const char *find_parameter(const kn_model_fact *model, const kn_privacy *type, const char *name, size_t *n)
{
    const char *found = NULL;
    for (const char *at = model->public_params; at != NULL; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, *n) == 0 && at[*n] == '=') found = at + *n + 1;
    for (size_t i = 0; found == NULL && i < type->n_params; i++)
        if (strlen(type->params[i].name) == *n && strncmp(type->params[i].name, name, *n) == 0)
            found = type->params[i].preset;
    if (found != NULL) *n = strcspn(found, ",");
    return found;
}

static const kn_promise *find_variant(const kn_model_fact *model, const kn_privacy *type)
{
    for (const kn_promise *variant = type->variants; variant != NULL && variant->when != NULL; variant++) {
        size_t n = strcspn(variant->when, "=");
        const char *wanted = variant->when + n + 1, *found = find_parameter(model, type, variant->when, &n);
        if (found != NULL && strlen(wanted) == n && strncmp(found, wanted, n) == 0) return variant;
    }
    return NULL;
}

/* As the language writes numbers: {l} as it is, {1/l} as a share. */
static void put_parameter(kn_buffer *out, const page *to, const kn_model_fact *model, const kn_privacy *type,
                          const char *name, size_t n)
{
    const bool is_share = n > 2 && strncmp(name, "1/", 2) == 0;
    words text;
    double number;
    if (is_share) name += 2, n -= 2;
    const char *found = find_parameter(model, type, name, &n);
    if (found == NULL || n >= sizeof text.text) return;
    memcpy(text.text, found, n);
    text.text[n] = '\0';
    const bool is_number = kn_param_number(&number, text.text);
    if (is_share && is_number && number > 0) text = page_percent(to, 1 / number);
    else if (is_number) page_decimal_sign(to, text.text);
    kn_buffer_text(out, text.text);
}

void report_promise(kn_buffer *out, const page *to, const kn_model_fact *model, const char *column)
{
    const kn_privacy *type = kn_privacy_find(model->name);
    for (const char *at = kn_promise_text(to->language, type, find_variant(model, type)); *at != '\0';) {
        size_t n = strcspn(at, "{");
        kn_buffer_append(out, at, n);
        at += n;
        if (*at == '\0') break;
        n = strcspn(++at, "}");
        if (strncmp(at, "column}", strlen("column}")) == 0) kn_buffer_text(out, column != NULL ? column : "?");
        else put_parameter(out, to, model, type, at, n);
        at += n + 1;
    }
}
