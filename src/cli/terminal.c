/* Colour and progress on a terminal. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool cli_use_color(FILE *stream, cli_when when)
{
    if (when != CLI_AUTO) return when == CLI_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color != NULL && *no_color != '\0') return false;
    return isatty(fileno(stream)) && (term == NULL || strcmp(term, "dumb") != 0);
}

void cli_print_clean(FILE *to, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool c1 = byte == 0xC2 && i + 1 < n_bytes && (unsigned char)text[i + 1] < 0xA0; /* U+0080 .. U+009F */
        if (c1) i++;
        fputc(c1 || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t') ? '?' : byte, to);
    }
}

void cli_print_text(FILE *to, const char *text, bool color)
{
    if (!color) {
        cli_print_clean(to, text, strlen(text));
        return;
    }
    for (bool first = true; *text != '\0'; first = false) {
        size_t n = strcspn(text, "\n");
        size_t label = n > 16 && strncmp(text, "  ", 2) == 0 ? 16 : 0;
        if (first) {
            fputs("\033[1m", to);
            cli_print_clean(to, text, n);
            fputs("\033[0m", to);
        } else {
            fputs("\033[36m", to);
            cli_print_clean(to, text, label);
            fputs("\033[0m", to);
            cli_print_clean(to, text + label, n - label);
        }
        text += n;
        if (*text == '\n') fputc(*text++, to);
    }
}

int cli_show_progress(void *user, const char *stage, double fraction)
{
    cli_progress *progress = user;
    double seconds = cli_seconds() - progress->began;
    if (seconds < 1) return 0;
    if (fraction >= 0) fprintf(stderr, "\r\033[K%s %3.0f %%  %.0f s", stage, 100 * fraction, seconds);
    else fprintf(stderr, "\r\033[K%s  %.0f s", stage, seconds);
    fflush(stderr);
    progress->shown = true;
    return 0;
}

void cli_clear_progress(cli_progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
