/* The page around a report, its tables and its texts. No script, no network: style and pictures are inside the file. */
#include "report/page.h"

#include "base/characters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light;--ink:#1b1f24;--soft:#4a5361;--line:#767f8c;--fill:#0b5cad;--pale:#d3d8df;--bad:#a40e26}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:#fff;color:var(--ink);font:1rem/1.5 system-ui,-apple-system,'Segoe "
    "UI',Roboto,'Liberation "
    "Sans',sans-serif}"
    "header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}"
    "h1{font-size:1.9rem;line-height:1.2;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}"
    "h2{font-size:1.35rem;line-height:1.25;margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:2px solid var(--pale)}"
    "h3{font-size:1.05rem;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}"
    "p,li{max-width:46rem;overflow-wrap:anywhere}.lead{font-size:1.1rem;color:var(--soft);margin-top:0}"
    "a{color:#0b5cad}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:#fff;padding:.5rem}"
    "nav ol{columns:2;column-gap:2rem;padding-left:1.4rem;max-width:46rem}nav li{break-inside:avoid}"
    ".verdict{border-left:.4rem solid var(--fill);background:#eef4fa;padding:.75rem 1rem;margin:1rem 0;font-weight:600}"
    ".verdict.broken{border-color:var(--bad);background:#fdeef0;color:var(--bad)}"
    ".scroll{overflow-x:auto;margin:1rem 0}.scroll:focus{outline:2px solid var(--fill);outline-offset:2px}"
    "table{border-collapse:collapse;font-size:.94rem}"
    /* a caption is as wide as it needs, whatever its table is, and stays where the table is moved */
    "caption{text-align:left;font-weight:600;padding:.25rem 0;overflow-wrap:anywhere;position:sticky;left:0;"
    "min-width:min(22rem,100vw - 2rem);max-width:min(60rem,100vw - 2rem)}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--pale)}"
    ".facts th{color:var(--soft);white-space:nowrap}"
    "thead th{border-bottom:2px solid var(--line);color:var(--soft)}tbody th{font-weight:500}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}td:last-child,th:last-child{padding-right:0}"
    ".n+:not(.n){padding-left:.75rem}" /* a figure and a label behind it are two */
    /* names and cells may be of any length: they break rather than make a table wider than it has to be */
    ".v{overflow-wrap:anywhere;min-width:6rem}th.v{min-width:9rem}.l,.w,td.n,tbody "
    "th:not(.v):not(.t){white-space:nowrap}"
    ".v code{background:#f1f3f6;padding:0 .2em;border-radius:.2em}"
    "code{font:.9em/1.4 ui-monospace,'Liberation Mono',monospace;overflow-wrap:anywhere}"
    "figure{margin:1rem 0}svg{display:block;width:100%;max-width:30rem;height:auto}"
    "svg text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif;fill:var(--ink)}"
    "svg .soft{fill:var(--soft)}svg .axis{stroke:var(--line);fill:none}svg .s0{fill:var(--pale);stroke:var(--soft)}"
    "svg .s1{fill:var(--fill);stroke:var(--fill)}svg .curve{fill:none;stroke:var(--fill);stroke-width:2}"
    "svg .open{fill:#fff;stroke:var(--line)}svg .ring{fill:none;stroke:var(--bad);stroke-width:2.5}"
    "summary{cursor:pointer;color:#0b5cad;padding:.25rem 0}"
    ".sign{display:grid;gap:1.5rem 2rem;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));margin-top:2rem}"
    ".sign div{border-bottom:1px solid var(--ink);min-height:3.5rem;color:var(--soft);font-size:.9rem}"
    "footer{margin-top:3rem;padding-bottom:2rem;color:var(--soft);font-size:.9rem}"
    "@media(max-width:36rem){body{font-size:.97rem}nav ol{columns:1}h1{font-size:1.5rem}"
    "table{font-size:.83rem}th,td{padding-right:.4rem}.v{min-width:5rem}th.v{min-width:8rem}"
    ".n+:not(.n){padding-left:.4rem}"
    ".w,tbody th:not(.v):not(.t){white-space:normal}}"
    /* On paper nothing scrolls: tables are as wide as the page, and words break that are too long for a column. The
     * tables behind the pictures stay on the screen, the pictures hold the same figures. */
    "@media print{html{font-size:9pt}body{font-size:1rem;line-height:1.35}header,main,footer{max-width:none;padding:0}"
    "nav,.skip,details{display:none}h1{font-size:1.8rem;margin:0}h2{font-size:1.3rem;margin:1rem 0 "
    ".4rem;padding-top:.4rem}"
    "h3{margin:.6rem 0 .2rem}p,li{max-width:none;margin:.3rem 0}a{color:inherit;text-decoration:none}"
    "h2,h3,caption,thead{break-after:avoid}tr,figure,.verdict,.whole,[aria-labelledby=sign]{break-inside:avoid}"
    "[aria-labelledby=sign]{break-before:avoid}"
    ".appendix{break-before:page}.scroll{overflow:visible;margin:.5rem 0}table{width:100%}"
    "th,td{overflow-wrap:break-word;padding-top:.12rem;padding-bottom:.12rem;padding-right:.5rem}.v{min-width:0}th.v{"
    "min-width:7rem}.l{white-space:normal}svg{max-width:24rem}figure{margin:.5rem 0}"
    ".sign{gap:.5rem 2rem;margin-top:.5rem}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    "footer{margin-top:.5rem;padding:0;break-before:avoid}@page{margin:15mm}}";

const page page_plain = {.language = KN_LANGUAGE_EN};

const char *page_text(const page *to, kn_text text) { return kn_text_get(to->language, to->unit, text); }

words page_count(const page *to, uint64_t n)
{
    words result;
    char digits[24];
    int n_digits = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0) result.text[at++] = to->language == KN_LANGUAGE_DE ? '.' : ',';
        result.text[at++] = digits[i];
    }
    result.text[at] = '\0';
    return result;
}

/* The program runs in the C locale; the decimal sign is the language's. */
void page_decimal_sign(const page *to, char *text)
{
    char *dot = strchr(text, '.');
    if (dot != NULL && to->language == KN_LANGUAGE_DE) *dot = ',';
}

words page_number(const page *to, double x)
{
    words result;
    if (!isfinite(x)) {
        snprintf(result.text, sizeof result.text, "–");
        return result;
    }
    if (fabs(x) >= 1000 && fabs(x) < 1e15) {
        words count = page_count(to, (uint64_t)llround(fabs(x)));
        if (x >= 0) return count;
        snprintf(result.text, sizeof result.text, "-%.40s", count.text);
        return result;
    }
    if (fabs(x) < 1e-4 && fabs(x) >= 1e-12) { /* no powers of ten for people */
        int n = snprintf(result.text, sizeof result.text, "%.*f", 3 - (int)floor(log10(fabs(x))), x);
        while (result.text[n - 1] == '0') result.text[--n] = '\0';
    } else snprintf(result.text, sizeof result.text, "%.4g", x);
    page_decimal_sign(to, result.text);
    return result;
}

words page_value(const page *to, double x)
{
    words result;
    snprintf(result.text, sizeof result.text, "%.12g", x + 0.0); /* which makes 0 of -0 */
    page_decimal_sign(to, result.text);
    return result;
}

words page_seconds(const page *to, double seconds)
{
    words result;
    snprintf(result.text, sizeof result.text, seconds > 0 && seconds < 0.01 ? "< 0.01" : "%.2f", seconds);
    page_decimal_sign(to, result.text);
    return result;
}

words page_percent(const page *to, double share)
{
    words result;
    double percent = share * 100;
    if (!isfinite(share)) return page_number(to, share);
    /* Nothing that is there may be shown as nothing, nor what is missing as everything. */
    int digits = percent == 0 || percent == 100 ? 0
                 : percent >= 99.95             ? 3
                 : percent >= 9.95              ? 1
                 : percent >= 0.1               ? 2
                                                : 4;
    int n = snprintf(result.text, sizeof result.text, "%.*f", digits, percent);
    if (digits > 0) {
        while (result.text[n - 1] == '0') n--;
        if (result.text[n - 1] == '.') n--;
    }
    strcpy(result.text + n, to->language == KN_LANGUAGE_DE ? " %" : "%");
    page_decimal_sign(to, result.text);
    return result;
}

void page_raw(page *to, const char *html) { kn_buffer_text(&to->out, html); }

void page_escape(page *to, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        switch (c) {
        case '&': page_raw(to, "&amp;"); break;
        case '<': page_raw(to, "&lt;"); break;
        case '>': page_raw(to, "&gt;"); break;
        case '"': page_raw(to, "&quot;"); break;
        case '\'': page_raw(to, "&#39;"); break;
        default:
            /* control characters have no place in HTML */
            if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) page_raw(to, "\xef\xbf\xbd");
            else kn_buffer_char(&to->out, (char)c);
        }
    }
}

void page_escaped(page *to, const char *text) { page_escape(to, text, strlen(text)); }

void page_user(page *to, const char *text)
{
    const bool isolate = kn_has_right_to_left(text);
    if (isolate) page_raw(to, "<bdi>");
    page_escaped(to, text);
    if (isolate) page_raw(to, "</bdi>");
}

/* How much of a text stands before the next place where a line may break: behind what joins words, members of a set or
 * the ends of an interval, but inside no number and before no mark. */
static size_t up_to_break(const char *text)
{
    for (size_t n = 0; text[n] != '\0'; n++) {
        const char at = text[n], next = text[n + 1];
        const bool joins = at == '_' || at == '|' || at == '/' || (at == '.' && n > 0 && text[n - 1] == '.') ||
                           (at == ',' && (next < '0' || next > '9'));
        if (joins && strchr(" ./,;", next) == NULL) return n + 1; /* strchr finds the end, too */
    }
    return strlen(text);
}

void page_breaking(page *to, const char *text)
{
    for (size_t n; *text != '\0'; text += n) {
        n = up_to_break(text);
        page_escape(to, text, n);
        if (text[n] != '\0') page_raw(to, "<wbr>");
    }
}

static void say_text(page *to, kn_text text, const char *a, const char *b, const char *c, bool is_attribute)
{
    const char *arguments[] = {a, b, c};
    size_t n = 0, n_word;
    bool is_one = false;
    for (const char *at = page_text(to, text); *at != '\0';) {
        const size_t n_plain = strcspn(at, "%[");
        page_escape(to, at, n_plain);
        at += n_plain;
        if (*at == '[') {
            const char *word = kn_word_for(&n_word, &at, is_one);
            page_escape(to, word, n_word);
        } else if (*at == '%') {
            const char *argument = n < 3 ? arguments[n++] : NULL;
            is_one = argument != NULL && strcmp(argument, "1") == 0;
            if (argument != NULL) (is_attribute ? page_escaped : page_user)(to, argument);
            at += 2; /* %s */
        }
    }
}

void page_say(page *to, const char *element, kn_text text, const char *a, const char *b, const char *c)
{
    kn_buffer_printf(&to->out, "<%s>", element);
    say_text(to, text, a, b, c, false);
    kn_buffer_printf(&to->out, "</%.*s>\n", (int)strcspn(element, " "), element);
}

void page_open(page *to, kn_text title, kn_text subtitle, const char *subject)
{
    kn_buffer_printf(&to->out,
                     "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<meta name=\"referrer\" content=\"no-referrer\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\">\n<title>",
                     page_text(to, KN_TEXT_LANGUAGE));
    page_escaped(to, page_text(to, title));
    page_raw(to, ": ");
    page_escaped(to, subject);
    page_raw(to, "</title>\n<style>");
    page_raw(to, style);
    page_raw(to, "</style>\n</head>\n<body>\n");
    page_say(to, "a class=\"skip\" href=\"#main\"", KN_TEXT_SKIP, NULL, NULL, NULL);
    page_raw(to, "<header>\n");
    page_say(to, "h1", title, NULL, NULL, NULL);
    page_say(to, "p class=\"lead\"", subtitle, subject, NULL, NULL);
    page_raw(to, "</header>\n<main id=\"main\">\n");
}

void page_close(page *to)
{
    kn_buffer_printf(&to->out, "</main>\n<footer><p>kanon %s</p></footer>\n</body>\n</html>\n", KN_VERSION);
}

void page_section(page *to, const char *id, kn_text heading)
{
    kn_buffer_printf(&to->out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
    page_escaped(to, page_text(to, heading));
    page_raw(to, "</h2>\n");
}

void page_section_end(page *to) { page_raw(to, "</section>\n"); }

void page_table(page *to, kn_text caption, const char *a, const char *b)
{
    page_raw(to, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    say_text(to, caption, a, b, NULL, true);
    page_raw(to, "\">\n<table>\n");
    page_say(to, "caption", caption, a, b, NULL);
}

void page_table_end(page *to) { page_raw(to, "</tbody>\n</table>\n</div>\n"); }

void page_head(page *to, const kn_text *headings, size_t n, size_t n_text)
{
    page_raw(to, "<thead><tr>");
    for (size_t i = 0; i < n; i++) {
        page_raw(to, i < n_text ? "<th scope=\"col\">" : "<th scope=\"col\" class=\"n\">");
        page_escaped(to, page_text(to, headings[i]));
        page_raw(to, "</th>");
    }
    page_raw(to, "</tr></thead>\n<tbody>\n");
}

void page_row(page *to) { page_raw(to, "<tr>"); }
void page_row_end(page *to) { page_raw(to, "</tr>\n"); }

static void cell(page *to, const char *open, const char *text, const char *close)
{
    page_raw(to, open);
    page_escaped(to, text);
    page_raw(to, close);
}

/* Text of any length: it breaks where it may, before it breaks anywhere. */
static void long_cell(page *to, const char *open, const char *text, const char *close)
{
    page_raw(to, open);
    page_breaking(to, text);
    page_raw(to, close);
}

/* A longer word breaks rather than fill a screen, a shorter text stays on its line; on a phone one that is no longer.
 */
enum { MOST_UNBROKEN = 20, MOST_ON_PHONE = 12 };

static size_t longest_word(const char *text)
{
    size_t longest = 0;
    for (; *text != '\0'; text += strspn(text, " ")) {
        const size_t n = strcspn(text, " ");
        if (n > longest) longest = n;
        text += n;
    }
    return longest;
}

void page_th(page *to, const char *text)
{
    if (longest_word(text) > MOST_UNBROKEN) long_cell(to, "<th scope=\"row\" class=\"v\">", text, "</th>");
    else if (strlen(text) > MOST_UNBROKEN) long_cell(to, "<th scope=\"row\" class=\"t\">", text, "</th>");
    else (strlen(text) > MOST_ON_PHONE ? long_cell : cell)(to, "<th scope=\"row\">", text, "</th>");
}

void page_th_column(page *to, const char *name) { long_cell(to, "<th scope=\"col\" class=\"v\">", name, "</th>"); }

void page_td(page *to, const char *text) { cell(to, "<td>", text, "</td>"); }
void page_td_word(page *to, const char *text) { cell(to, "<td class=\"w\">", text, "</td>"); }
void page_td_values(page *to, const char *text) { long_cell(to, "<td class=\"v\">", text, "</td>"); }
void page_td_figure(page *to, const char *text) { cell(to, "<td class=\"n\">", text, "</td>"); }

void page_td_english(page *to, const char *text)
{
    cell(to, to->language == KN_LANGUAGE_EN || *text == '\0' ? "<td>" : "<td lang=\"en\">", text, "</td>");
}

void page_details(page *to)
{
    page_raw(to, "<details>");
    page_say(to, "summary", KN_TEXT_DATA_TABLE, NULL, NULL, NULL);
}

void page_details_end(page *to) { page_raw(to, "</details>\n"); }
void page_figure_end(page *to) { page_raw(to, "</figure>\n"); }
