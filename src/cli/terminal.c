/* Colour and progress on a terminal. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* U+202A .. U+202E and U+2066 .. U+2069 turn round what stands beside them. */
static bool is_direction(const char *text, size_t n_bytes)
{
    if (n_bytes < 3 || memcmp(text, "\xE2\x80", 2) < 0 || memcmp(text, "\xE2\x81", 2) > 0) return false;
    const unsigned char last = (unsigned char)text[2];
    return text[1] == '\x80' ? last >= 0xAA && last <= 0xAE : last >= 0xA6 && last <= 0xA9;
}

void cli_print_clean(FILE *to, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool c1 = byte == 0xC2 && i + 1 < n_bytes && (unsigned char)text[i + 1] < 0xA0; /* U+0080 .. U+009F */
        const bool direction = is_direction(text + i, n_bytes - i);
        if (c1) i++;
        if (direction) i += 2;
        fputc(c1 || direction || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t') ? '?' : byte, to);
    }
}

unsigned cli_width(FILE *stream)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(fileno(stream))) return 0;
    if (columns != NULL && atoi(columns) > 0) return (unsigned)atoi(columns);
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Characters, not bytes; those of East Asia (U+3000 .. U+DFFF, and beyond U+FFFF) take two columns. */
static unsigned columns_of(const char *text, size_t n_bytes)
{
    unsigned n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0) != 0x80) n += (byte >= 0xE3 && byte <= 0xED) || byte >= 0xF0 ? 2 : 1;
    }
    return n;
}

void cli_print_wrapped(FILE *to, const char *text, size_t n_bytes, unsigned width, unsigned used, unsigned indent)
{
    if (width < indent + 20) {
        cli_print_clean(to, text, n_bytes);
        return;
    }
    for (size_t at = 0; at < n_bytes;) {
        size_t blanks = strspn(text + at, " "), word = strcspn(text + at + blanks, " \n");
        if (at + blanks + word > n_bytes) word = n_bytes - at - blanks;
        unsigned needed = (unsigned)blanks + columns_of(text + at + blanks, word);
        if (at > 0 && used + needed > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            used = indent;
            needed -= (unsigned)blanks;
            at += blanks;
            blanks = 0;
        }
        cli_print_clean(to, text + at, blanks + word);
        used += needed;
        at += blanks + word;
    }
}

typedef struct label {
    size_t n;           /* bytes up to where the text begins; 0: none */
    const char *colour; /* of its words */
} label;

/* "  label         text", a label too long for that on a line of its own, and the states of checks: what holds and what
 * was not made must not look alike. */
static label label_of(const char *line, size_t n)
{
    static const struct {
        const char *word, *colour;
    } states[] = {{"  holds     ", "\033[32m"},
                  {"  BROKEN    ", "\033[1;31m"},
                  {"  not made  ", "\033[33m"},
                  {"  undecided ", "\033[33m"}};
    enum { TEXT_AT = 16 };
    if (strncmp(line, "  - ", 4) == 0) return (label){4, ""};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(line, states[i].word, strlen(states[i].word)) == 0)
            return (label){strlen(states[i].word), states[i].colour};
    const size_t n_blanks = strspn(line, " ");
    const bool is_alone =
        line[n] == '\n' && n <= strcspn(line + n_blanks, " ") + n_blanks && strspn(line + n + 1, " ") == TEXT_AT;
    if (n_blanks == 2 && is_alone) return (label){n, "\033[36m"};
    if (n <= TEXT_AT || n_blanks < 2 || line[TEXT_AT - 1] != ' ') return (label){0, ""};
    if (n_blanks > 2) return (label){n_blanks >= TEXT_AT ? TEXT_AT : 0, ""};
    return (label){TEXT_AT, "\033[36m"};
}

/* At the margin, above what is indented or a line that is left empty, and not the last row of a table. */
static bool is_heading(const char *line, size_t n, bool is_below_row)
{
    return n > 0 && !is_below_row && line[0] != ' ' && line[n] == '\n' && (line[n + 1] == ' ' || line[n + 1] == '\n');
}

enum { LINE_INDENT = 4 }; /* further than the line begins goes on what does not fit into it */

void cli_print_text(FILE *to, const char *text, bool color, unsigned width)
{
    for (bool is_below_row = false; *text != '\0';) {
        size_t n = strcspn(text, "\n"), words = 0;
        const bool is_bold = color && is_heading(text, n, is_below_row);
        is_below_row = n > 0 && text[0] != ' ';
        label mark = label_of(text, n);
        for (size_t i = 0; i < mark.n; i++)
            if (text[i] != ' ') words = i + 1;
        bool coloured = color && words > 0 && mark.colour[0] != '\0';
        unsigned indent = (unsigned)(mark.n > 0 ? mark.n : strspn(text, " ") + LINE_INDENT);
        if (is_bold) fputs("\033[1m", to);
        if (coloured) fputs(mark.colour, to);
        cli_print_clean(to, text, words);
        if (coloured) fputs("\033[0m", to);
        cli_print_clean(to, text + words, mark.n - words);
        cli_print_wrapped(to, text + mark.n, n - mark.n, width, (unsigned)mark.n, indent);
        if (is_bold) fputs("\033[0m", to);
        text += n;
        if (*text == '\n') fputc(*text++, to);
    }
}

static void append_seconds(char *line, size_t size, double seconds)
{
    const size_t n = strlen(line);
    if (seconds < 100) snprintf(line + n, size - n, "%.0f s", seconds);
    else if (seconds < 6000) snprintf(line + n, size - n, "%.0f min", seconds / 60);
    else snprintf(line + n, size - n, "%.1f h", seconds / 3600);
}

/* Written at once: a line that comes in pieces flickers. */
int cli_show_progress(void *user, const char *stage, double fraction)
{
    enum { CERTAIN_AFTER = 3, HINT_AFTER = 5, LINE_BYTES = 160 };
    cli_progress *progress = user;
    char line[LINE_BYTES], share[16] = "";
    double now = cli_seconds(), seconds = now - progress->began;
    if (progress->stage != stage) {
        progress->stage = stage;
        progress->stage_began = now;
    }
    if (seconds < 1) return 0;
    if (fraction >= 0) snprintf(share, sizeof share, "%3.0f%%", 100 * fraction);
    snprintf(line, sizeof line, "\r\033[K%.40s %s  ", stage, share);
    append_seconds(line, sizeof line, seconds);
    double in_stage = now - progress->stage_began;
    if (fraction > 0.01 && in_stage > CERTAIN_AFTER) {
        strcat(line, ", about ");
        append_seconds(line, sizeof line, in_stage * (1 - fraction) / fraction);
        strcat(line, " left");
    }
    if (in_stage > HINT_AFTER && strcmp(stage, "search") == 0) strcat(line, "; Ctrl-C keeps the best so far");
    fputs(line, stderr);
    fflush(stderr);
    progress->shown = true;
    return 0;
}

void cli_clear_progress(cli_progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
