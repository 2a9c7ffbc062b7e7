/* Help from the tables of commands and options. */
#include "cli.h"

#include <string.h>

void cli_print_overview(FILE *to)
{
    fprintf(to,
            "kanon %s: anonymize a table about people so that everybody hides among at least k\n\n"
            "  kanon anonymize people.csv -k 5 --qi age,zip,sex --sensitive diagnosis -o release.csv\n\n"
            "Commands\n",
            kn_version());
    for (size_t i = 0; i < cli_n_commands; i++)
        fprintf(to, "  %-10s  %s\n", cli_commands[i].name, cli_commands[i].summary);
    fputs("\n'kanon COMMAND --help' tells about one of them.\n"
          "Exit: 0 done, 1 guarantee not met, 2 usage or policy, 3 input or I/O, 4 resources, 130 interrupted.\n",
          to);
}

static void print_wrapped(FILE *to, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text != '\0') {
        size_t n = strcspn(text, " ");
        if (column + n + 1 > 80 && column > indent) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, n, to);
        column += n;
        text += n;
        while (*text == ' ') text++;
    }
    fputc('\n', to);
}

static void print_option(FILE *to, const kn_option *option)
{
    enum { HELP_COLUMN = 32 };
    char flag[80];
    int n = snprintf(flag, sizeof flag, "  %c%c%s --%s%s%s", option->letter != '\0' ? '-' : ' ',
                     option->letter != '\0' ? option->letter : ' ', option->letter != '\0' ? "," : " ", option->name,
                     option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    if (n + 2 > HELP_COLUMN) fprintf(to, "%s\n%*s", flag, HELP_COLUMN, "");
    else fprintf(to, "%-*s", HELP_COLUMN, flag);
    print_wrapped(to, option->help, HELP_COLUMN);
}

void cli_print_help(FILE *to, const cli_command *command)
{
    fprintf(to, "kanon %s %s [options]\n\n%s.\n", command->name, command->arguments, command->summary);
    if (command->example != NULL) fprintf(to, "\n  %s\n", command->example);
    size_t n;
    const kn_option *options = kn_options(&n);
    const char *group = "";
    for (size_t i = 0; i < n; i++) {
        if ((options[i].commands & command->id) == 0) continue;
        if (strcmp(options[i].group, group) != 0) fprintf(to, "\n%s\n", group = options[i].group);
        print_option(to, &options[i]);
    }
}
