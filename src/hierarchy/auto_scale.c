/* The scale that the words of a column are of, as `profile` proposes it: order(never<rarely<sometimes<often<always).
 *
 * In: a column of text. Out: order() with the whole scale, so that a word that only next month's table has is known
 * too; or nothing, where some value is of no scale that stands here. Large and small letters are one. The text follows
 * from the words that at least `least` persons have: in their spelling, the others as they are mostly written. A word
 * that fewer have and that stands otherwise would be told by it, so there is none then; a rare word may still be
 * why the scale is the longer one of two. `auto` takes no scale: its
 * labels must not hang on a list of words. Cost: a pass over the rows where there are few values. */
#include "hierarchy/builders.h"

#include "base/fold.h"

#include <stdio.h>
#include <string.h>

/* From one end to the other; | parts words for one place, the usual one first. The shorter of two scales that hold the
 * same words comes first. */
// clang-format off
static const char *const scales[] = {
    "never<rarely|seldom<sometimes|occasionally<often|frequently<always",
    "never<almost never|hardly ever<rarely|seldom<sometimes|occasionally<often|frequently<usually|mostly|very often<almost always<always",
    "never<less than monthly|yearly<monthly<weekly<daily|daily or almost daily",
    "low<medium|moderate|average|middle|normal<high",
    "very low<low<medium|moderate|average|middle|normal<high<very high",
    "none<mild|slight<moderate<severe|serious",
    "none<minimal|very mild<mild|slight<moderate<severe|serious<very severe|critical|extreme",
    "not at all<several days<more than half the days<nearly every day",
    "not at all<a little|a little bit|slightly<somewhat|moderately<quite a bit|very<very much|extremely",
    "strongly disagree|disagree strongly<disagree<neutral|neither agree nor disagree|undecided|neither<agree<strongly agree|agree strongly",
    "strongly disagree<disagree<somewhat disagree|slightly disagree<neutral|neither agree nor disagree<somewhat agree|slightly agree"
    "<agree<strongly agree",
    "very dissatisfied<dissatisfied<neutral|neither satisfied nor dissatisfied|neither<satisfied<very satisfied",
    "very unlikely<unlikely<neutral|possible<likely<very likely",
    "poor|bad<fair|average<good<very good<excellent",
    "very poor|very bad<poor|bad<fair|average<good<very good<excellent",
    "small<medium<large",
    "extra small|very small|tiny<small<medium<large<extra large|very large|huge",
    "xs<s<m<l<xl",
    "xxs<xs<s<m<l<xl<xxl<xxxl",
    "i<ii<iii<iv",
    "i<ii<iii<iv<v<vi",
    "primary<secondary<tertiary",
    "beginner<intermediate<advanced<expert",
    "monday<tuesday<wednesday<thursday<friday<saturday<sunday",
    "mon<tue|tues<wed<thu|thur|thurs<fri<sat<sun",
    "january<february<march<april<may<june<july<august<september<october<november<december",
    "jan<feb<mar<apr<may<jun<jul<aug<sep|sept<oct<nov<dec",

    "nie|niemals<selten<manchmal|gelegentlich<oft|häufig<immer",
    "nie|niemals<fast nie|sehr selten<selten<manchmal|gelegentlich<oft|häufig<meistens|sehr oft|sehr häufig<fast immer<immer",
    "niedrig|gering<mittel<hoch",
    "sehr niedrig|sehr gering<niedrig|gering<mittel<hoch<sehr hoch",
    "keine|kein|keiner<leicht|gering<mittel|mäßig|mittelschwer|mittelgradig|moderat<schwer|stark",
    "keine|kein|keiner<sehr leicht|sehr gering<leicht|gering<mittel|mäßig|mittelschwer|mittelgradig|moderat<schwer|stark<sehr schwer|sehr stark",
    "klein<mittel<groß",
    "sehr klein<klein<mittel<groß<sehr groß",
    "schlecht<mittel|mittelmäßig<gut<sehr gut",
    "sehr schlecht<schlecht<mittel|mittelmäßig<gut<sehr gut",
    "ungenügend<mangelhaft<ausreichend<befriedigend<gut<sehr gut",
    "sehr unzufrieden<unzufrieden<teils/teils|neutral|weder noch<zufrieden<sehr zufrieden",
    "stimme gar nicht zu|stimme überhaupt nicht zu|stimme nicht zu<stimme eher nicht zu<teils/teils|neutral|weder noch|unentschieden"
    "<stimme eher zu<stimme voll zu|stimme voll und ganz zu|stimme zu",
    "trifft gar nicht zu|trifft überhaupt nicht zu|trifft nicht zu<trifft eher nicht zu<teils/teils|neutral|weder noch"
    "<trifft eher zu<trifft voll zu|trifft voll und ganz zu|trifft zu",
    "montag<dienstag<mittwoch<donnerstag<freitag<samstag|sonnabend<sonntag",
    "mo<di<mi<do<fr<sa<so",
    "januar|jänner<februar<märz<april<mai<juni<juli<august<september<oktober<november<dezember",

    "jamais<rarement<parfois|quelquefois<souvent<toujours",
    "faible|bas|basse<moyen|moyenne|modéré|modérée<élevé|élevée|fort|forte|haut|haute",
    "aucun|aucune<léger|légère<modéré|modérée<sévère|grave",
    "pas du tout d'accord<plutôt pas d'accord|pas d'accord<neutre|ni d'accord ni pas d'accord|sans opinion<plutôt d'accord|d'accord"
    "<tout à fait d'accord",
    "lundi<mardi<mercredi<jeudi<vendredi<samedi<dimanche",
    "janvier<février<mars<avril<mai<juin<juillet<août<septembre<octobre<novembre<décembre",

    "nunca<casi nunca|rara vez|raramente<a veces|algunas veces<casi siempre|a menudo|frecuentemente<siempre",
    "bajo|baja<medio|media|moderado|moderada<alto|alta",
    "leve<moderado|moderada<grave|severo|severa<muy grave",
    "lunes<martes<miércoles<jueves<viernes<sábado<domingo",
    "enero<febrero<marzo<abril<mayo<junio<julio<agosto<septiembre<octubre<noviembre<diciembre",

    "mai<raramente|quasi mai<a volte|qualche volta<spesso|quasi sempre<sempre",
    "basso|bassa<medio|media<alto|alta",
    "lieve<moderato|moderata<grave|severo|severa",
    "lunedì<martedì<mercoledì<giovedì<venerdì<sabato<domenica",
    "gennaio<febbraio<marzo<aprile<maggio<giugno<luglio<agosto<settembre<ottobre<novembre<dicembre",

    "nunca<raramente|quase nunca<às vezes<frequentemente|quase sempre<sempre",
    "baixo|baixa<médio|média<alto|alta",
    "leve<moderado|moderada<grave",

    "nooit<zelden<soms<vaak|regelmatig<altijd",
    "laag<gemiddeld|midden<hoog",
    "maandag<dinsdag<woensdag<donderdag<vrijdag<zaterdag<zondag",
    "januari<februari<maart<april<mei<juni<juli<augustus<september<oktober<november<december",
};
// clang-format on

enum { MOST_VALUES = 32, FEWEST_WORDS = 3, WORD_BYTES = 80, NO_PLACE = -1 };

/* How words are written, the first that fits. */
typedef enum style { ALL_SMALL, ALL_LARGE, FIRST_LARGE, EACH_LARGE, N_STYLES } style; /* S is all large */

typedef struct words {
    const kn_build *build;
    uint32_t n_persons[MOST_VALUES], least; /* who have the value */
    int place[MOST_VALUES];                 /* in the scale that is looked at */
} words;

static size_t put_styled(char out[WORD_BYTES], const char *word, size_t n, style how)
{
    bool begins = true, begins_all = true;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)word[i];
        const bool large = how == ALL_LARGE || (how == EACH_LARGE && begins) || (how == FIRST_LARGE && begins_all);
        const bool is_second = i > 0 && (unsigned char)word[i - 1] == 0xC3; /* of a letter from a with grave on */
        out[i] = (char)(large && ((c >= 'a' && c <= 'z') || (is_second && c >= 0xA0)) ? c - 0x20 : c);
        if (c == 0xC3) continue;
        begins = c == ' ' || c == '/';
        begins_all = false;
    }
    return n;
}

/* The next word of a scale, and whether it begins a place; false: there is none. */
static bool next_word(const char **at, const char **word, size_t *n, bool *is_first)
{
    if (**at == '\0') return false;
    *is_first = **at != '|';
    if (**at == '<' || **at == '|') ++*at;
    *word = *at;
    *n = strcspn(*at, "<|");
    *at += *n;
    return true;
}

static int place_of(const char *scale, const char *bytes, size_t n_bytes)
{
    const char *word;
    size_t n;
    bool is_first;
    int place = NO_PLACE;
    if (n_bytes == 0 || n_bytes >= WORD_BYTES || bytes[0] == ' ' || bytes[n_bytes - 1] == ' ') return NO_PLACE;
    while (next_word(&scale, &word, &n, &is_first)) {
        place += is_first;
        if (kn_fold_equal(word, n, bytes, n_bytes)) return place;
    }
    return NO_PLACE;
}

static bool is_common(const words *w, uint32_t value) { return w->n_persons[value] >= w->least; }

/* Places of all values; false: one is of another scale, or the common ones are too few to tell. */
static bool set_places(words *w, const char *scale)
{
    uint64_t seen = 0;
    for (uint32_t value = 0; value < w->build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(w->build, value, &n);
        w->place[value] = place_of(scale, bytes, n);
        if (w->place[value] == NO_PLACE) return false;
        if (is_common(w, value)) seen |= UINT64_C(1) << w->place[value];
    }
    return __builtin_popcountll(seen) >= FEWEST_WORDS;
}

/* The one that all common values have. */
static style find_style(const words *w, const char *scale)
{
    for (style how = ALL_SMALL; how < N_STYLES; how++) {
        bool fits = true;
        for (uint32_t value = 0; value < w->build->n_present && fits; value++) {
            const char *word, *at = scale;
            size_t n, n_word;
            bool is_first, found = !is_common(w, value);
            const char *bytes = kn_build_value(w->build, value, &n);
            while (!found && next_word(&at, &word, &n_word, &is_first)) {
                char styled[WORD_BYTES];
                found = put_styled(styled, word, n_word, how) == n && memcmp(styled, bytes, n) == 0;
            }
            fits = found;
        }
        if (fits) return how;
    }
    return ALL_SMALL;
}

static void put_word(kn_buffer *out, const char *bytes, size_t n)
{
    if (out->n > 0) kn_buffer_char(out, '<');
    kn_buffer_append(out, bytes, n);
}

/* The places in their order, each with its common values, or with its usual word where there are none. A value that is
 * not common must be one of those words: *is_told is false otherwise. */
static void put_scale(kn_buffer *out, bool *is_told, const words *w, const char *scale)
{
    const style how = find_style(w, scale);
    const char *word;
    size_t n, n_word;
    int place = NO_PLACE;
    for (bool is_first; next_word(&scale, &word, &n_word, &is_first);) {
        char usual[WORD_BYTES];
        bool has_common = false;
        if (!is_first) continue;
        place++;
        put_styled(usual, word, n_word, how);
        for (uint32_t value = 0; value < w->build->n_present; value++) {
            const char *bytes = kn_build_value(w->build, value, &n);
            if (w->place[value] != place || !is_common(w, value)) continue;
            put_word(out, bytes, n);
            has_common = true;
        }
        if (!has_common) put_word(out, usual, n_word);
        for (uint32_t value = 0; value < w->build->n_present; value++) {
            const char *bytes = kn_build_value(w->build, value, &n);
            if (w->place[value] != place || is_common(w, value)) continue;
            *is_told = *is_told && !has_common && n == n_word && memcmp(bytes, usual, n) == 0;
        }
    }
}

static kn_status count_persons(words *w, const uint32_t *row_person, uint32_t n_persons, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = w->build->column;
    uint32_t *seen = NULL; /* by person, a bit per value */
    KN_NEW(seen, (size_t)n_persons + 1);
    for (uint32_t row = 0; row < w->build->n_rows; row++) {
        const uint32_t value = kn_column_value(column, kn_column_code(column, row));
        uint32_t *mine = &seen[row_person != NULL ? row_person[row] : row];
        if (value >= w->build->n_present || *mine >> value & 1) continue;
        *mine |= UINT32_C(1) << value;
        w->n_persons[value]++;
    }
done:
    kn_free(seen);
    return status;
}

kn_status kn_scale_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows, const uint32_t *row_person,
                           uint32_t n_persons, uint32_t least, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_hierarchy_request request = {0};
    kn_build build = {.column = column, .n_rows = n_rows, .request = &request};
    words w = {.build = &build, .least = least};
    kn_buffer text = {0};
    const bool is_free = out->spec[0] == '\0' || strcmp(out->spec, "similar") == 0;
    if (column->type != KN_TYPE_TEXT || !is_free || column->n_values > MOST_VALUES) return KN_OK;
    KN_TRY(kn_build_start(&build, err));
    KN_TRY(count_persons(&w, row_person, n_persons, err));
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        bool is_told = true;
        if (!set_places(&w, scales[i])) continue;
        kn_buffer_clear(&text);
        put_scale(&text, &is_told, &w, scales[i]);
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        if (!is_told || text.n + sizeof "order()" > sizeof out->spec) continue;
        snprintf(out->spec, sizeof out->spec, "order(%.*s)", (int)text.n, text.bytes);
        break;
    }
done:
    kn_buffer_free(&text);
    kn_build_end(&build);
    return status;
}
