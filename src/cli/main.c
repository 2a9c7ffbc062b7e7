/* The command line: words to settings, one job, its text and its exit code. Data goes to standard output, everything
 * else to standard error. */
#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* So many bytes of a text, or fewer, so that no character is cut; for "%.*s". */
static int most_of(const char *text, int n_bytes)
{
    if (strlen(text) <= (size_t)n_bytes) return n_bytes;
    while (n_bytes > 0 && ((unsigned char)text[n_bytes] & 0xC0) == 0x80) n_bytes--;
    return n_bytes;
}

static kn_status run_generate(kn_result **out, const kn_settings *settings, kn_error *err);

const cli_command cli_commands[] = {
    {KN_COMMAND_ANONYMIZE,
     "anonymize",
     "DATA",
     "Release a table in which everybody hides among at least k",
     1,
     1,
     {"data"},
     kn_anonymize,
     CLI_SUMMARY,
     "kanon anonymize people.csv -k 5 --qi age,zip,sex --sensitive diagnosis -o release.csv"},
    {KN_COMMAND_VERIFY,
     "verify",
     "RELEASE",
     "Check a released table, ours or not, by recounting it",
     1,
     1,
     {"release"},
     kn_verify,
     CLI_VERDICT,
     "kanon verify release.csv --original people.csv -k 5 --qi age,zip,sex --sensitive diagnosis"},
    {KN_COMMAND_MEASURE,
     "measure",
     "DATA RELEASE",
     "Tell what a release lost, by every measure",
     2,
     2,
     {"data", "release"},
     kn_measure_files,
     CLI_DATA,
     "kanon measure people.csv release.csv --qi age,zip,sex --sensitive diagnosis"},
    {KN_COMMAND_LATTICE,
     "lattice",
     "DATA",
     "List every full-domain generalization with what it costs",
     1,
     1,
     {"data"},
     kn_lattice_nodes,
     CLI_SUMMARY,
     "kanon lattice people.csv -k 5 --qi age,zip,sex --sensitive diagnosis -o nodes.csv"},
    {KN_COMMAND_RISK,
     "risk",
     "DATA",
     "Tell who could be found in a table or a release, and how",
     1,
     1,
     {"data"},
     kn_risk,
     CLI_DATA,
     "kanon risk people.csv --qi age,zip,sex --sensitive diagnosis --population 0.05"},
    {KN_COMMAND_COMPARE,
     "compare",
     "DATA",
     "Compare algorithms and k on one table: loss against risk",
     1,
     1,
     {"data"},
     kn_compare_runs,
     CLI_DATA,
     "kanon compare people.csv --qi age,zip,sex --algorithms mondrian,optimal -k 2,5,10 --report compare.html"},
    {KN_COMMAND_PROFILE,
     "profile",
     "DATA",
     "Suggest types, roles and a policy for a table",
     1,
     1,
     {"data"},
     kn_profile,
     CLI_SUMMARY,
     "kanon profile people.csv -o policy.yaml"},
    {KN_COMMAND_CHECK,
     "check",
     "DATA",
     "Check a policy against a table; nothing is written",
     1,
     1,
     {"data"},
     kn_check_policy,
     CLI_VERDICT,
     "kanon check people.csv -p policy.yaml"},
    {KN_COMMAND_LIST,
     "list",
     "algorithms|measures|models|hierarchies",
     "Show what there is to choose from",
     1,
     1,
     {"what"},
     kn_list,
     CLI_DATA,
     "kanon list algorithms"},
    {KN_COMMAND_HIERARCHY,
     "hierarchy",
     "make|check|show|rectify FILE|DATA",
     "Make, check, draw or rectify a generalization hierarchy",
     2,
     2,
     {"what", "data"},
     kn_hierarchy,
     CLI_DATA,
     "kanon hierarchy make people.csv --hierarchy 'age=intervals(5,10,20)' -o age.csv"},
    {KN_COMMAND_GENERATE,
     "generate",
     "man|bash|zsh|fish",
     "Print the manual page or a shell's completions",
     1,
     1,
     {"what"},
     run_generate,
     CLI_DATA,
     "kanon generate bash > /etc/bash_completion.d/kanon"},
};
const size_t cli_n_commands = sizeof cli_commands / sizeof *cli_commands;

static volatile int cancel_requests;
static const char *first_word = ""; /* of the command, for what the program itself prints */

static void on_signal(int number)
{
    (void)number;
    cancel_requests++;
}

static kn_status run_generate(kn_result **out, const kn_settings *settings, kn_error *err)
{
    *out = NULL;
    if (cli_generate(stdout, first_word)) return KN_OK;
    snprintf(err->message, sizeof err->message, "generate what? '%.*s' is none of man, bash, zsh, fish",
             most_of(first_word, 40), first_word);
    return KN_USAGE;
}

typedef struct taken_flag {
    const kn_option *option;
    const char *value;
} taken_flag;

typedef struct cli_words {
    const cli_command *command;
    kn_settings *settings;
    unsigned n_arguments;
    bool help, quiet, verbose;
    bool has_sql;      /* which stands for DATA */
    bool stdout_taken; /* by --json - or -o -: the text for people then goes to standard error */
    cli_when color, progress;
    taken_flag *taken; /* so far, with room for one per argument of the program */
    size_t n_taken;
} cli_words;

static int usage(const cli_command *command, const char *format, const char *word)
{
    fputs("kanon: ", stderr);
    fprintf(stderr, format, word);
    fprintf(stderr, "\nTry 'kanon %s%s--help'.\n", command != NULL ? command->name : "", command != NULL ? " " : "");
    return KN_USAGE;
}

static int unknown_option(const cli_command *command, const char *word)
{
    char name[64] = "", format[128];
    size_t n = word[1] == '-' ? strcspn(word + 2, "=") : 0;
    if (n < sizeof name) memcpy(name, word + 2, n);
    const char *near = n > 0 ? kn_option_nearest(name, command->id) : NULL;
    snprintf(format, sizeof format, "there is no option '%%s' here%s%s%s", near != NULL ? " (did you mean '--" : "",
             near != NULL ? near : "", near != NULL ? "'?)" : "");
    return usage(command, format, word);
}

static cli_when parse_when(const char *value)
{
    return strcmp(value, "always") == 0 ? CLI_ALWAYS : strcmp(value, "never") == 0 ? CLI_NEVER : CLI_AUTO;
}

static const kn_option *find_option(const cli_command *command, const char *name, size_t n_bytes, char letter)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    for (size_t i = 0; i < n; i++) {
        if ((options[i].commands & command->id) == 0) continue;
        if (letter != '\0' ? options[i].letter == letter
                           : strlen(options[i].name) == n_bytes && memcmp(options[i].name, name, n_bytes) == 0)
            return &options[i];
    }
    return NULL;
}

static kn_status apply(cli_words *words, const kn_option *option, const char *value, kn_error *err)
{
    if (strcmp(option->name, "help") == 0) words->help = true;
    if (strcmp(option->name, "quiet") == 0) words->quiet = true;
    if (strcmp(option->name, "verbose") == 0) words->verbose = true;
    if ((strcmp(option->name, "json") == 0 || strcmp(option->name, "output") == 0) && strcmp(value, "-") == 0)
        words->stdout_taken = true;
    if (strcmp(option->name, "color") == 0) words->color = parse_when(value);
    if (strcmp(option->name, "progress") == 0) words->progress = parse_when(value);
    if (strcmp(option->name, "version") == 0) {
        printf("kanon %s\n", kn_version());
        exit(0);
    }
    bool is_file = option->argument != NULL && strcmp(option->argument, "FILE") == 0;
    if ((strcmp(option->name, "output") == 0 && strncmp(value, "table:", strlen("table:")) == 0) ||
        (is_file && strcmp(value, "text:") == 0)) {
        snprintf(err->message, sizeof err->message,
                 "--%s %.*s: the program keeps nothing in memory; a file of that name is ./%.*s", option->name,
                 most_of(value, 80), value, most_of(value, 80), value);
        return KN_USAGE;
    }
    return kn_settings_set(words->settings, option->name, value, err);
}

/* What a repeated flag adds to; of the others one value counts, and a second one would be lost. Of "COL=SPEC" each
 * column has its own; which one is meant is known beside the table only, and told there. */
static bool adds_up(const kn_option *option)
{
    static const char *const names[] = {"model", "qi", "sensitive", "identifier", "insensitive"};
    if (option->argument != NULL && strncmp(option->argument, "COL=", strlen("COL=")) == 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option->name, names[i]) == 0) return true;
    return false;
}

static bool is_list(const cli_command *command, const kn_option *option)
{
    return strcmp(option->name, "algorithms") == 0 || strcmp(option->name, "null") == 0 ||
           (strcmp(option->name, "k") == 0 && command->id == KN_COMMAND_COMPARE);
}

/* Without it the second value would count, and nobody would be told that the first is lost. */
static kn_status refuse_second(cli_words *words, const kn_option *option, const char *value, kn_error *err)
{
    for (size_t i = 0; i < words->n_taken && !adds_up(option); i++) {
        const char *first = words->taken[i].value;
        if (words->taken[i].option != option || strcmp(first, value) == 0) continue;
        snprintf(err->message, sizeof err->message, "--%s is given twice, '%.*s' and '%.*s'; give it once%s",
                 option->name, most_of(first, 80), first, most_of(value, 80), value,
                 is_list(words->command, option) ? ", with commas" : "");
        return KN_USAGE;
    }
    words->taken[words->n_taken++] = (taken_flag){option, value};
    return KN_OK;
}

/* One flag with its value; *i is moved past what it takes. Returns an exit code, 0 to go on. */
static int take_flag(cli_words *words, char **argv, int argc, int *i, kn_error *err)
{
    const char *word = argv[*i], *value = NULL;
    const kn_option *option;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        option = find_option(words->command, word + 2, n, '\0');
        if (word[2 + n] == '=') value = word + 2 + n + 1;
    } else {
        option = find_option(words->command, NULL, 0, word[1]);
        if (word[2] != '\0') value = word + 2;
    }
    if (option == NULL) return unknown_option(words->command, word);
    if (option->argument == NULL && value != NULL) return usage(words->command, "'%s' takes no value", word);
    if (option->argument != NULL && value == NULL) {
        if (*i + 1 >= argc) return usage(words->command, "'%s' needs a value", word);
        value = argv[++*i];
    }
    if (value == NULL) value = "yes";
    if (refuse_second(words, option, value, err) != KN_OK) return KN_USAGE;
    return (int)apply(words, option, value, err);
}

/* With --sql there is no DATA among the arguments. */
static void skip_data(cli_words *words)
{
    const cli_command *command = words->command;
    if (words->has_sql && words->n_arguments < command->max_arguments &&
        strcmp(command->settings[words->n_arguments], "data") == 0)
        words->n_arguments++;
}

static int take_argument(cli_words *words, const char *word, kn_error *err)
{
    if (words->n_arguments == 0) first_word = word;
    skip_data(words);
    if (words->n_arguments >= words->command->max_arguments)
        return usage(words->command, "'%s' is one argument too many", word);
    return (int)kn_settings_set(words->settings, words->command->settings[words->n_arguments++], word, err);
}

static bool asks_sql(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--sql") == 0 || strncmp(argv[i], "--sql=", strlen("--sql=")) == 0) return true;
    return false;
}

static int parse_words(cli_words *words, int argc, char **argv, kn_error *err)
{
    bool flags_over = false;
    words->has_sql = asks_sql(argc, argv);
    for (int i = 2; i < argc; i++) {
        int code;
        if (!flags_over && strcmp(argv[i], "--") == 0) {
            flags_over = true;
            continue;
        }
        if (!flags_over && argv[i][0] == '-' && argv[i][1] != '\0') code = take_flag(words, argv, argc, &i, err);
        else code = take_argument(words, argv[i], err);
        if (code != 0) return code;
    }
    if (words->help) return 0;
    skip_data(words);
    if (words->n_arguments < words->command->min_arguments)
        return usage(words->command, "%s is missing", words->command->arguments);
    return 0;
}

static void print_warnings(const char *warnings)
{
    while (*warnings != '\0') {
        size_t n = strcspn(warnings, "\n");
        fputs("kanon: warning: ", stderr);
        cli_print_wrapped(stderr, warnings, n, cli_width(stderr), 16, 4);
        fputc('\n', stderr);
        warnings += n;
        if (*warnings == '\n') warnings++;
    }
}

/* A kn_note_fn. The line of the progress makes room. */
static void print_note(void *user, const char *text)
{
    cli_clear_progress(user);
    fputs("kanon: ", stderr);
    cli_print_wrapped(stderr, text, strlen(text), cli_width(stderr), 7, 4);
    fputc('\n', stderr);
}

/* On one terminal a verdict stands above its error, and has said the details. Elsewhere the two may be read apart. */
static void point_above(kn_error *err, FILE *verdict)
{
    char *details = strstr(err->message, ": ");
    if (details == NULL || !isatty(fileno(verdict)) || !isatty(STDERR_FILENO)) return;
    snprintf(details, (size_t)(err->message + sizeof err->message - details), "; see above");
}

static int run_command(cli_words *words, kn_error *err)
{
    kn_result *result = NULL;
    cli_progress progress = {.began = cli_seconds()};
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* While files are written a closed pipe is an error of write(), reported like a full disk. Text for a reader who
     * has seen enough, as in `| head`, ends quietly as everywhere else. */
    if (words->command->id != KN_COMMAND_GENERATE) signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so is a file that grows beyond the limit of `ulimit -f` */
    kn_settings_on_cancel(words->settings, &cancel_requests);
    kn_settings_text_width(words->settings, cli_width(stdout));
    if (words->progress == CLI_ALWAYS || (words->progress == CLI_AUTO && !words->quiet && isatty(STDERR_FILENO)))
        kn_settings_on_progress(words->settings, cli_show_progress, &progress);
    if (words->verbose) kn_settings_on_note(words->settings, print_note, &progress);

    kn_status status = words->command->run(&result, words->settings, err);
    cli_clear_progress(&progress);
    signal(SIGPIPE, SIG_DFL);
    if (result != NULL) {
        const cli_text text = words->command->text;
        FILE *to = text != CLI_SUMMARY && !words->stdout_taken ? stdout : stderr;
        const bool is_wanted = text == CLI_VERDICT ? status != KN_OK : to == stdout;
        if (!words->quiet) print_warnings(kn_result_warnings(result));
        if (!words->quiet || is_wanted)
            cli_print_text(to, kn_result_text(result), cli_use_color(to, words->color), cli_width(to));
        if (text == CLI_VERDICT && status == KN_NOT_MET) point_above(err, to);
    }
    kn_result_free(result);
    return (int)status;
}

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (strcmp(cli_commands[i].name, name) == 0) return &cli_commands[i];
    return NULL;
}

/* A slip behind the first letters: `anonymise`, `verfiy`. NULL: no command begins like that. */
static const char *nearest_command(const char *name)
{
    size_t most = 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < cli_n_commands; i++) {
        size_t n = 0;
        while (name[n] != '\0' && name[n] == cli_commands[i].name[n]) n++;
        if (n > most) nearest = cli_commands[i].name, most = n;
    }
    return nearest;
}

static int unknown_command(const char *name)
{
    char format[128];
    const char *near = nearest_command(name);
    snprintf(format, sizeof format, "there is no command '%%s'%s%s%s", near != NULL ? " (did you mean '" : "",
             near != NULL ? near : "", near != NULL ? "'?)" : "");
    return usage(NULL, format, name);
}

/* A file that we open must not become standard output because the caller closed it. Writing there then fails. */
static void open_missing_streams(void)
{
    static const char *const stand_ins[] = {"/dev/null", "/dev/full", "/dev/null"};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open(stand_ins[fd], fd == 0 ? O_RDONLY : O_WRONLY) != fd) _exit(KN_INPUT);
}

/* A core dump would hold the table. A limit of 1 byte also stops a dump that is piped to a program, which a limit of 0
 * does not; see core(5). */
static void forbid_core_dumps(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
    if (limit.rlim_max > 1) limit.rlim_max = 1;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
}

/* What was printed must have arrived. */
static int finish(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
        fputs("kanon: standard output cannot be written\n", stderr);
        code = KN_INPUT;
    }
    return code;
}

static void print_error(const kn_error *err)
{
    if (err->message[0] == '\0') return;
    fputs("kanon: ", stderr);
    cli_print_wrapped(stderr, err->message, strlen(err->message), cli_width(stderr), 7, 4);
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    kn_error err = {0};
    open_missing_streams();
    forbid_core_dumps();
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        cli_print_overview(argc < 2 ? stderr : stdout);
        return finish(argc < 2 ? KN_USAGE : KN_OK);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("kanon %s\n", kn_version());
        return 0;
    }
    cli_words words = {.command = find_command(argv[1])};
    if (words.command == NULL) return unknown_command(argv[1]);
    int code = (int)kn_settings_new(&words.settings, &err);
    words.taken = calloc((size_t)argc, sizeof *words.taken);
    if (words.taken == NULL) code = KN_RESOURCES;
    if (code == 0) code = parse_words(&words, argc, argv, &err);
    free(words.taken);
    if (code == 0 && words.quiet && words.verbose) code = usage(words.command, "%s contradict each other", "-q and -v");
    if (code == 0 && words.help) {
        cli_print_help(stdout, words.command);
    } else if (code == 0) {
        code = run_command(&words, &err);
    }
    print_error(&err);
    const kn_error *more; /* behind the first one that is wrong with the policy */
    for (size_t n = 1; (more = kn_settings_nth_problem(words.settings, n)) != NULL; n++) print_error(more);
    kn_settings_free(words.settings);
    return finish(code);
}
