/* kanon-generate ROWS [--seed N] [-o FILE] [--hierarchies DIR]
 *
 * A population that never lived: patient_id, name, age, sex, zip, marital_status, education, occupation, country,
 * diagnosis, income. Skewed and correlated the way such registers are (education follows age, occupation education,
 * income all of them, country the region, diagnosis age and sex), with a few missing cells, codes with leading
 * zeros and names that are not ASCII.
 *
 * Only integers are used, so a seed gives the same bytes on every machine; and a row does not depend on how many
 * follow, so a smaller population is the beginning of a larger one. Every skewed choice is one lookup in a table of
 * 4096 or 65536 slots filled in proportion to weights: about 5 million rows a second.
 *
 * --hierarchies writes marital_status.csv, education.csv, occupation.csv and country.csv into an existing folder. */
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define N_SLOTS       4096
#define N_ZIP_SLOTS   65536
#define N_REGIONS     45
#define N_ZIPS        900
#define OLDEST        100
#define MAX_ROWS      1000000000u /* patient_id has nine digits */

/* --- What people are like ----------------------------------------------------------------------------------------- */

typedef enum { FEMALE, MALE, OTHER } sex;
enum { CHILD, YOUNG, MIDDLE, OLD, N_BANDS }; /* below 18, 40, 65, and above */

static const char *const sex_names[] = {"F", "M", "X"};

enum { SINGLE, MARRIED, PARTNERED, SEPARATED, DIVORCED, WIDOWED };
static const struct {
    const char *name, *group;
} marital[] = {{"never married", "unmarried"}, {"married", "in a marriage"},   {"civil partnership", "in a marriage"},
               {"separated", "in a marriage"}, {"divorced", "marriage ended"}, {"widowed", "marriage ended"}};
static const int marital_weights[][LENGTH(marital)] = {
    {1, 0, 0, 0, 0, 0},        /* below 18 */
    {860, 110, 15, 5, 9, 1},   /* below 28 */
    {420, 470, 20, 30, 57, 3}, /* below 40 */
    {190, 590, 12, 38, 155, 15}, {60, 560, 4, 16, 140, 220},
};

static const struct {
    const char *name, *group, *branch;
    int pay; /* percent */
} education[] = {
    {"none", "no certificate", "basic", 60},
    {"primary school", "no certificate", "basic", 65},
    {"lower secondary", "school certificate", "basic", 75},
    {"middle school", "school certificate", "basic", 85},
    {"high school", "secondary", "middle", 95},
    {"vocational training", "secondary", "middle", 100},
    {"master craftsman", "trade", "middle", 122},
    {"technical college", "trade", "middle", 118},
    {"bachelor", "university", "higher", 130},
    {"master", "university", "higher", 155},
    {"doctorate", "postgraduate", "higher", 190},
    {"professor", "postgraduate", "higher", 240},
};
static const int education_weights[][LENGTH(education)] = {
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},    /* below 6 */
    {30, 970, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* below 12 */
    {20, 180, 400, 380, 20, 0, 0, 0, 0, 0, 0, 0},
    {15, 15, 90, 170, 260, 240, 10, 30, 140, 30, 0, 0}, /* below 28 */
    {20, 10, 80, 130, 90, 300, 40, 60, 140, 115, 14, 1},
    {25, 15, 130, 190, 70, 330, 60, 55, 60, 52, 11, 2},
    {45, 60, 330, 180, 40, 220, 45, 30, 22, 22, 5, 1},
};

static const struct {
    const char *name, *group, *branch;
    int pay;                   /* percent */
    int basic, middle, higher; /* weight by education */
    int female_percent;        /* the weight of women, of men the rest, in relation to 50 */
} occupations[] = {
    {"farmer", "farming", "production", 70, 20, 12, 3, 30},
    {"forester", "farming", "production", 75, 4, 5, 2, 15},
    {"fisher", "farming", "production", 68, 3, 1, 0, 8},
    {"miner", "industry", "production", 105, 4, 5, 0, 3},
    {"welder", "industry", "production", 98, 20, 25, 0, 5},
    {"machine operator", "industry", "production", 85, 60, 40, 1, 25},
    {"mechanic", "industry", "production", 92, 25, 50, 2, 6},
    {"electrician", "construction", "production", 100, 6, 45, 3, 5},
    {"carpenter", "construction", "production", 90, 15, 30, 1, 5},
    {"bricklayer", "construction", "production", 86, 30, 20, 0, 2},
    {"driver", "transport", "services", 78, 60, 35, 2, 12},
    {"pilot", "transport", "services", 240, 0, 1, 4, 10},
    {"postal worker", "transport", "services", 72, 25, 15, 1, 40},
    {"cleaner", "household", "services", 50, 80, 15, 1, 80},
    {"caretaker", "household", "services", 66, 25, 12, 1, 20},
    {"cook", "hospitality", "services", 68, 40, 30, 1, 40},
    {"waiter", "hospitality", "services", 58, 40, 25, 4, 60},
    {"shop assistant", "trade", "services", 66, 75, 80, 8, 70},
    {"sales agent", "trade", "services", 110, 12, 45, 22, 42},
    {"hairdresser", "care", "services", 55, 12, 22, 0, 85},
    {"childcare worker", "care", "services", 82, 8, 45, 12, 90},
    {"nurse", "health", "professions", 95, 4, 70, 18, 82},
    {"midwife", "health", "professions", 98, 0, 4, 3, 99},
    {"physician", "health", "professions", 260, 0, 0, 40, 47},
    {"pharmacist", "health", "professions", 170, 0, 2, 10, 68},
    {"teacher", "education", "professions", 130, 0, 6, 75, 70},
    {"researcher", "education", "professions", 140, 0, 0, 26, 42},
    {"clerk", "office", "professions", 90, 22, 120, 40, 66},
    {"accountant", "office", "professions", 125, 1, 30, 32, 55},
    {"manager", "office", "professions", 210, 3, 28, 55, 30},
    {"lawyer", "office", "professions", 220, 0, 0, 20, 42},
    {"software developer", "technology", "professions", 165, 1, 20, 48, 20},
    {"engineer", "technology", "professions", 168, 0, 14, 60, 22},
    {"architect", "technology", "professions", 145, 0, 1, 11, 45},
    {"artist", "culture", "professions", 70, 4, 8, 14, 52},
    {"journalist", "culture", "professions", 105, 0, 3, 11, 50},
    {"police officer", "state", "professions", 115, 0, 24, 8, 30},
    {"soldier", "state", "professions", 105, 2, 13, 4, 12},
    /* not chosen by weight */
    {"child or pupil", "not working", "none", 0, 0, 0, 0, 50},
    {"student", "not working", "none", 12, 0, 0, 0, 50},
    {"unemployed", "not working", "none", 28, 45, 25, 10, 45},
    {"homemaker", "not working", "none", 8, 45, 30, 12, 92},
    {"retired", "not working", "none", 45, 0, 0, 0, 50},
};
#define N_OCCUPATIONS LENGTH(occupations)
enum { PUPIL = N_OCCUPATIONS - 5, STUDENT, UNEMPLOYED, HOMEMAKER, RETIRED };

static const struct {
    const char *name, *region, *continent;
    int rural, urban;
} countries[] = {
    {"Germany", "Central Europe", "Europe", 9100, 7000},
    {"Austria", "Central Europe", "Europe", 30, 45},
    {"Switzerland", "Central Europe", "Europe", 12, 22},
    {"Poland", "Central Europe", "Europe", 180, 290},
    {"Czechia", "Central Europe", "Europe", 30, 45},
    {"Hungary", "Central Europe", "Europe", 25, 40},
    {"Slovakia", "Central Europe", "Europe", 8, 14},
    {"France", "Western Europe", "Europe", 14, 45},
    {"Netherlands", "Western Europe", "Europe", 25, 30},
    {"Belgium", "Western Europe", "Europe", 4, 8},
    {"United Kingdom", "Western Europe", "Europe", 10, 35},
    {"Ireland", "Western Europe", "Europe", 2, 6},
    {"Italy", "Southern Europe", "Europe", 60, 180},
    {"Spain", "Southern Europe", "Europe", 15, 60},
    {"Portugal", "Southern Europe", "Europe", 12, 40},
    {"Greece", "Southern Europe", "Europe", 20, 95},
    {"Croatia", "Southern Europe", "Europe", 30, 95},
    {"Serbia", "Southern Europe", "Europe", 18, 70},
    {"Bosnia", "Southern Europe", "Europe", 15, 50},
    {"Romania", "Eastern Europe", "Europe", 95, 190},
    {"Bulgaria", "Eastern Europe", "Europe", 35, 80},
    {"Ukraine", "Eastern Europe", "Europe", 60, 150},
    {"Russia", "Eastern Europe", "Europe", 110, 190},
    {"Sweden", "Northern Europe", "Europe", 2, 5},
    {"Denmark", "Northern Europe", "Europe", 4, 5},
    {"Norway", "Northern Europe", "Europe", 1, 2},
    {"Finland", "Northern Europe", "Europe", 1, 3},
    {"Turkey", "Western Asia", "Asia", 70, 480},
    {"Syria", "Western Asia", "Asia", 60, 190},
    {"Iraq", "Western Asia", "Asia", 18, 60},
    {"Iran", "Western Asia", "Asia", 8, 50},
    {"Kazakhstan", "Central Asia", "Asia", 90, 110},
    {"Afghanistan", "Central Asia", "Asia", 22, 75},
    {"India", "Southern Asia", "Asia", 6, 50},
    {"Pakistan", "Southern Asia", "Asia", 4, 25},
    {"China", "Eastern Asia", "Asia", 5, 40},
    {"Vietnam", "Eastern Asia", "Asia", 8, 32},
    {"Japan", "Eastern Asia", "Asia", 1, 8},
    {"Morocco", "Northern Africa", "Africa", 6, 35},
    {"Tunisia", "Northern Africa", "Africa", 3, 14},
    {"Egypt", "Northern Africa", "Africa", 2, 12},
    {"Eritrea", "Sub-Saharan Africa", "Africa", 9, 26},
    {"Nigeria", "Sub-Saharan Africa", "Africa", 4, 25},
    {"Ghana", "Sub-Saharan Africa", "Africa", 2, 20},
    {"C\xc3\xb4te d'Ivoire", "Sub-Saharan Africa", "Africa", 1, 3},
    {"United States", "North America", "America", 14, 38},
    {"Canada", "North America", "America", 2, 6},
    {"Brazil", "Latin America", "America", 5, 25},
    {"Colombia", "Latin America", "America", 2, 9},
    {"Mexico", "Latin America", "America", 1, 6},
};

static const struct {
    const char *name;
    int weight[N_BANDS];
    int female, male; /* percent of the weight */
} diagnoses[] = {
    {"none", {400, 300, 120, 40}, 100, 100},
    {"acute bronchitis", {160, 90, 60, 50}, 100, 100},
    {"influenza", {120, 90, 60, 40}, 100, 100},
    {"asthma", {90, 60, 50, 40}, 110, 90},
    {"otitis media", {110, 15, 8, 4}, 100, 100},
    {"allergic rhinitis", {60, 70, 40, 15}, 105, 95},
    {"fracture", {60, 40, 35, 60}, 90, 110},
    {"back pain", {8, 110, 170, 130}, 108, 92},
    {"hypertension", {1, 30, 210, 340}, 95, 105},
    {"type 2 diabetes", {1, 10, 85, 150}, 90, 110},
    {"type 1 diabetes", {4, 4, 4, 2}, 95, 105},
    {"hyperlipidaemia", {0, 12, 95, 120}, 90, 110},
    {"coronary heart disease", {0, 2, 40, 120}, 65, 135},
    {"heart failure", {0, 1, 14, 70}, 95, 105},
    {"stroke", {0, 2, 12, 42}, 95, 105},
    {"COPD", {0, 4, 36, 62}, 90, 110},
    {"depression", {14, 75, 90, 55}, 135, 65},
    {"anxiety disorder", {12, 55, 48, 25}, 130, 70},
    {"alcohol dependence", {0, 14, 28, 10}, 50, 150},
    {"schizophrenia", {0, 6, 6, 3}, 90, 110},
    {"epilepsy", {7, 6, 6, 7}, 98, 102},
    {"migraine", {8, 50, 42, 10}, 150, 50},
    {"hypothyroidism", {2, 24, 45, 40}, 160, 40},
    {"osteoarthritis", {0, 8, 75, 120}, 118, 82},
    {"dementia", {0, 0, 2, 60}, 120, 80},
    {"breast cancer", {0, 4, 26, 26}, 198, 2},
    {"prostate cancer", {0, 0, 12, 38}, 0, 200},
    {"lung cancer", {0, 1, 10, 15}, 80, 120},
    {"pregnancy complication", {0, 30, 1, 0}, 200, 0},
    {"hepatitis C", {0, 3, 5, 3}, 80, 120},
    {"HIV", {0, 5, 5, 1}, 35, 165},
    {"cystic fibrosis", {1, 1, 0, 0}, 100, 100},
};

static const char *const given_names[2][24] = {
    {"Anna",
     "Maria",
     "Lena",
     "Emma",
     "Sophie",
     "Petra",
     "Sabine",
     "Ursula",
     "Karin",
     "Monika",
     "Laura",
     "Julia",
     "Elif",
     "Aylin",
     "Olga",
     "Natalia",
     "Ren\xc3\xa9"
     "e",
     "Ingrid",
     "Helga",
     "Gisela",
     "Mia",
     "Clara",
     "Ida",
     "Fatima"},
    {"Peter",        "Hans",          "Jan",   "Lukas",  "Paul",   "Thomas", "Michael", "Andreas",
     "Stefan",       "J\xc3\xbcrgen", "Uwe",   "Ben",    "Mehmet", "Ali",    "Igor",    "Piotr",
     "Andr\xc3\xa9", "Karl",          "Horst", "Werner", "Leon",   "Emil",   "Anton",   "Omar"}};
static const char *const family_names[] = {"M\xc3\xbcller",
                                           "Schmidt",
                                           "Schneider",
                                           "Fischer",
                                           "Weber",
                                           "Meyer",
                                           "Wagner",
                                           "Becker",
                                           "Schulz",
                                           "Hoffmann",
                                           "Sch\xc3\xa4"
                                           "fer",
                                           "Koch",
                                           "Bauer",
                                           "Richter",
                                           "Klein",
                                           "Wolf",
                                           "Schr\xc3\xb6"
                                           "der",
                                           "Neumann",
                                           "Schwarz",
                                           "Zimmermann",
                                           "Braun",
                                           "Kr\xc3\xbcger",
                                           "Hofmann",
                                           "Hartmann",
                                           "Lange",
                                           "Werner",
                                           "Krause",
                                           "Lehmann",
                                           "K\xc3\xb6hler",
                                           "Maier",
                                           "Y\xc4\xb1lmaz",
                                           "Kaya",
                                           "Demir",
                                           "Nowak",
                                           "Kowalski",
                                           "Ivanova",
                                           "Popescu",
                                           "Horvat",
                                           "Nguyen",
                                           "Rossi",
                                           "Garc\xc3\xad"
                                           "a",
                                           "Silva",
                                           "Haddad",
                                           "O'Neill",
                                           "van den Berg",
                                           "von Stein",
                                           "L\xc3\xb3pez",
                                           "Smith"};

/* --- Tables of slots ---------------------------------------------------------------------------------------------- */

typedef struct population {
    uint8_t age[N_SLOTS];
    uint8_t marital[LENGTH(marital_weights)][N_SLOTS];
    uint8_t education[LENGTH(education_weights)][N_SLOTS];
    uint8_t occupation[2][3][N_SLOTS]; /* by sex and branch of education */
    uint8_t country[2][N_SLOTS];       /* rural, urban */
    uint8_t diagnosis[2][N_BANDS][N_SLOTS];
    uint16_t zip[N_ZIP_SLOTS];
    char zip_text[N_ZIPS][5];
    bool zip_is_urban[N_ZIPS];
    uint32_t spread[1024]; /* of incomes, in 1/65536: roughly log-normal */
} population;

/* Share of slot s in proportion to the weights, cumulative, so that every positive weight that is large enough gets
 * its slots. */
static void slots_fill8(uint8_t *slots, const int *weights, size_t n)
{
    uint64_t total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) total += (uint64_t)weights[i];
    for (size_t i = 0, slot = 0; i < n; i++) {
        sum += (uint64_t)weights[i];
        for (; slot < sum * N_SLOTS / total; slot++) slots[slot] = (uint8_t)i;
    }
}

static void ages_fill(uint8_t *slots)
{
    int weights[OLDEST];
    for (int age = 0; age < OLDEST; age++) {
        int weight = 90 + (age < 20 ? age / 2 : 10);
        if (age >= 48 && age < 64) weight += 50; /* the large cohorts */
        if (age >= 66) weight -= (age - 66) * 2;
        if (age >= 80) weight -= (age - 80) * 4;
        if (age >= 90) weight = 12 - (age - 90);
        weights[age] = weight > 0 ? weight : 1;
    }
    slots_fill8(slots, weights, OLDEST);
}

static void occupations_fill(population *people)
{
    for (int s = 0; s < 2; s++)
        for (int branch = 0; branch < 3; branch++) {
            int weights[N_OCCUPATIONS];
            for (size_t i = 0; i < N_OCCUPATIONS; i++) {
                int weight = branch == 0   ? occupations[i].basic
                             : branch == 1 ? occupations[i].middle
                                           : occupations[i].higher;
                weights[i] =
                    weight * (s == FEMALE ? occupations[i].female_percent : 100 - occupations[i].female_percent);
            }
            slots_fill8(people->occupation[s][branch], weights, N_OCCUPATIONS);
        }
}

static void diagnoses_fill(population *people)
{
    for (int s = 0; s < 2; s++)
        for (int band = 0; band < N_BANDS; band++) {
            int weights[LENGTH(diagnoses)];
            for (size_t i = 0; i < LENGTH(diagnoses); i++)
                weights[i] = diagnoses[i].weight[band] * (s == FEMALE ? diagnoses[i].female : diagnoses[i].male);
            slots_fill8(people->diagnosis[s][band], weights, LENGTH(diagnoses));
        }
}

/* Regions are the first two digits; each has 20 postal codes. Sizes fall like 1/rank, in the regions and inside them.
 */
static void zips_fill(population *people)
{
    uint64_t weights[N_ZIPS], total = 0, sum = 0;
    for (int zip = 0; zip < N_ZIPS; zip++) {
        int region = zip / (N_ZIPS / N_REGIONS), place = zip % (N_ZIPS / N_REGIONS);
        int region_rank = (region * 17 + 5) % N_REGIONS;
        int digits = (1 + region * 2) * 1000 + (place / 4 * 100) + (place % 4) * 20 + region % 7;
        for (int i = 4; i >= 0; i--, digits /= 10) people->zip_text[zip][i] = (char)('0' + digits % 10);
        people->zip_is_urban[zip] = region_rank < 9;
        weights[zip] = 1000000 / (uint64_t)((region_rank + 4) * (place + 3));
        total += weights[zip];
    }
    for (int zip = 0, slot = 0; zip < N_ZIPS; zip++) {
        sum += weights[zip];
        for (; slot < (int)(sum * N_ZIP_SLOTS / total); slot++) people->zip[slot] = (uint16_t)zip;
    }
}

static void population_fill(population *people)
{
    ages_fill(people->age);
    for (size_t i = 0; i < LENGTH(marital_weights); i++)
        slots_fill8(people->marital[i], marital_weights[i], LENGTH(marital));
    for (size_t i = 0; i < LENGTH(education_weights); i++)
        slots_fill8(people->education[i], education_weights[i], LENGTH(education));
    occupations_fill(people);
    diagnoses_fill(people);
    zips_fill(people);
    for (int urban = 0; urban < 2; urban++) {
        int weights[LENGTH(countries)];
        for (size_t i = 0; i < LENGTH(countries); i++) weights[i] = urban ? countries[i].urban : countries[i].rural;
        slots_fill8(people->country[urban], weights, LENGTH(countries));
    }
    uint64_t factor = 65536 * 22 / 100; /* grows by 0.32 % a step: 0.22 to 5.8 */
    for (size_t i = 0; i < LENGTH(people->spread); i++, factor += factor * 32 / 10000)
        people->spread[i] = (uint32_t)factor;
}

/* --- One person --------------------------------------------------------------------------------------------------- */

typedef struct person {
    uint32_t id, age, sex, zip, marital, education, occupation, country, diagnosis, income, given, family;
    bool no_zip, no_marital, no_education, no_occupation, no_country, no_income;
} person;

static uint32_t education_stage(uint32_t age)
{
    return age < 6 ? 0 : age < 12 ? 1 : age < 18 ? 2 : age < 28 ? 3 : age < 45 ? 4 : age < 65 ? 5 : 6;
}

static int education_branch(uint32_t level) { return level < 4 ? 0 : level < 8 ? 1 : 2; }

static uint32_t occupation_choose(const population *people, const person *who, uint64_t bits, uint32_t body)
{
    uint32_t percent = (uint32_t)((bits & 0xfff) * 100 >> 12);
    if (who->age < 16) return PUPIL;
    if (who->age < 19 && percent < 75) return PUPIL;
    if (who->age < 28 && percent < (who->education == 4 ? 55u : who->education == 8 ? 40u : 6u)) return STUDENT;
    if (who->age >= 67 && percent < 94) return RETIRED;
    if (who->age >= 62 && percent < 45) return RETIRED;
    return people->occupation[body][education_branch(who->education)][(bits >> 12) & (N_SLOTS - 1)];
}

static uint32_t income_choose(const population *people, const person *who, uint64_t bits)
{
    if (who->occupation == PUPIL) return 0;
    uint32_t step = (uint32_t)((bits & 255) + ((bits >> 8) & 255) + ((bits >> 16) & 255) + ((bits >> 24) & 255));
    uint64_t income = 30000;
    income = income * (uint64_t)occupations[who->occupation].pay / 100;
    income = income * (uint64_t)(100 + education[who->education].pay) / 200;
    uint32_t years = who->age < 20 ? 0 : who->age > 55 ? 35 : who->age - 20;
    income = income * (75 + years * 3 / 2) / 100;
    if (who->sex == FEMALE) income = income * 88 / 100;
    income = income * people->spread[step] >> 16;
    return (uint32_t)((income + 50) / 100 * 100);
}

static void person_make(person *who, const population *people, kn_rng *rng, uint32_t number)
{
    uint64_t a = kn_rng_next(rng), b = kn_rng_next(rng), c = kn_rng_next(rng), d = kn_rng_next(rng);
    who->id = (uint32_t)((number * UINT64_C(387420489) + 123456789) % MAX_ROWS); /* 3^18: no two alike, no order */
    who->age = people->age[a & (N_SLOTS - 1)];
    uint32_t chance = (uint32_t)(a >> 12) & 1023; /* women live longer */
    who->sex = ((a >> 22) & 511) == 0                                     ? OTHER
               : chance < 500 + (who->age > 60 ? (who->age - 60) * 6 : 0) ? FEMALE
                                                                          : MALE;
    uint32_t body = who->sex == OTHER ? (uint32_t)(a >> 63) : who->sex;
    who->zip = people->zip[(a >> 32) & (N_ZIP_SLOTS - 1)];
    bool urban = people->zip_is_urban[who->zip];
    uint32_t stage = who->age < 18 ? 0 : who->age < 28 ? 1 : who->age < 40 ? 2 : who->age < 65 ? 3 : 4;
    who->marital = people->marital[stage][b & (N_SLOTS - 1)];
    who->education = people->education[education_stage(who->age)][(b >> 12) & (N_SLOTS - 1)];
    if (urban && who->education == 5 && ((b >> 24) & 3) == 0 && who->age >= 25) who->education = 9; /* towns study */
    who->occupation = occupation_choose(people, who, b >> 26, body);
    who->country = people->country[urban][c & (N_SLOTS - 1)];
    uint32_t band = who->age < 18 ? CHILD : who->age < 40 ? YOUNG : who->age < 65 ? MIDDLE : OLD;
    who->diagnosis = people->diagnosis[body][band][(c >> 12) & (N_SLOTS - 1)];
    who->income = income_choose(people, who, c >> 24);
    who->given = (uint32_t)((d & 0xff) * 24 >> 8) + 24 * body;
    who->family = (uint32_t)(((d >> 8) & 0xffff) * LENGTH(family_names) >> 16);
    who->no_zip = ((d >> 24) & 511) == 0;
    who->no_marital = ((d >> 33) & 127) == 0;
    who->no_education = ((d >> 40) & 63) == 0;
    who->no_occupation = ((d >> 46) & 31) == 0 && who->age >= 16;
    who->no_country = ((d >> 51) & 127) == 0;
    who->no_income = ((d >> 58) & 15) == 0 && who->age >= 16;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static char *put_text(char *out, const char *text)
{
    size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

static char *put_number(char *out, uint32_t number)
{
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0) *out++ = digits[--n];
    return out;
}

static char *person_write(char *out, const population *people, const person *who)
{
    *out++ = 'P';
    for (uint32_t digit = MAX_ROWS / 10; digit > 0; digit /= 10) *out++ = (char)('0' + who->id / digit % 10);
    *out++ = ',';
    out = put_text(out, given_names[who->given / 24][who->given % 24]);
    *out++ = ' ';
    out = put_text(out, family_names[who->family]);
    *out++ = ',';
    out = put_number(out, who->age);
    *out++ = ',';
    out = put_text(out, sex_names[who->sex]);
    *out++ = ',';
    if (!who->no_zip) {
        memcpy(out, people->zip_text[who->zip], 5);
        out += 5;
    }
    *out++ = ',';
    if (!who->no_marital) out = put_text(out, marital[who->marital].name);
    *out++ = ',';
    if (!who->no_education) out = put_text(out, education[who->education].name);
    *out++ = ',';
    if (!who->no_occupation) out = put_text(out, occupations[who->occupation].name);
    *out++ = ',';
    if (!who->no_country) out = put_text(out, countries[who->country].name);
    *out++ = ',';
    out = put_text(out, diagnoses[who->diagnosis].name);
    *out++ = ',';
    if (!who->no_income) out = put_number(out, who->income);
    *out++ = '\n';
    return out;
}

static bool population_write(FILE *file, const population *people, uint64_t n_rows, uint64_t seed)
{
    enum { ROOM = 1 << 18, LONGEST_ROW = 400 };
    static char buffer[ROOM + LONGEST_ROW];
    kn_rng rng = kn_rng_new(seed, 0);
    person who;
    char *end =
        put_text(buffer, "patient_id,name,age,sex,zip,marital_status,education,occupation,country,diagnosis,income\n");
    for (uint64_t row = 0; row < n_rows; row++) {
        person_make(&who, people, &rng, (uint32_t)row);
        end = person_write(end, people, &who);
        if (end - buffer >= ROOM) {
            if (fwrite(buffer, 1, (size_t)(end - buffer), file) != (size_t)(end - buffer)) return false;
            end = buffer;
        }
    }
    return fwrite(buffer, 1, (size_t)(end - buffer), file) == (size_t)(end - buffer) && fflush(file) == 0;
}

static FILE *hierarchy_open(const char *folder, const char *column)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", folder, column);
    FILE *file = fopen(path, "w");
    if (file == NULL) fprintf(stderr, "kanon-generate: %s: %s\n", path, strerror(errno));
    return file;
}

static bool hierarchies_write(const char *folder)
{
    FILE *file = hierarchy_open(folder, "marital_status");
    if (file == NULL) return false;
    for (size_t i = 0; i < LENGTH(marital); i++) fprintf(file, "%s;%s;*\n", marital[i].name, marital[i].group);
    bool good = fclose(file) == 0;
    if ((file = hierarchy_open(folder, "education")) == NULL) return false;
    for (size_t i = 0; i < LENGTH(education); i++)
        fprintf(file, "%s;%s;%s;*\n", education[i].name, education[i].group, education[i].branch);
    good &= fclose(file) == 0;
    if ((file = hierarchy_open(folder, "occupation")) == NULL) return false;
    for (size_t i = 0; i < N_OCCUPATIONS; i++)
        fprintf(file, "%s;%s;%s;*\n", occupations[i].name, occupations[i].group, occupations[i].branch);
    good &= fclose(file) == 0;
    if ((file = hierarchy_open(folder, "country")) == NULL) return false;
    for (size_t i = 0; i < LENGTH(countries); i++)
        fprintf(file, "%s;%s;%s;*\n", countries[i].name, countries[i].region, countries[i].continent);
    return fclose(file) == 0 && good;
}

static bool number_parse(uint64_t *out, const char *text, uint64_t max)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *out = number;
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && number <= max;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: kanon-generate ROWS [--seed N] [-o FILE] [--hierarchies DIR]\n"
            "ROWS is at most %u; the file is stdout unless -o says otherwise\n",
            MAX_ROWS);
    return 2;
}

int main(int argc, char **argv)
{
    static population people;
    uint64_t n_rows = 0, seed = 1;
    const char *path = NULL, *folder = NULL;
    bool has_rows = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && more) {
            if (!number_parse(&seed, argv[++i], UINT64_MAX)) return usage();
        } else if (strcmp(argv[i], "-o") == 0 && more) {
            path = argv[++i];
        } else if (strcmp(argv[i], "--hierarchies") == 0 && more) {
            folder = argv[++i];
        } else if (!has_rows && number_parse(&n_rows, argv[i], MAX_ROWS)) {
            has_rows = true;
        } else {
            return usage();
        }
    }
    if (!has_rows) return usage();
    population_fill(&people);
    if (folder != NULL && !hierarchies_write(folder)) return 3;
    FILE *file = path != NULL ? fopen(path, "w") : stdout;
    if (file == NULL || !population_write(file, &people, n_rows, seed) || (path != NULL && fclose(file) != 0)) {
        fprintf(stderr, "kanon-generate: %s: %s\n", path != NULL ? path : "stdout", strerror(errno));
        return 3;
    }
    return 0;
}
