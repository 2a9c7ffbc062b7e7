/* German. Included by text.c; the order is free, the names are those of text.h. */
[KN_TEXT_LANGUAGE] = "de",
    [KN_TEXT_TITLE] = "Bericht zur Anonymisierung",
    [KN_TEXT_SUBTITLE] = "Was mit %s geschah, was zugesichert ist und was nicht",
    [KN_TEXT_SKIP] = "Zum Inhalt springen", [KN_TEXT_CONTENTS] = "Inhalt",
    [KN_TEXT_DATA_TABLE] = "Das Bild als Tabelle", [KN_TEXT_BEFORE] = "Vorher", [KN_TEXT_AFTER] = "Nachher",
    [KN_TEXT_YES] = "ja", [KN_TEXT_NO] = "nein", [KN_TEXT_NONE] = "keine", [KN_TEXT_NOT_AVAILABLE] = "nicht verfügbar",
    [KN_TEXT_COLUMN] = "Spalte", [KN_TEXT_FIGURE_OF] = "Kennzahl", [KN_TEXT_VALUE] = "Wert",
    [KN_TEXT_PERSONS] = "Personen", [KN_TEXT_ROWS] = "Zeilen", [KN_TEXT_SHORT] = "Kurz gefasst",
    [KN_TEXT_HOLDS_ALL] = "Alles Geforderte gilt in der geschriebenen Datei.",
    [KN_TEXT_BROKEN_SOME] = "Etwas Gefordertes gilt NICHT. Diese Datei nicht weitergeben.",
    [KN_TEXT_NOT_VERIFIED] = "Die geschriebene Datei wurde nicht zurückgelesen.",
    [KN_TEXT_SHORT_PEOPLE] = "%s [Person|Personen] in %s [Klasse|Klassen]; die kleinste Klasse hat %s.",
    [KN_TEXT_HOUSEHOLDS] = "Gezählt werden Haushalte, nach der Spalte %s: Alle in einem zählen zusammen einmal.",
    [KN_TEXT_SHORT_ROWS] = "%s von %s [Zeile ist|Zeilen sind] in der Freigabe; %s [ist|sind] unterdrückt.",
    [KN_TEXT_SHORT_RISK] = "Das höchste Risiko, eine Person zu finden, sinkt von %s auf %s.",
    [KN_TEXT_SHORT_LOSS] = "Der Verlust beträgt %s nach dem Maß %s (0 ist nichts, die ganze Skala alles).",
    [KN_TEXT_SHORT_CAPTION] = "Wovon dieser Bericht handelt", [KN_TEXT_APPENDIX] = "Anhang",
    [KN_TEXT_APPENDIX_TEXT] = "Für alle, die den Lauf prüfen oder wiederholen.",
    [KN_TEXT_VALUES] = "Der Verlust im Einzelnen", [KN_TEXT_SEARCH] = "Die Suche",
    [KN_TEXT_SETS] = "Welche Spalten der ursprünglichen Tabelle auf Personen zeigen",
    [KN_TEXT_SETS_ALONE] = "Welche Spalten auf Personen zeigen", [KN_TEXT_WARNINGS] = "Hinweise",
    [KN_TEXT_ASKED] = "Was gefordert war",
    [KN_TEXT_ASKED_TEXT] =
        "Die Tabelle %s hat %s [Zeile|Zeilen] und %s [Spalte|Spalten]. Jede Spalte hat genau eine Rolle.",
    [KN_TEXT_ROLE] = "Rolle", [KN_TEXT_TYPE] = "Typ", [KN_TEXT_TECHNIQUE] = "Was mit ihr geschieht",
    [KN_TEXT_BOOK_TITLE] = "Codebuch", [KN_TEXT_BOOK_SUBTITLE] = "Was die Spalten und Zellen von %s bedeuten",
    [KN_TEXT_BOOK_SIZE] = "Die Tabelle hat %s [Zeile|Zeilen] und %s [Spalte|Spalten].",
    [KN_TEXT_BOOK_WHY] = "Sie handelt von Menschen. Damit niemand darin gefunden werden kann, sagen manche Zellen "
                         "weniger, als erhoben wurde: einen Bereich, eine Gruppe oder nichts anstelle eines Wertes. "
                         "Was eine Zelle sagt, trifft auf ihre Zeile zu.",
    [KN_TEXT_BOOK_PROMISES] = "Was die Freigabe garantiert", [KN_TEXT_BOOK_READING] = "Wie eine Zelle zu lesen ist",
    [KN_TEXT_BOOK_NOTATION] = "Formen von Zellen an Beispielen", [KN_TEXT_BOOK_CELL] = "Zelle",
    [KN_TEXT_BOOK_MEANS] = "Bedeutet", [KN_TEXT_BOOK_SHARE] = "Anteil",
    [KN_TEXT_BOOK_N_RANGE] = "von 30 bis 39, beide eingeschlossen", [KN_TEXT_BOOK_N_OPEN] = "von 1,5 bis unter 2",
    [KN_TEXT_BOOK_N_TOP] = "90 und mehr", [KN_TEXT_BOOK_N_BOTTOM] = "17 und weniger",
    [KN_TEXT_BOOK_N_SET] = "einer dieser Werte",
    [KN_TEXT_BOOK_N_MASK] = "beginnt mit 48 und hat höchstens drei weitere Zeichen",
    [KN_TEXT_BOOK_N_YEARS] = "bei Datumsangaben: vom ersten Tag 2020 bis zum letzten 2024",
    [KN_TEXT_BOOK_COLUMNS] = "Die Spalten, und was verloren ging",
    [KN_TEXT_BOOK_COLUMNS_TEXT] =
        "Zu jeder Spalte: wie viele ihrer Zellen sind, wie sie erhoben wurden, wie viele "
        "einen Bereich oder eine Gruppe nennen und wie viele nichts sagen: * oder alles, was die "
        "Spalte sein kann.",
    [KN_TEXT_BOOK_LOST] = "Spalten, und wie viel ihre Zellen sagen", [KN_TEXT_BOOK_HOLDS] = "Enthält",
    [KN_TEXT_BOOK_AS_RECORDED] = "Wie erhoben",
    [KN_TEXT_BOOK_IS_QUASI] = "Verallgemeinert, weil sie helfen könnte, jemanden zu finden.",
    [KN_TEXT_BOOK_IS_COPIED] = "Zellen, wie sie erhoben wurden.", [KN_TEXT_BOOK_LABELS] = "Zellen von %s",
    [KN_TEXT_BOOK_VALUES] = "Werte von %s", [KN_TEXT_BOOK_EXACT] = "andere Werte",
    [KN_TEXT_BOOK_EXACT_MEANS] = "der Wert, wie er erhoben wurde", [KN_TEXT_BOOK_STAR] = "*",
    [KN_TEXT_BOOK_MISSING] = "(leer)", [KN_TEXT_BOOK_MISSING_MEANS] = "nichts wurde erhoben",
    [KN_TEXT_BOOK_ANY] = "irgendein Wert", [KN_TEXT_BOOK_FROM_TO] = "von %s bis %s",
    [KN_TEXT_BOOK_UP_TO] = "von %s bis unter %s", [KN_TEXT_BOOK_AND_MORE] = "%s und mehr",
    [KN_TEXT_BOOK_AND_LESS] = "%s und weniger", [KN_TEXT_BOOK_BELOW] = "weniger als %s",
    [KN_TEXT_BOOK_ONE_OF] = "eines von: %s", [KN_TEXT_BOOK_BEGINS] = "beginnt mit %s, höchstens %s Zeichen",
    [KN_TEXT_BOOK_ENDS] = "endet mit %s, höchstens %s Zeichen", [KN_TEXT_BOOK_GROUP] = "eine Gruppe von Werten",
    [KN_TEXT_BOOK_MORE] = "%s weitere [Bezeichnung|Bezeichnungen]",
    [KN_TEXT_BOOK_MORE_MEANS] = "Bereiche oder Gruppen wie oben", [KN_TEXT_BOOK_MANY] = "%s verschiedene Werte.",
    [KN_TEXT_BOOK_MANY_FROM] = "%s verschiedene Werte, von %s bis %s.",
    [KN_TEXT_BOOK_DERIVED] = "Aus Daten derselben Zeile berechnet: %s.",
    [KN_TEXT_BOOK_GRID] = "Bereiche beginnen und enden in Schritten von: %s.", [KN_TEXT_BOOK_DAY] = "einem Tag",
    [KN_TEXT_BOOK_WEEK] = "einer Woche", [KN_TEXT_BOOK_MONTH] = "einem Monat", [KN_TEXT_BOOK_QUARTER] = "einem Quartal",
    [KN_TEXT_BOOK_HALFYEAR] = "einem halben Jahr", [KN_TEXT_BOOK_YEAR] = "einem Jahr",
    [KN_TEXT_BOOK_5YEARS] = "5 Jahren", [KN_TEXT_BOOK_DECADE] = "10 Jahren",

    [KN_TEXT_BOOK_TOP] = "Ab %s haben alle denselben Wert.",
    [KN_TEXT_BOOK_BOTTOM] = "Unter %s haben alle denselben Wert.",
    [KN_TEXT_BOOK_ROUND] = "Nichts Feineres als Schritte von %s wird gesagt.",
    [KN_TEXT_BOOK_ORDER] = "In dieser Reihenfolge: %s.",
    [KN_TEXT_BOOK_MADE] = "Ihre Gruppen wurden aus den Daten gebildet: Werte, die zusammen mit ähnlichen Werten "
                          "anderer Spalten vorkamen. Genannt sind von einer Gruppe die Werte, die Zeilen "
                          "der Freigabe haben.",
    [KN_TEXT_BOOK_PART_MIN] = "kleinster möglicher Wert", [KN_TEXT_BOOK_PART_MAX] = "größter möglicher Wert",
    [KN_TEXT_BOOK_PART_KIND] = "value, interval, suppressed oder missing",
    [KN_TEXT_BOOK_PART_MEAN] = "Mittelwert der Menschen mit gleichen Zellen", [KN_TEXT_BOOK_CARE] = "Bevor Sie rechnen",
    [KN_TEXT_BOOK_CARE_RANGES] =
        "Ein Bereich ist kein Wert. Rechnen Sie mit seinen beiden Enden statt mit seiner Mitte, und sagen Sie, womit.",
    [KN_TEXT_BOOK_CARE_STARS] = "Eine Zelle, die nichts sagt, fehlt nicht zufällig: Seltene Menschen haben mehr davon.",
    [KN_TEXT_BOOK_CARE_ORDER] = "Die Zeilen sind nach ihrem Text sortiert; ihre Reihenfolge sagt nichts darüber, wann "
                                "oder wo sie erhoben wurden.",
    [KN_TEXT_BOOK_INT] = "ganze Zahlen", [KN_TEXT_BOOK_DECIMAL] = "Zahlen", [KN_TEXT_BOOK_DATE] = "Datumsangaben",
    [KN_TEXT_BOOK_TEXT] = "Text", [KN_TEXT_COMPARED] = "Vorher und nachher",
    [KN_TEXT_COMPARED_TEXT] =
        "Was Auswertungen der Tabelle und der Freigabe zeigen würden. Nachher zählt eine Zelle gleichmäßig für alle "
        "Werte, die sie sein kann; Zellen, die jeder Wert sein können, bleiben weg. Jede Kategorie hat in der Tabelle "
        "mindestens %s Personen, in Kreuztabellen jede Zelle; kleinere sind zusammengefasst, und Mittelwerte sind auf "
        "Schritte gerundet, um die so viele Personen zusammen sie verschieben können. Übernommene Spalten sind nicht "
        "aufgeführt: Sie sind unverändert.",
    [KN_TEXT_COMPARED_FIRST] = "Von %s Quasi-Identifikatoren sind die ersten %s gezeigt.",
    [KN_TEXT_COMPARED_MEANS] = "Mittelwerte vorher und nachher; bei Datumsangaben das Jahr",
    [KN_TEXT_COMPARED_PICTURE] = "Verteilung vorher und nachher",
    [KN_TEXT_COMPARED_DESC] = "Zwei Balken je Kategorie: der Anteil der Zeilen in der Tabelle und in der Freigabe.",
    [KN_TEXT_COMPARED_OF] = "Verteilung von %s",
    [KN_TEXT_COMPARED_CROSSTAB] = "%s nach %s: Anteil der Zeilen vorher → nachher",
    [KN_TEXT_COMPARED_OTHERS] = "alle anderen",
    [KN_TEXT_DERIVED] = "Die Spalte %s steht nicht in der Tabelle: Sie wurde aus Daten derselben Zeile berechnet, %s.",
    [KN_TEXT_ROLES_CAPTION] = "Spalten, ihre Rollen und das jeweils angewandte Verfahren",
    [KN_TEXT_ROLE_IDENTIFIER] = "Identifikator", [KN_TEXT_ROLE_QUASI] = "Quasi-Identifikator",
    [KN_TEXT_ROLE_SENSITIVE] = "sensibel", [KN_TEXT_ROLE_INSENSITIVE] = "nicht sensibel",
    [KN_TEXT_ROLE_DROPPED] = "nicht genannt", [KN_TEXT_TECH_REMOVED] = "entfernt: verlässt das Haus nie",
    [KN_TEXT_TECH_PERSON] = "entfernt; diente zum Zählen der Personen",
    [KN_TEXT_TECH_DROPPED] = "weggelassen, weil ihr keine Rolle gegeben wurde",
    [KN_TEXT_TECH_COPIED] = "unverändert übernommen",
    [KN_TEXT_TECH_SENSITIVE] = "unverändert übernommen; die Modelle unten schützen sie",
    [KN_TEXT_TECH_SENSITIVE_BARE] = "unverändert übernommen; kein Modell schützt sie",
    [KN_TEXT_TECH_TREE] = "entlang ihrer Hierarchie verallgemeinert (%s [Stufe|Stufen])",
    [KN_TEXT_TECH_TREE_LEVEL] = "auf Stufe %s von %s ihrer Hierarchie verallgemeinert",
    [KN_TEXT_TECH_RANGES] = "zu Intervallen verallgemeinert",
    [KN_TEXT_TECH_SETS] = "zu Mengen von Werten verallgemeinert",
    [KN_TEXT_TECH_GROUPS] = "zu Mengen von bis zu fünf Werten und zu Gruppen ähnlicher Werte verallgemeinert, die aus "
                            "den Daten gebildet sind",
    [KN_TEXT_TECH_SUBSETS] = "zu den Teilmengen ihrer Datei verallgemeinert (%s Stück)",
    [KN_TEXT_GUARANTEED] = "Was zugesichert ist und wie es geprüft wurde",
    [KN_TEXT_GUARANTEED_TEXT] =
        "Eine Klasse ist eine Gruppe von Zeilen, deren Quasi-Identifikatoren genau gleich aussehen. "
        "Jedes Modell unten ist eine Bedingung an jede Klasse der Freigabe.",
    [KN_TEXT_MODELS_CAPTION] = "Geforderte Modelle und die schlechteste Klasse der Freigabe",
    [KN_TEXT_MODEL] = "Modell", [KN_TEXT_PARAMETERS] = "Gefordert", [KN_TEXT_WORST] = "Schlechteste Klasse",
    [KN_TEXT_HOLDS] = "Gilt", [KN_TEXT_VALUES_OF_POLICY] = "geschützt sind die Werte, die die Richtlinie nennt",
    [KN_TEXT_VALUES_OF_COMMAND] = "geschützt sind die Werte, die der Aufruf nennt",
    [KN_TEXT_WORST_CAPTION] = "Die schlechteste Klasse jedes Modells, wie die Auszählung sie fand",
    [KN_TEXT_CHECKED_TEXT] =
        "Nach dem Schreiben wurde die Datei von einem getrennten Teil des Programms, der keinen Code "
        "mit der Suche teilt, zurückgelesen und neu ausgezählt. Diese Prüfungen wurden gemacht:",
    [KN_TEXT_CHECKS_CAPTION] = "Prüfungen an der geschriebenen Datei", [KN_TEXT_CHECK] = "Prüfung",
    [KN_TEXT_RESULT] = "Ergebnis", [KN_TEXT_FINDING] = "Befund", [KN_TEXT_STATE_HOLDS] = "gilt",
    [KN_TEXT_STATE_BROKEN] = "VERLETZT", [KN_TEXT_STATE_NOT_MADE] = "nicht gemacht",
    [KN_TEXT_LOST] = "Was verloren ging und warum",
    [KN_TEXT_LOST_TEXT] = "Verlust nach dem Maß %s: 0 heißt, alle Werte der Spalte sind noch da, 1 heißt, nichts mehr. "
                          "Die Zahlen gelten je Zelle der Spalte.",
    [KN_TEXT_LOST_NO_COLUMNS] = "Das Maß %s bewertet ganze Klassen; einen Verlust je Spalte gibt es nicht.",
    [KN_TEXT_LOST_CELLS] =
        "Eine verallgemeinerte Zelle sagt weniger als ihr Wert, aber etwas, etwa einen Bereich, eine "
        "Gruppe oder ein Jahr. Eine Zelle ganz ohne Angabe ist * oder alles, was die Spalte sein kann.",
    [KN_TEXT_LOST_MOST] = "Diese Spalten verloren am meisten; alle %s stehen im Anhang, mit der Zahl der Zeilen, die "
                          "ihren Wert behielten.",
    [KN_TEXT_LOST_ELSEWHERE] = "Wie viele Zeilen in jeder der %s Spalten ihren Wert behielten, steht im Anhang.",
    [KN_TEXT_LOST_REMOVED] = "Entfernte Zeilen (%s) zählen als Zeilen ganz ohne Angabe.",
    [KN_TEXT_LOSS_TITLE] = "Verlust je Spalte",
    [KN_TEXT_LOSS_DESC] = "Ein Balken je Quasi-Identifikator; länger heißt, mehr ging verloren. Die Tabelle darunter "
                          "enthält dieselben Zahlen.",
    [KN_TEXT_LOSS] = "Verlust", [KN_TEXT_UNCHANGED] = "Zeilen unverändert",
    [KN_TEXT_GENERALIZED] = "Zeilen verallgemeinert", [KN_TEXT_SUPPRESSED] = "Zeilen ganz ohne Angabe",
    [KN_TEXT_VALUES_BEFORE] = "Werte vorher", [KN_TEXT_VALUES_AFTER] = "Werte nachher",
    [KN_TEXT_WHY_CAPTION] = "Welche freigegebenen Werte in jeder Spalte am meisten kosten",
    [KN_TEXT_WHY_TEXT] = "Angaben gehen dort verloren, wo sich zu wenige Menschen gleichen. Für jede Spalte: die "
                         "freigegebenen Werte, auf die der größte Teil ihres Verlusts fällt, und die kleinste Klasse, "
                         "die sie erzwang.",
    [KN_TEXT_RELEASED_VALUE] = "Freigegebener Wert", [KN_TEXT_SHARE_OF_LOSS] = "Anteil am Verlust der Spalte",
    [KN_TEXT_SMALLEST_CLASS] = "Kleinste Klasse", [KN_TEXT_MEASURES] = "Die Freigabe nach jedem Maß",
    [KN_TEXT_MEASURE] = "Maß", [KN_TEXT_MEASURE_MEANS] = "Bedeutung",
    [KN_TEXT_OPTIMUM] = "Wie weit von der bestmöglichen Freigabe",
    [KN_TEXT_OPTIMAL] = "Diese Freigabe ist nachweislich die beste, die diese Art der Umkodierung ausdrücken kann.",
    [KN_TEXT_GAP] = "Keine Freigabe dieser Art kann weniger als %s verlieren; diese verliert %s. Höchstens %s "
                    "ihres Verlusts war vermeidbar.",
    [KN_TEXT_NO_BOUND] = "Es wurde keine untere Schranke berechnet; über den Abstand wird daher nichts behauptet.",
    [KN_TEXT_ANY_GAP] =
        "Keine k-anonyme Freigabe dieser Tabelle nach diesen Regeln kann, wie auch immer umkodiert wird, "
        "weniger als %s verlieren; diese verliert %s. Höchstens %s ihres Verlusts war vermeidbar.",
    [KN_TEXT_PARTIAL_BOUND] = "Nur ein Teil aller Verallgemeinerungen wurde betrachtet; der Rest könnte die Schranke "
                              "heben, nie senken.",
    [KN_TEXT_QUICK_BOUND] = "Diese Schranke wurde schnell gefunden; mehr Zeit könnte sie heben, nie senken.",
    [KN_TEXT_THEOREM] = "Das Verfahren hat eine bewiesene Garantie (%s): höchstens das %s-Fache des bestmöglichen "
                        "Verlusts.",
    [KN_TEXT_THEOREM_NOT] =
        "Das Verfahren verliert bewiesenermaßen höchstens das %s-Fache des bestmöglichen Verlusts (%s), "
        "hier aber nicht: %s.",
    [KN_TEXT_OPTIMUM_CLASSES] = "Der bestmögliche Verlust ist der irgendeiner Einteilung der Zeilen in Klassen von "
                                "mindestens k, jede freigegeben als kleinste Verallgemeinerung ihrer Zeilen.",
    [KN_TEXT_OPTIMUM_SUPPRESSED] = "Der bestmögliche Verlust ist der irgendeiner Einteilung der Zeilen in Klassen von "
                                   "mindestens k, jede freigegeben als kleinste Verallgemeinerung ihrer Zeilen, wobei "
                                   "Zeilen auch unterdrückt werden dürfen.",
    [KN_TEXT_RATIO_HERE] = "Für diese Tabelle beweist die untere Schranke mehr: höchstens das %s-Fache.",
    [KN_TEXT_BOUND_TITLE] = "Verlust und bewiesene untere Schranke",
    [KN_TEXT_BOUND_DESC] = "Zwei Balken: was jede mögliche Freigabe mindestens verliert und was diese verliert.",
    [KN_TEXT_BOUND] = "Untere Schranke", [KN_TEXT_THIS_RELEASE] = "Diese Freigabe",
    [KN_TEXT_TIME_TITLE] = "Verlust im Verlauf der Suche",
    [KN_TEXT_TIME_DESC] = "Wie der Verlust der besten bisher gefundenen Freigabe während der Suche sank.",
    [KN_TEXT_SECONDS] = "Sekunden", [KN_TEXT_STOPPED_DONE] = "Die Suche kam von selbst zum Ende.",
    [KN_TEXT_STOPPED_BUDGET] =
        "Die Suche schöpfte ihr Arbeitsbudget aus; dieselben Einstellungen ergeben wieder dieselbe "
        "Freigabe.",
    [KN_TEXT_STOPPED_TIME] = "Die Suche wurde durch das Zeitlimit beendet; ein neuer Lauf kann eine andere Freigabe "
                             "ergeben.",
    [KN_TEXT_STOPPED_INTERRUPT] = "Die Suche wurde unterbrochen; ein neuer Lauf kann eine andere Freigabe ergeben.",
    [KN_TEXT_STOPPED_STILL] = "Die Suche endete, weil weitere Arbeit kaum noch etwas brachte; dieselben Einstellungen "
                              "ergeben wieder dieselbe Freigabe.",
    [KN_TEXT_LATTICE_TITLE] = "Der Verband der Verallgemeinerungen",
    [KN_TEXT_LATTICE_DESC] =
        "Ein Punkt je Kombination von Stufen, von keiner Verallgemeinerung unten bis zu voller oben. "
        "Gefüllt: zulässig. Umringt: gewählt.",
    [KN_TEXT_LATTICE_HEAT] = "Alle Kombinationen von Stufen, nach ihrer Höhe (Summe der Stufen). Der Balken zeigt, wie "
                             "viele davon zulässig sind.",
    [KN_TEXT_LATTICE_SUBTITLE] = "Alle Arten, %s mit einer Stufe je Spalte zu verallgemeinern",
    [KN_TEXT_LEVELS] = "Stufen",
    [KN_TEXT_MINIMAL_NODES] = "Die beste Kombination, dann die übrigen, unter denen keine zulässig ist",
    [KN_TEXT_MINIMAL_NODES_FIRST] =
        "Die beste Kombination, dann die hundert mit dem geringsten Verlust, unter denen keine zulässig ist",
    [KN_TEXT_HEIGHT] = "Höhe", [KN_TEXT_NODES] = "Kombinationen", [KN_TEXT_NODES_ALLOWED] = "Zulässig",
    [KN_TEXT_LEAST_LOSS] = "Kleinster Verlust unter den zulässigen", [KN_TEXT_SIZES] = "Klassengrößen",
    [KN_TEXT_SIZES_TEXT] = "Wie viele Personen in Klassen welcher Größe stehen. In der ursprünglichen Tabelle ist eine "
                           "Klasse mit einer Person jemand, auf den die Quasi-Identifikatoren allein schon zeigen.",
    [KN_TEXT_SIZES_ONCE] =
        "Eine Person, die in mehreren Klassen steht, zählt einmal, in der kleinsten davon: Es können "
        "weniger Personen sein, als die Klassen einer Größe zusammen haben.",
    [KN_TEXT_SIZES_TITLE] = "Anteil der Personen nach Größe ihrer Klasse",
    [KN_TEXT_SIZES_DESC] = "Zwei Balken je Klassengröße: vorher und nachher.", [KN_TEXT_SIZE] = "Klassengröße",
    [KN_TEXT_CLASSES_BEFORE] = "Klassen vorher", [KN_TEXT_PERSONS_BEFORE] = "Personen vorher",
    [KN_TEXT_CLASSES_AFTER] = "Klassen nachher", [KN_TEXT_PERSONS_AFTER] = "Personen nachher",
    [KN_TEXT_RISK] = "Risiko vorher und nachher",
    [KN_TEXT_RISK_TEXT] = "Drei Angreifer, die die Quasi-Identifikatoren kennen. Der Ankläger sucht eine Person, von "
                          "der er weiß, dass sie in der Tabelle steht; der Journalist irgendjemanden, um zu zeigen, "
                          "dass es geht; der Vermarkter möglichst viele.",
    [KN_TEXT_RISK_JOURNALIST_SAME] =
        "Ohne Wissen über die Bevölkerung gilt der Journalist als so stark wie der Ankläger.",
    [KN_TEXT_RISK_CAPTION] = "Risiko der Re-Identifikation", [KN_TEXT_RISK_TITLE] = "Risiko vorher und nachher",
    [KN_TEXT_RISK_DESC] = "Zwei Balken je Kennzahl: vorher und nachher.",
    [KN_TEXT_RISK_ALONE] = "Wer gefunden werden könnte", [KN_TEXT_RISK_DESC_ALONE] = "Ein Balken je Kennzahl.",
    [KN_TEXT_SIZES_TEXT_ALONE] =
        "Wie viele Personen in Klassen welcher Größe stehen: Eine Klasse ist eine Gruppe mit denselben "
        "Quasi-Identifikatoren. Eine Klasse mit einer Person ist jemand, auf den sie allein schon zeigen.",
    [KN_TEXT_SIZES_DESC_ALONE] = "Ein Balken je Klassengröße.",
    [KN_TEXT_RISK_SINGLED] = "Auf %s von %s [Person|Personen] zeigen die Quasi-Identifikatoren allein.",
    [KN_TEXT_RISK_SMALL] =
        "%s von %s [Person|Personen]: Zu wenige andere haben dieselben Quasi-Identifikatoren, die Klasse "
        "hat weniger als %s Personen.",
    [KN_TEXT_RISK_HIDDEN] = "Jede Person steht in einer Klasse von mindestens %s; verlangt waren %s.",
    [KN_TEXT_RISK_NOBODY] = "Niemand steht in der Tabelle: Die Zahlen unten sagen nichts.",
    [KN_TEXT_PROSECUTOR_HIGHEST] = "Ankläger, höchstes", [KN_TEXT_PROSECUTOR_AVERAGE] = "Ankläger, Durchschnitt",
    [KN_TEXT_PROSECUTOR_LOWEST] = "Ankläger, niedrigstes", [KN_TEXT_JOURNALIST_HIGHEST] = "Journalist, höchstes",
    [KN_TEXT_JOURNALIST_AVERAGE] = "Journalist, Durchschnitt", [KN_TEXT_JOURNALIST_LOWEST] = "Journalist, niedrigstes",
    [KN_TEXT_MARKETER] = "Vermarkter, erwarteter Anteil an Treffern",
    [KN_TEXT_ABOVE] = "Personen in Klassen kleiner als %s (Schwelle %s)",
    [KN_TEXT_UNIQUE] = "Personen allein in ihrer Klasse",
    [KN_TEXT_DISCLOSURE_CAPTION] = "Was ein Angreifer über die sensiblen Spalten erfährt",
    [KN_TEXT_CERTAIN] = "Personen, deren Wert sicher bekannt wird",
    [KN_TEXT_SHIFT] = "Größte Verschiebung der Einschätzung eines Werts",
    [KN_TEXT_SHIFT_AVERAGE] = "Mittlere Verschiebung der Einschätzung, alle Werte zusammen",
    [KN_TEXT_ONE_VALUE] = "Klassen mit einem Wert (Homogenität): wer in ihr ist, hat diesen Wert",
    [KN_TEXT_TWO_VALUES] =
        "Klassen mit zwei Werten (Hintergrundwissen): wer einen ausschließen kann, kennt den anderen",
    [KN_TEXT_SIMILAR_VALUES] = "Klassen mit mehreren, aber ähnlichen Werten (Ähnlichkeit): unter einer Bezeichnung der "
                               "Hierarchie dieser Spalte, oder Zahlen in einem Zehntel ihrer Spanne",
    [KN_TEXT_OF_CLASSES] = "%s von %s",
    [KN_TEXT_SETS_CAPTION] = "Spalten, die Personen herausgreifen; keine Menge enthält eine andere",
    [KN_TEXT_SETS_TEXT] =
        "Alle Mengen von bis zu %s Quasi-Identifikatoren wurden betrachtet. %s [Person ist|Personen sind] auf "
        "mindestens einer davon einzigartig.",
    [KN_TEXT_COLUMNS] = "Spalten", [KN_TEXT_SINGLED_OUT] = "Herausgesonderte Personen",
    [KN_TEXT_MINIMAL] = "davon auf keiner kleineren Menge",
    [KN_TEXT_ESTIMATE_CAPTION] = "Geschätzte Einzigartige in einer Bevölkerung von %s (Auswahlsatz %s)",
    [KN_TEXT_ESTIMATOR] = "Schätzer", [KN_TEXT_ESTIMATE] = "Schätzung",
    [KN_TEXT_CHOSEN] = "gewählt nach der Regel von Dankar u. a.", [KN_TEXT_NO_SOLUTION] = "keine Lösung",
    [KN_TEXT_LOOK] = "Wie die freigegebenen Klassen aussehen",
    [KN_TEXT_LOOK_TEXT] = "Einige Klassen der Freigabe: die kleinsten, die größten und die mit dem größten Verlust. "
                          "Gezeigt werden nur verallgemeinerte Werte.",
    [KN_TEXT_LOOK_CAPTION] = "Beispielklassen",
    [KN_TEXT_LOOK_REDACTED] = "Werte werden nicht gezeigt, weil das verlangt wurde.", [KN_TEXT_KIND] = "Warum gezeigt",
    [KN_TEXT_KIND_SMALLEST] = "kleinste", [KN_TEXT_KIND_LARGEST] = "größte",
    [KN_TEXT_KIND_COSTLIEST] = "größter Verlust", [KN_TEXT_WORDS] = "In einfachen Worten",
    [KN_TEXT_SINGLING_OUT] = "Heraussondern",
    [KN_TEXT_SINGLING_OUT_TEXT] =
        "Kann jemand die Zeile einer Person herausgreifen? Jede Zeile der Freigabe steht in einer "
        "Gruppe von mindestens %s Personen mit denselben Quasi-Identifikatoren; diese zeigen auf eine "
        "Gruppe, nie auf eine Person. Unverändert übernommene Spalten können trotzdem jemanden "
        "heraussondern, wenn ein Angreifer ihre Werte kennt.",
    [KN_TEXT_LINKABILITY] = "Verknüpfbarkeit",
    [KN_TEXT_LINKABILITY_TEXT] =
        "Lassen sich Zeilen mit einer anderen Datei über dieselben Menschen verbinden? Eine "
        "Verknüpfung über die Quasi-Identifikatoren passt zu jedem Namen auf mindestens %s Personen. "
        "Das gilt nicht über zwei Freigaben derselben Tabelle hinweg und nicht für übernommene "
        "Spalten.",
    [KN_TEXT_INFERENCE] = "Inferenz",
    [KN_TEXT_INFERENCE_TEXT] =
        "Lässt sich etwas über eine Person erfahren, ohne ihre Zeile zu finden? Bei %s [Person|Personen] haben "
        "alle in ihrer Klasse denselben sensiblen Wert; dieser Wert wird damit bekannt.",
    [KN_TEXT_INFERENCE_NONE] = "Keine Spalte wurde als sensibel genannt; über Inferenz wird daher nichts ausgesagt.",
    [KN_TEXT_INFERENCE_MODELS] = "Modelle, die das begrenzen: %s.",
    [KN_TEXT_INFERENCE_UNPROTECTED] = "Kein Modell begrenzt, was bekannt wird über: %s.",
    [KN_TEXT_ASSUMPTIONS] = "Annahmen",
    [KN_TEXT_ASSUME_QI] =
        "Der Angreifer kennt höchstens die oben genannten Quasi-Identifikatoren. Wer sie gewählt hat, "
        "hat entschieden, was ein Angreifer wissen kann.",
    [KN_TEXT_ASSUME_ROLES] = "Als nicht sensibel bezeichnete Spalten kann jeder kennen, ohne dass es schadet.",
    [KN_TEXT_ASSUME_PERSON] = "Zeilen mit gleichem %s sind eine Person; verschiedene sind verschiedene Personen.",
    [KN_TEXT_ASSUME_ROW] =
        "Jede Zeile ist eine andere Person. Hat jemand mehrere Zeilen, ist die Spalte zu nennen, die "
        "Personen unterscheidet.",
    [KN_TEXT_ASSUME_TRUE] = "Die Werte der Tabelle stimmen; ein falscher Wert schützt niemanden und kann auf jemand "
                            "anderen zeigen.",
    [KN_TEXT_NOT_PROTECTED] = "Was nicht geschützt ist",
    [KN_TEXT_LIMIT_RELEASES] =
        "Mehrere Freigaben einer Tabelle oder von Tabellen mit gemeinsamen Personen: zusammen können "
        "sie Menschen heraussondern, die jede einzelne verbirgt.",
    [KN_TEXT_LIMIT_SEVERAL] = "Eine Person, die in mehreren Klassen steht: Wer das weiß, kann die Klassen schneiden.",
    [KN_TEXT_LIMIT_MINIMALITY] =
        "Der Minimalitätsangriff: Wer den Algorithmus kennt und weiß, dass er nicht mehr als nötig "
        "verallgemeinert, kann manchmal aus dem Ergebnis zurückschließen.",
    [KN_TEXT_LIMIT_KNOWLEDGE] =
        "Angreifer, die mehr als die Quasi-Identifikatoren kennen, etwa einen übernommenen Wert oder "
        "wer sicher nicht in der Tabelle steht.",
    [KN_TEXT_LIMIT_STATISTICS] =
        "Was die Tabelle über Gruppen lehrt: Dass Raucher öfter erkranken, erfährt man über jeden "
        "Raucher, ob er in der Tabelle steht oder nicht.",
    [KN_TEXT_LIMIT_LAW] = "Ob die Freigabe veröffentlicht werden darf, ist eine rechtliche und organisatorische "
                          "Entscheidung. Dieser Bericht beschreibt Zahlen; er trifft sie nicht.",
    [KN_TEXT_SETTINGS] = "Einstellungen, um den Lauf zu wiederholen",
    [KN_TEXT_SETTINGS_CAPTION] = "Geltende Einstellungen", [KN_TEXT_OPTION] = "Option", [KN_TEXT_FROM] = "Herkunft",
    [KN_TEXT_FROM_FLAG] = "Kommandozeile", [KN_TEXT_RUN_CAPTION] = "Der Lauf",
    [KN_TEXT_VERSION] = "Programm und Version", [KN_TEXT_DATE] = "Datum", [KN_TEXT_ALGORITHM] = "Algorithmus",
    [KN_TEXT_SEED] = "Startwert", [KN_TEXT_POLICY] = "Richtliniendatei",
    [KN_TEXT_POLICY_HASH] = "SHA-256 der Richtlinie", [KN_TEXT_RELEASE_FILE] = "Freigegebene Datei",
    [KN_TEXT_RELEASE_HASH] = "SHA-256 der freigegebenen Datei", [KN_TEXT_TIME] = "Zeit",
    [KN_TEXT_TIME_VALUE] = "%s s, davon %s s Suche", [KN_TEXT_MEMORY] = "Speicher", [KN_TEXT_SIGN] = "Entscheidung",
    [KN_TEXT_SIGN_TEXT] =
        "Auszufüllen von der Person, die die Freigabe verantwortet. Die Prüfsumme bindet diese Seite an "
        "genau eine Datei.",
    [KN_TEXT_SIGN_CAPTION] = "Worüber entschieden wird", [KN_TEXT_SIGN_RECIPIENT] = "Empfänger und Zweck",
    [KN_TEXT_SIGN_CONDITIONS] = "Auflagen", [KN_TEXT_SIGN_NAME] = "Name und Funktion",
    [KN_TEXT_SIGN_DATE] = "Ort und Datum", [KN_TEXT_SIGN_SIGNATURE] = "Unterschrift",
    [KN_TEXT_ATTACK_TEXT] = "Die Datei %s, die Namen enthält, wurde über die Quasi-Identifikatoren mit dieser Tabelle "
                            "verknüpft.",
    [KN_TEXT_ATTACK_CAPTION] = "Ein durchgeführter Angriff",
    [KN_TEXT_ATTACK_PERSONS] = "Personen in der Datei mit Namen", [KN_TEXT_ATTACK_NOT_FOUND] = "passen auf keine Zeile",
    [KN_TEXT_ATTACK_FEWER] = "passen auf mindestens eine Zeile, aber weniger als %s",
    [KN_TEXT_ATTACK_UNIQUE] = "passen auf genau eine Zeile", [KN_TEXT_RISK_REPORT] = "Risikobericht",
    [KN_TEXT_RISK_SUBTITLE] = "Wer in %s gefunden werden könnte, von wem und über welche Spalten",
    [KN_TEXT_COMPARE_REPORT] = "Vergleich",
    [KN_TEXT_COMPARE_SUBTITLE] = "Freigaben von %s mit verschiedenen Suchen und Klassengrößen",
    [KN_TEXT_FRONTIER_TITLE] = "Risiko und Verlust",
    [KN_TEXT_FRONTIER_DESC] =
        "Ein Punkt je Lauf, benannt nach Suche und k: nach rechts mehr Verlust, nach oben mehr Risiko "
        "(je Linie das Zehnfache). Die Linie verbindet die Läufe, die kein anderer in beidem "
        "übertrifft.",
    [KN_TEXT_RUNS_CAPTION] = "Läufe", [KN_TEXT_REFUSALS_CAPTION] = "Läufe ohne Freigabe",
    [KN_TEXT_AVERAGE_RISK] = "Mittleres Risiko", [KN_TEXT_HIGHEST_RISK] = "Höchstes Risiko",
    [KN_TEXT_ON_FRONTIER] = "Auf der Linie", [KN_TEXT_CLASSES] = "Klassen", [KN_TEXT_K_ASKED] = "k",
    [KN_TEXT_ROWS_SUPPRESSED] = "Zeilen unterdrückt", [KN_TEXT_TYPE_INT] = "ganze Zahl",
    [KN_TEXT_TYPE_DECIMAL] = "Dezimalzahl", [KN_TEXT_TYPE_DATE] = "Datum", [KN_TEXT_TYPE_TEXT] = "Text",
    [KN_TEXT_CHECK_TABLE] = "Wohlgeformte Tabelle", [KN_TEXT_CHECK_COLUMNS] = "Spalten",
    [KN_TEXT_CHECK_IDENTIFIERS] = "Kein Identifikator verblieben", [KN_TEXT_CHECK_ROWS] = "Verbleib der Zeilen",
    [KN_TEXT_CHECK_COPIES] = "Übernommene Spalten unverändert",
    [KN_TEXT_CHECK_VALUES] = "Werte verallgemeinern das Original", [KN_TEXT_CHECK_SUPPRESSED] = "Unterdrückte Zeilen",
    [KN_TEXT_CHECK_LEVELS] = "Werte auf oder über ihrer untersten Stufe",
