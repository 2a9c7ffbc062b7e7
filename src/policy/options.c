/* The table of options, options.def, in two views: what flags, help, completions and the man page show, and the field
 * of kn_request that each fills. */
#include "policy/settings.h"

#include "base/suggest.h"

#include <stddef.h>
#include <string.h>

enum {
    A = KN_COMMAND_ANONYMIZE,
    V = KN_COMMAND_VERIFY,
    M = KN_COMMAND_MEASURE,
    L = KN_COMMAND_LATTICE,
    R = KN_COMMAND_RISK,
    C = KN_COMMAND_COMPARE,
    P = KN_COMMAND_PROFILE,
    K = KN_COMMAND_CHECK,
    H = KN_COMMAND_HIERARCHY,
    LIST = KN_COMMAND_LIST,
    G = KN_COMMAND_GENERATE,
    ASK = A | V | M | L | R | C | K, /* commands that take a policy, and so every flag a policy may hold */
    DATA = ASK | P | H,              /* commands that read a table */
    SEARCH = A | L | C | K,          /* commands that search */
    ALL = DATA | LIST | G,
};

static const char IN_OUT[] = "Files";
static const char COLUMNS[] = "Columns";
static const char PROTECT[] = "Protection";
static const char METHOD[] = "Search";
static const char CSV[] = "Table format";
static const char TERMINAL[] = "Terminal";

static const kn_option options[] = {
#define KN_ARGUMENT(name, field)
#define KN_OPTION(name, letter, argument, group, commands, field, help) {name, letter, argument, group, help, commands},
#include "policy/options.def"
};

/* Where the field is; it does not compile for a field of another type. */
#define AT(f, type) .offset = offsetof(kn_request, f) + 0 * sizeof(_Generic(((kn_request *)0)->f, type : 0))

#define NO_FIELD                           .kind = KN_FIELD_NONE
#define FLAG(f)                            .kind = KN_FIELD_FLAG, AT(f, bool)
#define TEXT(f)                            TEXT_OR(f, NULL)
#define TEXT_OR(f, preset_text)            .kind = KN_FIELD_TEXT, .preset.text = preset_text, AT(f, const char *)
#define TABLE(f)                           .is_table = true, TEXT(f)
#define CHOICE(f)                          .kind = KN_FIELD_CHOICE, AT(f, unsigned)
#define BOUNDS(preset_number, least, most) .preset.number = preset_number, .min = least, .max = most
#define NUMBER(f, preset, min, max)        .kind = KN_FIELD_NUMBER, BOUNDS(preset, min, max), AT(f, double)
#define WHOLE(f, preset, min, max)         .kind = KN_FIELD_WHOLE, BOUNDS(preset, min, max), AT(f, uint64_t)
#define BYTES(f, preset, min, max)         .kind = KN_FIELD_BYTES, BOUNDS(preset, min, max), AT(f, size_t)
#define LIST(f)                            .kind = KN_FIELD_LIST, AT(f, kn_words)
#define CHARACTER(f)                       .kind = KN_FIELD_CHARACTER, AT(f, char)
#define ROWS(f)                            .kind = KN_FIELD_ROWS, AT(f, kn_row_limit)
#define POPULATION(f)                      .is_table = true, .kind = KN_FIELD_POPULATION, AT(f, kn_population_asked)
#define ROLE(column_role)                  .kind = KN_FIELD_ROLE, .role = column_role
#define DETAIL                             .kind = KN_FIELD_DETAIL, .offset = SIZE_MAX
#define COUNTED_DETAIL(f)                  .kind = KN_FIELD_DETAIL, AT(f, size_t)

static const kn_field fields[] = {
#define KN_ARGUMENT(option_name, field) {.option = option_name, .is_bare = true, field},
#define KN_OPTION(option_name, letter, shown, group, commands, field, help)                                            \
    {.option = option_name, .argument = shown, field},
#include "policy/options.def"
};

const kn_option *kn_options(size_t *n)
{
    *n = sizeof options / sizeof *options;
    return options;
}

const char *kn_option_nearest(const char *name, unsigned commands)
{
    enum { LONGEST = 64 };
    const char *names[sizeof options / sizeof *options];
    char dashed[LONGEST] = "";
    size_t n = 0, n_bytes = strlen(name);
    if (n_bytes >= LONGEST) return NULL;
    for (size_t i = 0; i < n_bytes; i++) dashed[i] = name[i] == '_' ? '-' : name[i];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if ((options[i].commands & commands) != 0) names[n++] = options[i].name;
    return kn_suggest(dashed, names, n);
}

const kn_field *kn_fields(size_t *n)
{
    *n = sizeof fields / sizeof *fields;
    return fields;
}

const kn_field *kn_field_find(const char *option)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].option, option) == 0) return &fields[i];
    return NULL;
}
