/* Pictures as inline SVG: bars, a curve, a lattice. Drawn 360 units wide, so that their text stays readable on a phone
 * 380 pixels wide; colours differ in lightness, so that they survive a black and white printer. */
#include "report/page.h"

#include "base/characters.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 360.0

static void figure_open(page *to, kn_text title, kn_text desc, double height)
{
    unsigned id = to->n_figures++;
    kn_buffer_printf(&to->out,
                     "<figure>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"f%ut f%ud\">\n"
                     "<title id=\"f%ut\">",
                     WIDTH, height, id, id, id);
    page_escaped(to, page_text(to, title));
    kn_buffer_printf(&to->out, "</title>\n<desc id=\"f%ud\">", id);
    page_escaped(to, page_text(to, desc));
    page_raw(to, "</desc>\n");
}

/* Widths in hundredths of the font's size. Those of DejaVu Sans and Verdana, the widest fonts that a system takes for
 * the page's; in others a text leaves some room. */
static unsigned character_width(uint32_t character)
{
    static const uint8_t latin[] = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                    58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                    61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                    28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};
    static const uint8_t cyrillic[] = {
        63, 63, 79, 61, 70, 63, 29, 29, 29, 109, 104, 79, 71, 75, 61, 75, 68,  69,  69, 61, 78, 63, 108, 64,
        75, 75, 71, 75, 86, 75, 79, 75, 60, 70,  61,  61, 86, 69, 78, 69, 107, 109, 83, 88, 69, 70, 108, 69,
        61, 62, 59, 53, 69, 62, 90, 53, 65, 65,  60,  64, 75, 65, 61, 65, 63,  55,  58, 59, 85, 59, 68,  59,
        92, 94, 71, 79, 59, 55, 84, 60, 62, 62,  63,  53, 55, 52, 28, 28, 28,  90,  90, 65, 60, 65, 59,  65};
    static const struct {
        uint32_t last; /* of a range that begins behind the one before */
        unsigned width;
    } others[] = {{0x1F, 100}, {0xBF, 84},  {0xFF, 98},     {0x24F, 107},     {0x2FF, 84},
                  {0x36F, 0},  {0x3FF, 95}, {0x1F2FF, 125}, {UINT32_MAX, 160}};
    if (character >= 0x20 && character - 0x20 < sizeof latin) return latin[character - 0x20];
    if (character >= 0x400 && character - 0x400 < sizeof cyrillic) return cyrillic[character - 0x400];
    size_t i = 0;
    while (character > others[i].last) i++;
    return others[i].width;
}

#define FONT_SIZE 12.0

static double text_width(const char *text)
{
    unsigned width = 0;
    while (*text != '\0') width += character_width(kn_character_next(&text));
    return width * FONT_SIZE / 100;
}

/* As much of a text as fits into a picture, an ellipsis for the rest: the tables have names in full. */
static void text_at(page *to, double x, double y, const char *anchor, const char *text)
{
    const bool fits = text_width(text) <= WIDTH;
    const char *end = text + (fits ? strlen(text) : 0);
    for (double used = FONT_SIZE; !fits && *end != '\0';) { /* the ellipsis is as wide as the font is high */
        const char *next = end;
        used += character_width(kn_character_next(&next)) * FONT_SIZE / 100;
        if (used > WIDTH) break;
        end = next;
    }
    kn_buffer_printf(&to->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    page_escape(to, text, (size_t)(end - text));
    if (!fits) page_raw(to, KN_ELLIPSIS);
    page_raw(to, "</text>\n");
}

static void legend(page *to, const page_bars *bars)
{
    double x = 0;
    for (size_t s = 0; s < bars->n_series; s++) {
        kn_buffer_printf(&to->out, "<rect class=\"s%zu\" x=\"%.1f\" y=\"3.5\" width=\"11\" height=\"11\"/>\n",
                         bars->n_series == 1 ? 1 : s, x + 0.5);
        text_at(to, x + 17, 13, "start", page_text(to, bars->series[s]));
        x += 17 + text_width(page_text(to, bars->series[s])) + 20;
    }
}

void page_draw_bars(page *to, const page_bars *bars)
{
    enum { BAR = 11, GAP = 9 };
    double widest_label = 0, widest_value = 0, largest = 0;
    for (size_t i = 0; i < bars->n; i++) {
        widest_label = fmax(widest_label, text_width(bars->labels[i]));
        for (size_t s = 0; s < bars->n_series; s++) {
            widest_value = fmax(widest_value, text_width(bars->shown[s][i].text));
            if (isfinite(bars->values[s][i])) largest = fmax(largest, bars->values[s][i]);
        }
    }
    /* Long labels stand above their bars, short ones at their left. */
    bool above = widest_label > 120;
    double left = above ? 0 : widest_label + 10, room = WIDTH - left - widest_value - 12;
    double row = (double)bars->n_series * (BAR + 2) + (above ? 16 : 0) + GAP, top = bars->n_series > 1 ? 26 : 4;
    figure_open(to, bars->title, bars->desc, top + row * (double)bars->n);
    if (bars->n_series > 1) legend(to, bars);
    for (size_t i = 0; i < bars->n; i++) {
        double y = top + row * (double)i, bars_top = y + (above ? 16 : 0);
        double middle = bars_top + (double)bars->n_series * (BAR + 2) / 2 + 4;
        if (above) text_at(to, 0, y + 11, "start", bars->labels[i]);
        else text_at(to, left - 8, middle - 1, "end", bars->labels[i]);
        for (size_t s = 0; s < bars->n_series; s++) {
            double value = isfinite(bars->values[s][i]) ? bars->values[s][i] : 0;
            double length = largest > 0 ? fmax(value > 0 ? 1 : 0, room * value / largest) : 0;
            double at = bars_top + (double)s * (BAR + 2);
            kn_buffer_printf(&to->out, "<rect class=\"s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
                             bars->n_series == 1 ? 1 : s, left + 0.5, at + 0.5, length, BAR - 1);
            if (value > 0 || bars->n_series == 1) /* nothing is seen to be nothing */
                text_at(to, left + length + 6, at + BAR - 1, "start", bars->shown[s][i].text);
        }
    }
    page_raw(to, "</svg>\n");
}

/* A round number of at least x: 1, 2 or 5 times a power of ten. */
static double round_up(double x)
{
    if (!(x > 0)) return 1;
    double power = pow(10, floor(log10(x)));
    for (int i = 0; i < 3; i++)
        if (x <= power * (i == 0 ? 1 : i == 1 ? 2 : 5) * (1 + 1e-9)) return power * (i == 0 ? 1 : i == 1 ? 2 : 5);
    return power * 10;
}

typedef struct frame {
    double left, top, width, height, max_x, max_y;
    double min_y; /* above 0 on a logarithmic scale, otherwise 0 */
} frame;

static double frame_x(const frame *area, double x) { return area->left + area->width * x / area->max_x; }

static double frame_y(const frame *area, double y)
{
    double share = area->min_y > 0 ? log(y / area->min_y) / log(area->max_y / area->min_y) : y / area->max_y;
    return area->top + area->height * (1 - share);
}

static void y_tick(page *to, const frame *area, double y)
{
    kn_buffer_printf(&to->out, "<path class=\"axis\" d=\"M%.1f %.1fh-4\"/>\n", area->left, frame_y(area, y));
    text_at(to, area->left - 6, frame_y(area, y) + 4, "end",
            area->min_y > 0 ? page_percent(to, y).text : page_number(to, y).text);
}

static void axes(page *to, const page_curve *curve, const frame *area)
{
    kn_buffer_printf(&to->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", area->left, area->top,
                     area->top + area->height, area->left + area->width);
    for (int i = 0; i <= 2; i++) {
        double x = area->max_x * i / 2;
        text_at(to, frame_x(area, x), area->top + area->height + 16, i == 2 ? "end" : "middle",
                page_number(to, x).text);
        if (area->min_y == 0) y_tick(to, area, area->max_y * i / 2);
    }
    for (double y = area->min_y; y > 0 && y <= area->max_y * 1.001; y *= 10) y_tick(to, area, y);
    text_at(to, area->left, 12, "start", page_text(to, curve->y_name));
    text_at(to, area->left + area->width, area->top + area->height + 34, "end", page_text(to, curve->x_name));
}

/* At most 200 points of a long line: more than the picture can show. */
static void line_draw(page *to, const page_curve *curve, const frame *area)
{
    size_t step = curve->n > 200 ? (curve->n + 199) / 200 : 1;
    page_raw(to, "<path class=\"curve\" d=\"");
    bool first = true;
    for (size_t i = 0; i < curve->n; i++) {
        if (curve->joined != NULL && !curve->joined[i]) continue;
        if (curve->joined == NULL && i % step != 0 && i + 1 != curve->n) continue;
        kn_buffer_printf(&to->out, "%s%.1f %.1f", first ? "M" : "L", frame_x(area, curve->x[i]),
                         frame_y(area, curve->y[i]));
        first = false;
    }
    page_raw(to, "\"/>\n");
}

static frame frame_around(const page_curve *curve)
{
    frame area = {.left = 58, .top = 22, .width = WIDTH - 66, .height = 190};
    double least = INFINITY;
    for (size_t i = 0; i < curve->n; i++) {
        area.max_x = fmax(area.max_x, curve->x[i]);
        area.max_y = fmax(area.max_y, curve->y[i]);
        least = fmin(least, curve->y[i]);
    }
    area.max_x = round_up(area.max_x);
    area.max_y = round_up(area.max_y);
    if (curve->log_y && least > 0) {
        area.min_y = pow(10, floor(log10(least) + 1e-9));
        area.max_y = pow(10, ceil(log10(area.max_y) - 1e-9));
        if (area.max_y <= area.min_y) area.max_y = area.min_y * 10;
    }
    return area;
}

enum { MAX_NAMED = 256 /* beyond it, numbered */, LINE_BOXES = 41, TIE_BOXES = 20 };

typedef struct box {
    double x0, y0, x1, y1;
} box;

static bool boxes_touch(const box *a, const box *b)
{
    return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

static bool is_free(const box *mine, const box *placed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (boxes_touch(mine, &placed[i])) return false;
    return true;
}

/* What is drawn already: points and the line between them first, then names. */
typedef struct picture {
    const frame *area;
    box *boxes;
    size_t n, n_points, n_lines; /* boxes, those of points, and those of points and lines */
    const size_t *group;         /* [point]: whose name is this one's, too; NULL: each has its own */
} picture;

/* Points that share a name are not in its way; nor are those drawn as one. */
static bool is_same_point(const picture *d, size_t point, size_t other)
{
    const box *a = &d->boxes[point], *b = &d->boxes[other];
    if (d->group != NULL && d->group[point] == d->group[other]) return true;
    return hypot(a->x0 - b->x0, a->y0 - b->y0) < .5;
}

/* The thin line from a point to its name runs over no other name and no other point. Those of points that are all but
 * one begin together. */
static bool may_tie(const picture *d, size_t own, double x, double y, double to_x, double to_y)
{
    for (int step = 1; step <= 20; step++) {
        const double at_x = x + (to_x - x) * step / 20, at_y = y + (to_y - y) * step / 20;
        if (hypot(at_x - x, at_y - y) < 7) continue;
        const box dot = {at_x - .5, at_y - .5, at_x + .5, at_y + .5};
        if (!is_free(&dot, d->boxes + d->n_lines, d->n - d->n_lines)) return false;
        for (size_t i = 0; i < d->n_points; i++) {
            const box *point = &d->boxes[i];
            const bool is_near = point->x0 < x && x < point->x1 && point->y0 < y && y < point->y1;
            if (!is_near && !is_same_point(d, i, own) && boxes_touch(&dot, point)) return false;
        }
    }
    return true;
}

/* From a point to the nearest of a name's box. */
static double distance_to(const box *name, double x, double y)
{
    return hypot(fmax(0, fmax(name->x0 - x, x - name->x1)), fmax(0, fmax(name->y0 - y, y - name->y1)));
}

/* The name seems to be its own point's: clearly nearer to it than to any other, or tied to it and not beside another.
 */
static bool is_own_place(const picture *d, size_t own, const box *name, double x, double y, bool tied)
{
    enum { NEARER = 4, BESIDE = 9 };
    const double least = tied ? BESIDE : distance_to(name, x, y) + NEARER;
    for (size_t i = 0; i < d->n_points; i++) {
        const double other_x = (d->boxes[i].x0 + d->boxes[i].x1) / 2, other_y = (d->boxes[i].y0 + d->boxes[i].y1) / 2;
        if (!is_same_point(d, i, own) && distance_to(name, other_x, other_y) < least) return false;
    }
    return true;
}

static bool is_inside(const picture *d, const box *name)
{
    return name->x0 >= d->area->left + 2 && name->x1 <= WIDTH && name->y0 >= d->area->top &&
           name->y1 <= d->area->top + d->area->height;
}

/* Of a text with its foot at `base`. */
static box name_box(double from, double base, double width) { return (box){from, base - 10, from + width, base + 3}; }

/* A name beside its point, where it covers nothing; false: there is no such place. */
static bool name_beside(page *to, picture *d, size_t own, double x, double y, const char *name)
{
    static const struct {
        double x, y;
        bool left; /* of where it ends */
    } beside[] = {{8, -4, false}, {8, 13, false},   {8, 4, false},  {-8, -4, true},   {-8, 13, true},
                  {-8, 4, true},  {-10, 17, false}, {10, 17, true}, {-10, -9, false}, {10, -9, true}};
    const double width = text_width(name);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const bool left = beside[i].left;
        const double at = x + beside[i].x, base = y + beside[i].y;
        const box mine = name_box(left ? at - width : at, base, width);
        if (!is_inside(d, &mine) || !is_free(&mine, d->boxes, d->n) || !is_own_place(d, own, &mine, x, y, false))
            continue;
        d->boxes[d->n++] = mine;
        text_at(to, at, base, left ? "end" : "start", name);
        return true;
    }
    return false;
}

/* Where the line from a point ends at a name: at a side, or above or below it. */
static void tie_end(double *end_x, double *end_y, const box *name, double x, double y)
{
    const bool beside = x < name->x0 || x > name->x1;
    *end_x = x < name->x0 ? name->x0 - 1 : x > name->x1 ? name->x1 + 1 : x;
    *end_y = beside ? name->y1 - 7 : y < name->y0 ? name->y0 : name->y1;
}

/* A name anywhere, with the shortest line to its point that is free; false: there is none. */
static bool name_tied(page *to, picture *d, size_t own, double x, double y, const char *name)
{
    enum { SHORTEST = 8, STEP = 6 };
    const double width = text_width(name), bottom = d->area->top + d->area->height;
    double least = INFINITY, end_x = 0, end_y = 0, to_x, to_y;
    box best = {0};
    for (double base = d->area->top + 10; base <= bottom - 3; base += STEP)
        for (double from = d->area->left + 2; from + width <= WIDTH; from += STEP) {
            const box mine = name_box(from, base, width);
            tie_end(&to_x, &to_y, &mine, x, y);
            const double length = hypot(to_x - x, to_y - y);
            if (length < SHORTEST || length >= least || !is_free(&mine, d->boxes, d->n)) continue;
            if (!is_own_place(d, own, &mine, x, y, true) || !may_tie(d, own, x, y, to_x, to_y)) continue;
            least = length, best = mine, end_x = to_x, end_y = to_y;
        }
    if (isinf(least)) return false;
    d->boxes[d->n++] = best;
    for (int step = 1; step <= TIE_BOXES; step++) { /* the next name stands on no tie */
        const double at_x = x + (end_x - x) * step / TIE_BOXES, at_y = y + (end_y - y) * step / TIE_BOXES;
        d->boxes[d->n++] = (box){at_x - 1, at_y - 1, at_x + 1, at_y + 1};
    }
    kn_buffer_printf(&to->out, "<path class=\"axis\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x, y, end_x, end_y);
    text_at(to, best.x0, best.y1 - 3, "start", name);
    return true;
}

/* Small boxes along the line, so that no name stands on it. */
static size_t line_boxes(box *boxes, const page_curve *curve, const frame *area)
{
    size_t n = 0, from = SIZE_MAX;
    for (size_t i = 0; i < curve->n; i++) {
        if (curve->joined == NULL || !curve->joined[i]) continue;
        for (int step = 0; from != SIZE_MAX && step < LINE_BOXES; step++) {
            double share = step / (LINE_BOXES - 1.0);
            double x = frame_x(area, curve->x[from]) * (1 - share) + frame_x(area, curve->x[i]) * share;
            double y = frame_y(area, curve->y[from]) * (1 - share) + frame_y(area, curve->y[i]) * share;
            boxes[n++] = (box){x - 1, y - 1, x + 1, y + 1};
        }
        from = i;
    }
    return n;
}

/* Names beside their points as far as there is room, then the others, tied to theirs; false: one has no place. A label
 * NULL: another point's is this one's too; `group` tells whose, and may be NULL where there is none. */
static bool names_draw(page *to, const page_curve *curve, const frame *area, const char *const *labels,
                       const size_t *group)
{
    bool all = true, *named = kn_array_alloc(curve->n, sizeof *named, NULL);
    picture d = {.area = area, .group = group};
    d.boxes = kn_array_alloc_raw(curve->n * (2 + TIE_BOXES + LINE_BOXES), sizeof *d.boxes, NULL);
    to->out.failed |= named == NULL || d.boxes == NULL;
    if (to->out.failed) goto done;
    for (size_t i = 0; i < curve->n; i++) {
        double x = frame_x(area, curve->x[i]), y = frame_y(area, curve->y[i]);
        d.boxes[d.n++] = (box){x - 4, y - 4, x + 4, y + 4};
    }
    d.n_points = d.n;
    d.n += line_boxes(d.boxes + d.n, curve, area);
    d.n_lines = d.n;
    for (size_t i = 0; i < curve->n; i++)
        named[i] = labels[i] == NULL ||
                   name_beside(to, &d, i, frame_x(area, curve->x[i]), frame_y(area, curve->y[i]), labels[i]);
    while (all) { /* from the lowest up: a name below its point leaves those above it theirs */
        size_t lowest = curve->n;
        for (size_t i = 0; i < curve->n; i++)
            if (!named[i] && (lowest == curve->n || curve->y[i] < curve->y[lowest])) lowest = i;
        if (lowest == curve->n) break;
        all =
            name_tied(to, &d, lowest, frame_x(area, curve->x[lowest]), frame_y(area, curve->y[lowest]), labels[lowest]);
        named[lowest] = true;
    }
done:
    kn_free(named);
    kn_free(d.boxes);
    return all;
}

/* Draws all names, or nothing where one has no place. */
static bool names_try(page *to, const page_curve *curve, const frame *area, const char *const *labels,
                      const size_t *group)
{
    page trial = {.language = to->language, .unit = to->unit};
    const bool fit = names_draw(&trial, curve, area, labels, group);
    to->out.failed |= trial.out.failed;
    if (fit && trial.out.bytes != NULL) page_raw(to, trial.out.bytes);
    kn_buffer_free(&trial.out);
    return fit;
}

enum { KEY_LINE = 16, KEY_GAP = 14 };

/* "12 mondrian k=5": how many stand side by side. */
static size_t key_columns(const page_curve *curve)
{
    double widest = text_width("000 ");
    for (size_t i = 0; i < curve->n; i++) widest = fmax(widest, text_width("000 ") + text_width(curve->labels[i]));
    return (size_t)fmax(1, floor((WIDTH + KEY_GAP) / (widest + KEY_GAP)));
}

static size_t key_rows(const page_curve *curve) { return (curve->n + key_columns(curve) - 1) / key_columns(curve); }

/* Of each point the first one that is so near that they share a name. */
static void groups_make(size_t *group, const page_curve *curve, const frame *area, double radius)
{
    for (size_t i = 0; i < curve->n; i++) {
        const double x = frame_x(area, curve->x[i]), y = frame_y(area, curve->y[i]);
        group[i] = i;
        for (size_t j = 0; j < i && group[i] == i; j++)
            if (group[j] == j && hypot(frame_x(area, curve->x[j]) - x, frame_y(area, curve->y[j]) - y) < radius)
                group[i] = j;
    }
}

/* "3, 7–9": the points of a group. */
static void group_name(kn_buffer *out, const size_t *group, size_t n, size_t of)
{
    kn_buffer_clear(out);
    for (size_t i = of, last; i < n; i = last + 1) {
        last = i;
        if (group[i] != of) continue;
        while (last + 1 < n && group[last + 1] == of) last++;
        kn_buffer_printf(out, out->n > 0 ? ", %zu" : "%zu", i + 1);
        if (last > i) kn_buffer_printf(out, last > i + 1 ? "–%zu" : ", %zu", last + 1);
    }
}

/* Numbers of the points, each alone as far as there is room, otherwise more and more that lie together. */
static void numbers_place(page *to, const page_curve *curve, const frame *area)
{
    size_t *group = kn_array_alloc(curve->n, sizeof *group, NULL);
    const char **labels = kn_array_alloc(curve->n, sizeof *labels, NULL);
    kn_buffer *names = kn_array_alloc(curve->n, sizeof *names, NULL);
    to->out.failed |= group == NULL || labels == NULL || names == NULL;
    for (double radius = 1; !to->out.failed; radius *= 2) {
        groups_make(group, curve, area, radius);
        for (size_t i = 0; i < curve->n; i++) {
            labels[i] = NULL;
            if (group[i] != i) continue;
            group_name(&names[i], group, curve->n, i);
            to->out.failed |= names[i].failed;
            labels[i] = names[i].bytes;
        }
        if (to->out.failed || names_try(to, curve, area, labels, group)) break;
        if (radius < 2 * WIDTH) continue;
        text_at(to, WIDTH, area->top + 10, "end", labels[0]); /* all are one group */
        break;
    }
    for (size_t i = 0; names != NULL && i < curve->n; i++) kn_buffer_free(&names[i]);
    kn_free(group);
    kn_free(labels);
    kn_free(names);
}

/* More points than there is room for names of: they are numbered, and every name stands below with its number. */
static void numbers_draw(page *to, const page_curve *curve, const frame *area)
{
    kn_buffer line = {0};
    const size_t n_rows = key_rows(curve), n_columns = key_columns(curve);
    numbers_place(to, curve, area);
    for (size_t i = 0; i < curve->n; i++) {
        kn_buffer_clear(&line);
        kn_buffer_printf(&line, "%zu %s", i + 1, curve->labels[i]);
        if (line.failed) break;
        text_at(to, (WIDTH + KEY_GAP) / (double)n_columns * (double)(i / n_rows),
                area->top + area->height + 42 + KEY_LINE * (double)(i % n_rows + 1), "start", line.bytes);
    }
    to->out.failed |= line.failed;
    kn_buffer_free(&line);
}

void page_draw_curve(page *to, const page_curve *curve)
{
    frame area = frame_around(curve);
    page names = {.language = to->language, .unit = to->unit};
    const bool numbered =
        curve->labels != NULL && (curve->n > MAX_NAMED || !names_try(&names, curve, &area, curve->labels, NULL));
    figure_open(to, curve->title, curve->desc,
                area.top + area.height + 42 + (numbered ? KEY_LINE * (double)key_rows(curve) + 6 : 0));
    axes(to, curve, &area);
    line_draw(to, curve, &area);
    for (size_t i = 0; i < curve->n && curve->labels != NULL; i++)
        kn_buffer_printf(&to->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
                         curve->joined[i] ? "s1" : "open", frame_x(&area, curve->x[i]), frame_y(&area, curve->y[i]));
    if (numbered) numbers_draw(to, curve, &area);
    else if (names.out.bytes != NULL) page_raw(to, names.out.bytes);
    to->out.failed |= names.out.failed;
    kn_buffer_free(&names.out);
    page_raw(to, "</svg>\n");
}

void page_draw_rows(page *to, kn_text title, kn_text desc, const uint32_t *row, const uint8_t *state, size_t n)
{
    uint32_t n_rows = 0, in_row[256] = {0}, drawn[256] = {0}, widest = 1;
    for (size_t i = 0; i < n; i++) {
        if (row[i] >= 256) return;
        if (row[i] + 1 > n_rows) n_rows = row[i] + 1;
        if (++in_row[row[i]] > widest) widest = in_row[row[i]];
    }
    double step = fmin(26, (WIDTH - 40) / widest), radius = fmin(7, step * 0.36), height = fmax(18, step);
    figure_open(to, title, desc, height * n_rows + 8);
    for (size_t i = 0; i < n; i++) {
        double x = 30 + (WIDTH - 40) / 2 + (drawn[row[i]]++ - (in_row[row[i]] - 1) / 2.0) * step;
        double y = height * (n_rows - 1 - row[i]) + height / 2 + 2;
        kn_buffer_printf(&to->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                         state[i] == 1 || state[i] == 2 ? "s1" : "open", x, y, radius);
        if (state[i] >= 2)
            kn_buffer_printf(&to->out, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y,
                             radius + 3);
    }
    for (uint32_t r = 0; r < n_rows; r++)
        text_at(to, 18, height * (n_rows - 1 - r) + height / 2 + 6, "end", page_count(to, r).text);
    page_raw(to, "</svg>\n");
}
