/* Parsing and checking "name=value,..." against a parameter table. */
#include "base/param.h"
#include "base/words.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool word_index(const char *choices, const char *word, size_t n_bytes, size_t *index)
{
    *index = 0;
    for (const char *start = choices; *start != '\0';) {
        size_t n = strcspn(start, "|");
        if (n == n_bytes && memcmp(start, word, n) == 0) return true;
        start += n;
        if (*start == '|') start++;
        (*index)++;
    }
    return false;
}

bool kn_param_number(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && text[strspn(text, "+-.0123456789eE")] == '\0';
}

static kn_status set_value(kn_arg *arg, const char *owner, const kn_param *param, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    size_t index;
    switch (param->type) {
    case KN_PARAM_INT:
    case KN_PARAM_NUMBER:
        if (!kn_param_number(&arg->number, text) || arg->number < param->min || arg->number > param->max ||
            (param->type == KN_PARAM_INT && arg->number != floor(arg->number)))
            KN_FAIL(KN_USAGE, "%s: %s=%.40s is not a %s from %.10g to %.10g", owner, param->name, text,
                    param->type == KN_PARAM_INT ? "whole number" : "number", param->min, param->max);
        break;
    case KN_PARAM_BOOL:
        if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
            KN_FAIL(KN_USAGE, "%s: %s=%.40s is neither yes nor no", owner, param->name, text);
        arg->number = strcmp(text, "yes") == 0;
        break;
    case KN_PARAM_CHOICE:
        if (!word_index(param->choices, text, strlen(text), &index))
            KN_FAIL(KN_USAGE, "%s: %s=%.40s is none of %s", owner, param->name, text, param->choices);
        arg->number = (double)index;
        break;
    case KN_PARAM_TEXT:
        if (*text == '\0') KN_FAIL(KN_USAGE, "%s: %s= needs a value (%s)", owner, param->name, param->help);
        break;
    }
    kn_free((void *)arg->text);
    arg->text = kn_string_copy(text, strlen(text), err);
    if (arg->text == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    arg->given = true;
done:
    return status;
}

kn_status kn_param_check(const char *owner, const kn_param *param, const char *text, kn_error *err)
{
    kn_arg arg = {0};
    kn_status status = set_value(&arg, owner, param, text, err);
    kn_free((void *)arg.text);
    return status;
}

static kn_status parse_items(kn_args *args, const char *text, char *item, kn_error *err)
{
    kn_status status = KN_OK;
    while (kn_words_next(item, &text)) {
        char *value = strchr(item, '=');
        if (value == NULL) KN_FAIL(KN_USAGE, "%s: '%.40s' is not name=value", args->owner, item);
        *value++ = '\0';
        size_t i = 0;
        while (i < args->n && strcmp(args->params[i].name, item) != 0) i++;
        if (i == args->n)
            KN_FAIL(KN_USAGE, "%s has no parameter '%.40s'; 'kanon list' shows the ones it has", args->owner, item);
        if (args->values[i].chosen)
            KN_FAIL(KN_USAGE, "%s: %s is given twice, %.40s and %.40s; give it once", args->owner, item,
                    args->values[i].text, value);
        KN_TRY(set_value(&args->values[i], args->owner, &args->params[i], value, err));
        args->values[i].chosen = true;
    }
done:
    return status;
}

kn_status kn_args_parse(kn_args *out, const char *owner, const kn_param *params, size_t n_params, const char *text,
                        kn_error *err)
{
    kn_status status = KN_OK;
    char *item = NULL;
    *out = (kn_args){owner, params, n_params, NULL};
    KN_NEW(out->values, n_params);
    for (size_t i = 0; i < n_params; i++)
        if (params[i].preset != NULL) KN_TRY(set_value(&out->values[i], owner, &params[i], params[i].preset, err));
    if (text != NULL && *text != '\0') {
        KN_NEW(item, strlen(text) + 1);
        KN_TRY(parse_items(out, text, item, err));
    }
    for (size_t i = 0; i < n_params; i++)
        if (params[i].required && !out->values[i].given)
            KN_FAIL(KN_USAGE, "%s needs %s= (%s)", owner, params[i].name, params[i].help);
done:
    kn_free(item);
    if (status != KN_OK) kn_args_free(out);
    return status;
}

void kn_args_free(kn_args *args)
{
    for (size_t i = 0; args->values != NULL && i < args->n; i++) kn_free((void *)args->values[i].text);
    kn_free(args->values);
    *args = (kn_args){0};
}

const kn_arg *kn_args_get(const kn_args *args, const char *name)
{
    for (size_t i = 0; i < args->n; i++)
        if (strcmp(args->params[i].name, name) == 0) return &args->values[i];
    assert(!"the entry has a parameter of that name");
    return NULL;
}

double kn_args_number(const kn_args *args, const char *name) { return kn_args_get(args, name)->number; }

const char *kn_args_text(const kn_args *args, const char *name)
{
    const kn_arg *arg = kn_args_get(args, name);
    return arg->given ? arg->text : NULL;
}

bool kn_args_is(const kn_args *args, const char *name, const char *choice)
{
    const char *text = kn_args_text(args, name);
    return text != NULL && strcmp(text, choice) == 0;
}
