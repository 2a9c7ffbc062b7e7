/* Help from the tables of commands and options. */
#include "cli.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 32, GOES_ON_COLUMN = 6 };

/* Text in lines of the terminal's usual width, parted at `gap`, whose first character is a blank, and going on at
 * `indent`; `mark` stands at the ends of lines that go on below. */
static void print_wrapped(FILE *to, const char *text, size_t column, size_t indent, const char *gap, const char *mark)
{
    for (bool is_first = true; *text != '\0'; is_first = false) {
        const char *end = strstr(text, gap);
        const size_t n = end != NULL ? (size_t)(end - text) : strlen(text), n_mark = end != NULL ? strlen(mark) : 0;
        if (!is_first && column + 1 + n + n_mark > WIDTH) {
            fprintf(to, "%s\n%*s", mark, (int)indent, "");
            column = indent;
        } else if (!is_first) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, n, to);
        column += n;
        text += n + (end != NULL);
    }
    fputc('\n', to);
}

/* As a shell takes it, on one line or on several, which begin with options. */
static void print_example(FILE *to, const char *command)
{
    fputs("\n  ", to);
    print_wrapped(to, command, 2, GOES_ON_COLUMN, " -", " \\");
}

void cli_print_overview(FILE *to)
{
    fprintf(to, "kanon %s: anonymize a table so that everybody in it hides among at least k\n", kn_version());
    print_example(to, "kanon anonymize people.csv -k 5 --qi age,zip,sex --sensitive diagnosis -o release.csv");
    fputs("\nCommands\n", to);
    for (size_t i = 0; i < cli_n_commands; i++)
        fprintf(to, "  %-10s  %s\n", cli_commands[i].name, cli_commands[i].summary);
    fputs("\n'kanon COMMAND --help' tells about one of them.\n", to);
    print_wrapped(to,
                  "Exit: 0 done, 1 guarantee not met, 2 usage or policy, 3 input or I/O, 4 resources, 130 interrupted.",
                  0, GOES_ON_COLUMN, " ", "");
}

static void print_option(FILE *to, const kn_option *option)
{
    char flag[80];
    int n = snprintf(flag, sizeof flag, "  %c%c%s --%s%s%s", option->letter != '\0' ? '-' : ' ',
                     option->letter != '\0' ? option->letter : ' ', option->letter != '\0' ? "," : " ", option->name,
                     option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    if (n + 2 > HELP_COLUMN) fprintf(to, "%s\n%*s", flag, HELP_COLUMN, "");
    else fprintf(to, "%-*s", HELP_COLUMN, flag);
    print_wrapped(to, option->help, HELP_COLUMN, HELP_COLUMN, " ", "");
}

void cli_print_help(FILE *to, const cli_command *command)
{
    fprintf(to, "kanon %s %s [options]\n\n%s.\n", command->name, command->arguments, command->summary);
    if (command->example != NULL) print_example(to, command->example);
    size_t n;
    const kn_option *options = kn_options(&n);
    const char *group = "";
    for (size_t i = 0; i < n; i++) {
        if ((options[i].commands & command->id) == 0) continue;
        if (strcmp(options[i].group, group) != 0) fprintf(to, "\n%s\n", group = options[i].group);
        print_option(to, &options[i]);
    }
}
