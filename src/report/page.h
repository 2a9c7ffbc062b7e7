/* What the parts of an HTML report share: text in the reader's language, numbers as that language writes them, tables,
 * and escaping. Everything that comes from the data or the settings goes through page_escape. */
#ifndef KN_REPORT_PAGE_H
#define KN_REPORT_PAGE_H

#include "base/buffer.h"
#include "report/text.h"

#include <stdint.h>

typedef struct page {
    kn_buffer out;
    kn_language language;
    kn_unit unit;       /* that is counted */
    unsigned n_figures; /* for ids */
} page;
extern const page page_plain; /* for numbers in the terminal: English */

/* A short piece of text that lives in the caller's frame. */
typedef struct words {
    char text[64];
} words;

const char *page_text(const page *to, kn_text text);
words page_count(const page *to, uint64_t n);         /* 30,162 or 30.162 */
words page_number(const page *to, double x);          /* four digits; a dash for NAN */
words page_value(const page *to, double x);           /* as cells have it: 1974, without marks between thousands */
words page_seconds(const page *to, double seconds);   /* to hundredths */
words page_percent(const page *to, double share);     /* 12.3% or 12,3 % */
void page_decimal_sign(const page *to, char *number); /* 0.5 or 0,5 */

void page_raw(page *to, const char *html);
void page_escape(page *to, const char *text, size_t n_bytes);
void page_escaped(page *to, const char *text);
/* Words of the user inside other text: isolated where they run from right to left. */
void page_user(page *to, const char *text);
/* Text of any length: lines may break behind what joins words, members of a set and the ends of an interval. */
void page_breaking(page *to, const char *text);
/* A text of the language with up to three arguments (NULL: fewer), escaped, inside an element. */
void page_say(page *to, const char *element, kn_text text, const char *a, const char *b, const char *c);

void page_open(page *to, kn_text title, kn_text subtitle, const char *subject);
void page_close(page *to);
void page_section(page *to, const char *id, kn_text heading); /* closed by page_section_end */
void page_section_end(page *to);

/* Tables scroll inside their own region on narrow screens. */
void page_table(page *to, kn_text caption, const char *a, const char *b);
void page_table_end(page *to);
void page_head(page *to, const kn_text *headings, size_t n, size_t n_text); /* the first n_text columns hold text */
void page_row(page *to);
void page_row_end(page *to);
void page_th_column(page *to, const char *name); /* a column of the user as a heading */
void page_th(page *to, const char *text);        /* heading of a row */
void page_td(page *to, const char *text);        /* text */
void page_td_word(page *to, const char *text);   /* on one line */
void page_td_values(page *to, const char *text); /* of any length: breaks where it may, before it breaks anywhere */
void page_td_figure(page *to, const char *text); /* a figure, aligned right */
/* What is only there in English, such as an error: marked as such in other languages. */
void page_td_english(page *to, const char *text);

/* --- Pictures: inline SVG with a title and a description; the caller puts the table behind it --------------------- */

typedef struct page_bars {
    kn_text title, desc;
    size_t n, n_series; /* one or two series */
    kn_text series[2];
    const char *const *labels;
    const double *values[2]; /* 0 .. max */
    const words *shown[2];   /* what stands at the end of each bar */
} page_bars;
void page_draw_bars(page *to, const page_bars *bars);

typedef struct page_curve {
    kn_text title, desc, x_name, y_name;
    size_t n;
    const double *x, *y;
    const char *const *labels; /* points: their names; NULL: a line through all points */
    const bool *joined;        /* points: those on the line */
    bool log_y;                /* y, all above 0, on a logarithmic scale */
} page_curve;
void page_draw_curve(page *to, const page_curve *curve);

/* Points in rows, the first row at the bottom; state 0: open, 1: filled, 2: filled and ringed, 3: open and ringed. */
void page_draw_rows(page *to, kn_text title, kn_text desc, const uint32_t *row, const uint8_t *state, size_t n);

void page_details(page *to); /* "The picture as a table", closed by page_details_end */
void page_details_end(page *to);
void page_figure_end(page *to);

#endif
