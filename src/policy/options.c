/* The table of options: flags, help, completions and the man page come from here. */
#include "policy/settings.h"

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
    {"policy", 'p', "FILE", IN_OUT, "policy file (YAML); flags override it", ASK},
    {"output", 'o', "FILE", IN_OUT, "where the result goes; - is standard output, the default", A | L | C | P | H},
    {"report", 0, "FILE", IN_OUT, "also write an HTML report", A | L | R | C},
    {"json", 0, "FILE", IN_OUT, "also write the result as JSON; - is standard output",
     A | V | M | L | R | C | K | LIST | P},
    {"schema", 0, "FILE", IN_OUT, "also write the released columns, types and labels as JSON", A},
    {"original", 0, "FILE", IN_OUT, "the table the release was made from", V},
    {"order", 0, "sorted|input", IN_OUT, "order of the released rows; input keeps the original's", A | V},
    {"guard-formulas", 0, NULL, IN_OUT, "put ' before released cells and names that a spreadsheet would execute",
     A | V | M},
    {"language", 0, "en|de", IN_OUT, "language of the report", A | L | R | C},

    {"qi", 0, "a,b", COLUMNS, "quasi-identifiers: generalized", ASK | H},
    {"sensitive", 0, "c", COLUMNS, "sensitive: copied, protected by models", ASK},
    {"identifier", 0, "d", COLUMNS, "identifiers: never leave", ASK},
    {"insensitive", 0, "e", COLUMNS, "insensitive: copied", ASK},
    {"unlisted", 0, "error|drop|insensitive", COLUMNS,
     "columns without a role (default: error with a policy, drop without; verify: not to be released)", ASK},
    {"person", 0, "COL", COLUMNS, "column that tells persons apart: classes count persons, not rows", ASK},
    {"type", 0, "COL=TYPE", COLUMNS, "int, decimal, date or text instead of what the cells look like", DATA},
    {"hierarchy", 0, "COL=FILE|SPEC", COLUMNS,
     "suppress, intervals(5,10), mask(right), mask(left), date(month,year), order(a<b), auto, or a file", ASK | H},
    {"level", 0, "COL=MIN..MAX", COLUMNS, "lowest and highest level of a column's hierarchy", SEARCH},
    {"weight", 0, "COL=W", COLUMNS, "weight of a column in sums over columns (default 1)", A | M | L | C},
    {"missing", 0, "value|wildcard", COLUMNS, "what a missing cell is: a value of its own, or any value", ASK},

    {"k", 'k', "N", PROTECT, "short for --model k-anonymity:k=N", ASK},
    {"model", 0, "NAME[:param=v,...]", PROTECT, "privacy model; may be repeated (kanon list models)", ASK},
    {"fold-sensitive", 0, NULL, PROTECT, "sensitive values that differ by case or blanks around them count as one",
     ASK},
    {"allow-copy", 0, NULL, PROTECT, "copy a column although it stands one-to-one with a quasi-identifier", A | K},
    {"max-suppressed", 0, "N|P%", PROTECT, "rows that may be suppressed (default 0)", ASK},
    {"population", 0, "FRACTION|FILE", PROTECT, "sampling fraction, or a file of the whole population", R},
    {"attack", 0, "FILE", PROTECT, "a file with names to link to the release", R},
    {"threshold", 0, "P", PROTECT, "risk above which a person counts as exposed (default 0.09)", A | R},

    {"algorithm", 0, "NAME[:param=v,...]", METHOD, "search (kanon list algorithms)", ASK},
    {"algorithms", 0, "a,b,c", METHOD, "searches to compare", C},
    {"recoding", 0, "local|global", METHOD, "what auto may choose from (default local)", ASK},
    {"measure", 0, "NAME", METHOD, "what to minimize (default lm; kanon list measures)", ASK},
    {"explain", 0, NULL, METHOD, "tell what the algorithm did", A},
    {"effort", 0, "N", METHOD, "work units of the search (default: until it stands still, or by size)", SEARCH},
    {"time-limit", 0, "S", METHOD, "seconds after which the search returns its best", SEARCH},
    {"seed", 0, "N", METHOD, "seed of everything random (default 1)", SEARCH},
    {"threads", 0, "N", METHOD, "threads (default: all cores); the result does not depend on it", DATA},
    {"memory", 0, "BYTES", METHOD, "limit of memory, with K, M or G", DATA},

    {"delimiter", 'd', "C", CSV, "cell delimiter (default: detected)", DATA},
    {"no-header", 'H', NULL, CSV, "the first line is data; columns are column1, column2, ...", DATA},
    {"null", 0, "a,b", CSV, "spellings of a missing cell (default: the empty cell)", DATA},
    {"encoding", 0, "utf-8|latin-1|utf-16", CSV, "encoding of the table", DATA},
    {"trim", 0, NULL, CSV, "remove blanks around cells", DATA},

    {"color", 0, "auto|always|never", TERMINAL, "colour (default auto; NO_COLOR is honoured)", ALL},
    {"progress", 0, "auto|always|never", TERMINAL, "progress of long work (default auto)", ALL},
    {"redact", 0, NULL, TERMINAL, "no value of the data in any message; columns that you do not name are #1, #2, ...",
     ALL},
    {"quiet", 'q', NULL, TERMINAL, "errors only", ALL},
    {"verbose", 'v', NULL, TERMINAL, "more detail", ALL},
    {"help", 'h', NULL, TERMINAL, "this help", ALL},
    {"version", 'V', NULL, TERMINAL, "the version", ALL},
};

const kn_option *kn_options(size_t *n)
{
    *n = sizeof options / sizeof *options;
    return options;
}
