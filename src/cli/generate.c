/* `kanon generate`: the manual page and the completions, from the tables of commands and options. */
#include "cli.h"

#include <string.h>

/* The words of an argument such as "sorted|input" in lower case are choices. */
static bool is_choice(const char *argument)
{
    return argument != NULL && strchr(argument, '|') != NULL &&
           strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(argument);
}

static void print_replaced(FILE *to, const char *text, char from, const char *with)
{
    for (; *text != '\0'; text++) {
        if (*text == from) fputs(with, to);
        else fputc(*text, to);
    }
}

/* --- Manual --------------------------------------------------------------------------------------------------------
 */

static void print_roff(FILE *to, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", to);
    for (; *text != '\0'; text++) {
        if (*text == '-') fputs("\\-", to);
        else if (*text == '\\') fputs("\\e", to);
        else fputc(*text, to);
    }
}

static void man_options(FILE *to)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    const char *group = "";
    fputs(".SH OPTIONS\nEach command takes those that its own help lists.\n", to);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(options[i].group, group) != 0) fprintf(to, ".SS %s\n", group = options[i].group);
        fputs(".TP\n", to);
        if (options[i].letter != '\0') fprintf(to, "\\fB\\-%c\\fR, ", options[i].letter);
        fputs("\\fB\\-\\-", to);
        print_roff(to, options[i].name);
        fputs("\\fR", to);
        if (options[i].argument != NULL) {
            fputs(" \\fI", to);
            print_roff(to, options[i].argument);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        print_roff(to, options[i].help);
        fputs(".\n", to);
    }
}

static void print_man(FILE *to)
{
    fprintf(to, ".TH KANON 1 \"\" \"kanon %s\" \"User Commands\"\n.SH NAME\nkanon \\- anonymize tables about people\n",
            kn_version());
    fputs(".SH SYNOPSIS\n", to);
    for (size_t i = 0; i < cli_n_commands; i++) {
        fprintf(to, "%s\\fBkanon %s\\fR ", i > 0 ? ".br\n" : "", cli_commands[i].name);
        print_roff(to, cli_commands[i].arguments);
        fputs(" [options]\n", to);
    }
    fputs(".SH DESCRIPTION\nTakes a table about people and returns the release that loses the least information while "
          "every\n"
          "person hides among at least k. The written file is read back and recounted before it takes its place.\n"
          ".SH COMMANDS\n",
          to);
    for (size_t i = 0; i < cli_n_commands; i++) {
        fprintf(to, ".TP\n\\fB%s\\fR\n", cli_commands[i].name);
        print_roff(to, cli_commands[i].summary);
        fputs(".\n", to);
        if (cli_commands[i].example == NULL) continue;
        fputs(".IP\n.EX\n", to);
        print_roff(to, cli_commands[i].example);
        fputs("\n.EE\n", to);
    }
    man_options(to);
    fputs(
        ".SH RELEASED VALUES\nA value as it was read; a label of its hierarchy; an interval \\fB30..39\\fR, both ends "
        "included; a set\n\\fB{a|b}\\fR; \\fB*\\fR for any value, and in every quasi-identifier of a suppressed row. "
        "Inside "
        "intervals and sets\nwhat would be ambiguous is escaped with \\fB\\e\\fR. A quasi-identifier that has the "
        "value "
        "\\fB*\\fR in the data is refused: rename\nit, or read it as a missing cell that may be any value with "
        "\\fB\\-\\-null '*' \\-\\-missing wildcard\\fR.\n",
        to);
    fputs(".SH EXIT STATUS\n0 done; 1 guarantee not met, or no release exists; 2 usage or policy; 3 input or I/O; 4 "
          "resources;\n"
          "130 interrupted.\n.SH ENVIRONMENT\n.TP\nNO_COLOR\nno colour on a terminal.\n.TP\nTMPDIR\nwhere standard "
          "input and\n"
          "output are kept while they are needed twice.\n",
          to);
}

/* --- Completions: bash, zsh and fish say the same in their own words; tests/check_completions.py types into each ---
 */

static bool takes_file(const kn_option *option)
{
    return option->argument != NULL &&
           (strncmp(option->argument, "FILE", 4) == 0 || strstr(option->argument, "|FILE") != NULL);
}

/* The words that a command's first argument is one of ("make check show"), into `words`; false where it is a file. */
static bool first_words(char words[80], const cli_command *command)
{
    size_t n = strcspn(command->arguments, " ");
    snprintf(words, 80, "%.*s", (int)n, command->arguments);
    if (!is_choice(words)) return false;
    for (char *at = words; (at = strchr(at, '|')) != NULL;) *at = ' ';
    return true;
}

static void print_bash_options(FILE *to)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    fputs("    if [[ $word == -* ]]; then\n        case ${COMP_WORDS[1]} in\n", to);
    for (size_t c = 0; c < cli_n_commands; c++) {
        fprintf(to, "        %s) COMPREPLY=($(compgen -W \"", cli_commands[c].name);
        for (size_t i = 0; i < n; i++)
            if (options[i].commands & cli_commands[c].id) fprintf(to, "--%s ", options[i].name);
        fputs("\" -- \"$word\")) ;;\n", to);
    }
    fputs("        esac\n        return\n    fi\n", to);
}

static void print_bash(FILE *to)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    char words[80];
    /* bash cuts --order=so into three words */
    fputs("# bash completion for kanon; source it, or put it into /etc/bash_completion.d/\n_kanon()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    if [ \"$word\" = = ]; then word=\n"
          "    elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"",
          to);
    for (size_t c = 0; c < cli_n_commands; c++) fprintf(to, "%s%s", c > 0 ? " " : "", cli_commands[c].name);
    fputs("\" -- \"$word\"))\n        return\n    fi\n    case $before in\n", to);
    for (size_t i = 0; i < n; i++) {
        if (options[i].argument == NULL) continue;
        fprintf(to, "    --%s", options[i].name);
        if (options[i].letter != '\0') fprintf(to, " | -%c", options[i].letter);
        fputs(") ", to);
        if (is_choice(options[i].argument)) {
            fputs("COMPREPLY=($(compgen -W \"", to);
            print_replaced(to, options[i].argument, '|', " ");
            fputs("\" -- \"$word\")); ", to);
        } else if (takes_file(&options[i])) {
            fputs("COMPREPLY=($(compgen -f -- \"$word\")); ", to);
        }
        fputs("return ;;\n", to);
    }
    fputs("    esac\n", to);
    print_bash_options(to);
    fputs("    if [ \"$COMP_CWORD\" -eq 2 ]; then\n        case $before in\n", to);
    for (size_t c = 0; c < cli_n_commands; c++)
        if (first_words(words, &cli_commands[c]))
            fprintf(to, "        %s) COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); return ;;\n", cli_commands[c].name,
                    words);
    fputs("        esac\n    fi\n    COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
          "complete -o filenames -F _kanon kanon\n",
          to);
}

static void print_zsh_text(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') fputs("'\\''", to);
        else if (strchr("[]:\\", *text) != NULL) fprintf(to, "\\%c", *text);
        else fputc(*text, to);
    }
}

/* Any option may be repeated: '*'. "--name=" takes the value in the same word or in the next one. */
static void print_zsh_option(FILE *to, const kn_option *option, const char *dashes, const char *name)
{
    fprintf(to, " \\\n        '*%s%s%s[", dashes, name, option->argument != NULL && dashes[1] == '-' ? "=" : "");
    print_zsh_text(to, option->help);
    fputs("]", to);
    if (option->argument != NULL) {
        fputs(":", to);
        print_zsh_text(to, option->argument);
        fputs(":", to);
        if (is_choice(option->argument)) {
            fputc('(', to);
            print_replaced(to, option->argument, '|', " ");
            fputc(')', to);
        } else if (takes_file(option)) {
            fputs("_files", to);
        }
    }
    fputc('\'', to);
}

static void print_zsh(FILE *to)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    char words[80];
    fputs("#compdef kanon\n# zsh completion for kanon; put it as _kanon into a folder of $fpath, or source it after "
          "compinit\n"
          "_kanon() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n",
          to);
    for (size_t c = 0; c < cli_n_commands; c++) {
        fprintf(to, "            '%s:", cli_commands[c].name);
        print_zsh_text(to, cli_commands[c].summary);
        fputs("'\n", to);
    }
    /* the command is dropped, so that its first argument is the first one */
    fputs("        )\n        _describe command commands\n        return\n    fi\n    local command=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          to);
    for (size_t c = 0; c < cli_n_commands; c++) {
        fprintf(to, "    %s) _arguments -s", cli_commands[c].name);
        for (size_t i = 0; i < n; i++) {
            if (!(options[i].commands & cli_commands[c].id)) continue;
            const char letter[] = {options[i].letter, '\0'};
            print_zsh_option(to, &options[i], "--", options[i].name);
            if (*letter != '\0') print_zsh_option(to, &options[i], "-", letter);
        }
        if (first_words(words, &cli_commands[c])) fprintf(to, " \\\n        '1:what:(%s)'", words);
        fputs(" \\\n        '*:file:_files' ;;\n", to);
    }
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _kanon ]; then _kanon \"$@\"; else compdef _kanon kanon; fi\n", to);
}

static void print_fish_option(FILE *to, const kn_option *option)
{
    fputs("complete -c kanon -n '__kanon_runs", to);
    for (size_t c = 0; c < cli_n_commands; c++)
        if (option->commands & cli_commands[c].id) fprintf(to, " %s", cli_commands[c].name);
    fprintf(to, "' -l %s", option->name);
    if (option->letter != '\0') fprintf(to, " -s %c", option->letter);
    if (takes_file(option)) {
        fputs(" -r -F", to);
    } else if (option->argument != NULL) {
        fputs(" -x", to);
    }
    if (is_choice(option->argument)) {
        fputs(" -a '", to);
        print_replaced(to, option->argument, '|', " ");
        fputc('\'', to);
    }
    fputs(" -d '", to);
    print_replaced(to, option->help, '\'', "\\'");
    fputs("'\n", to);
}

static void print_fish(FILE *to)
{
    size_t n;
    const kn_option *options = kn_options(&n);
    char words[80];
    /* fish's own helpers look for a command anywhere in the line: `kanon hierarchy check` is not `kanon check` */
    fputs("# fish completion for kanon; put it into ~/.config/fish/completions/\n"
          "function __kanon_at\n    test (count (commandline -opc)) -eq $argv[1]\nend\n"
          "function __kanon_runs\n    set -l words (commandline -opc)\n"
          "    test (count $words) -ge 2; and contains -- $words[2] $argv\nend\n",
          to);
    for (size_t c = 0; c < cli_n_commands; c++) {
        fprintf(to, "complete -c kanon -n '__kanon_at 1' -f -a %s -d '", cli_commands[c].name);
        print_replaced(to, cli_commands[c].summary, '\'', "\\'");
        fputs("'\n", to);
        if (first_words(words, &cli_commands[c]))
            fprintf(to, "complete -c kanon -n '__kanon_at 2; and __kanon_runs %s' -f -a '%s'\n", cli_commands[c].name,
                    words);
    }
    for (size_t i = 0; i < n; i++) print_fish_option(to, &options[i]);
}

bool cli_generate(FILE *to, const char *what)
{
    if (strcmp(what, "man") == 0) print_man(to);
    else if (strcmp(what, "bash") == 0) print_bash(to);
    else if (strcmp(what, "zsh") == 0) print_zsh(to);
    else if (strcmp(what, "fish") == 0) print_fish(to);
    else return false;
    return true;
}
