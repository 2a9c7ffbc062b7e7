/* The parts of the command line program. It sees kanon.h only. */
#ifndef KN_CLI_CLI_H
#define KN_CLI_CLI_H

#include <kanon.h>
#include <stdio.h>

/* What the text of a command is, and so where it goes and what -q leaves of it. */
typedef enum cli_text {
    CLI_SUMMARY, /* beside data that goes elsewhere: to standard error; -q drops it */
    CLI_DATA,    /* what was asked for: to standard output, under -q too */
    CLI_VERDICT  /* to standard output; -q leaves it only where something is wrong */
} cli_text;

typedef struct cli_command {
    kn_command id;
    const char *name, *arguments, *summary;
    unsigned min_arguments, max_arguments;
    const char *settings[3]; /* which setting each argument is */
    kn_status (*run)(kn_result **out, const kn_settings *settings, kn_error *err);
    cli_text text;
    const char *example;
} cli_command;

extern const cli_command cli_commands[];
extern const size_t cli_n_commands;

/* help.c */
void cli_print_overview(FILE *to);
void cli_print_help(FILE *to, const cli_command *command);

/* generate.c: man, bash, zsh or fish; false when `what` is none of them */
bool cli_generate(FILE *to, const char *what);

/* terminal.c */
typedef enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER } cli_when;
bool cli_use_color(FILE *stream, cli_when when);
/* Text that may hold names from the user's files: control characters are shown as '?', so that none reaches the
 * terminal. */
void cli_print_clean(FILE *to, const char *text, size_t n_bytes);
/* Characters in a line of the terminal; 0: it is no terminal, or nobody knows. */
unsigned cli_width(FILE *stream);
/* Clean text that breaks between words where a line of `width` characters is full; `used` of the first are taken, the
 * others begin with `indent` blanks. width 0: it does not break. */
void cli_print_wrapped(FILE *to, const char *text, size_t n_bytes, unsigned width, unsigned used, unsigned indent);
/* "  label   text" lines with the label in colour, the first line bold; the text of a label breaks below itself. */
void cli_print_text(FILE *to, const char *text, bool color, unsigned width);
/* A kn_progress_fn: one line on a terminal, rewritten, shown only after a second. `user` is a cli_progress. */
typedef struct cli_progress {
    double began, stage_began;
    const char *stage;
    bool shown;
} cli_progress;
int cli_show_progress(void *user, const char *stage, double fraction);
void cli_clear_progress(cli_progress *progress);
double cli_seconds(void);

#endif
