/* German, where households are counted instead of persons. Included by text.c; what is not here is as in text_de.h. */
[KN_TEXT_PERSONS] = "Haushalte",
    [KN_TEXT_SHORT_PEOPLE] = "%s [Haushalt|Haushalte] in %s [Klasse|Klassen]; die kleinste Klasse hat %s.",
    [KN_TEXT_SHORT_RISK] = "Das höchste Risiko, einen Haushalt zu finden, sinkt von %s auf %s.",
    [KN_TEXT_SETS] = "Welche Spalten der ursprünglichen Tabelle auf Haushalte zeigen",
    [KN_TEXT_SETS_ALONE] = "Welche Spalten auf Haushalte zeigen",
    [KN_TEXT_COMPARED_TEXT] =
        "Was Auswertungen der Tabelle und der Freigabe zeigen würden. Nachher zählt eine Zelle gleichmäßig für alle "
        "Werte, die sie sein kann; Zellen, die jeder Wert sein können, bleiben weg. Jede Kategorie hat in der Tabelle "
        "mindestens %s Haushalte, in Kreuztabellen jede Zelle; kleinere sind zusammengefasst, und Mittelwerte sind auf "
        "Schritte gerundet, um die so viele Haushalte zusammen sie verschieben können. Übernommene Spalten sind nicht "
        "aufgeführt: Sie sind unverändert.",
    [KN_TEXT_TECH_PERSON] = "entfernt; diente zum Zählen der Haushalte",
    [KN_TEXT_WHY_TEXT] =
        "Einzelheiten gehen verloren, wo sich zu wenige Haushalte gleichen. Je Spalte die freigegebenen Werte, die "
        "ihren Verlust vor allem ausmachen, und die kleinste Klasse, die sie erzwang.",
    [KN_TEXT_SIZES_TEXT] =
        "Wie viele Haushalte in Klassen welcher Größe stehen. In der ursprünglichen Tabelle ist eine Klasse mit einem "
        "Haushalt einer, auf den die Quasi-Identifikatoren allein schon zeigen.",
    [KN_TEXT_SIZES_ONCE] =
        "Ein Haushalt, der in mehreren Klassen steht, zählt einmal, in der kleinsten davon: Es können "
        "weniger Haushalte sein, als die Klassen einer Größe zusammen haben.",
    [KN_TEXT_SIZES_TITLE] = "Anteil der Haushalte nach Größe ihrer Klasse",
    [KN_TEXT_PERSONS_BEFORE] = "Haushalte vorher", [KN_TEXT_PERSONS_AFTER] = "Haushalte nachher",
    [KN_TEXT_RISK_TEXT] =
        "Drei Angreifer, die die Quasi-Identifikatoren kennen. Der Ankläger sucht einen Haushalt, von "
        "dem er weiß, dass er in der Tabelle steht; der Journalist irgendeinen, um zu zeigen, dass "
        "es geht; der Vermarkter möglichst viele.",
    [KN_TEXT_SIZES_TEXT_ALONE] =
        "Wie viele Haushalte in Klassen welcher Größe stehen: Eine Klasse ist eine Gruppe mit denselben "
        "Quasi-Identifikatoren. Eine Klasse mit einem Haushalt ist einer, auf den sie allein schon zeigen.",
    [KN_TEXT_RISK_SINGLED] = "Auf %s von %s [Haushalt|Haushalten] zeigen die Quasi-Identifikatoren allein.",
    [KN_TEXT_RISK_SMALL] =
        "%s von %s [Haushalt|Haushalten]: Zu wenige andere haben dieselben Quasi-Identifikatoren, die Klasse "
        "hat weniger als %s Haushalte.",
    [KN_TEXT_RISK_HIDDEN] = "Jeder Haushalt steht in einer Klasse von mindestens %s; verlangt waren %s.",
    [KN_TEXT_ABOVE] = "Haushalte in Klassen kleiner als %s (Schwelle %s)",
    [KN_TEXT_UNIQUE] = "Haushalte allein in ihrer Klasse",
    [KN_TEXT_CERTAIN] = "Haushalte, deren Wert sicher bekannt wird",
    [KN_TEXT_SETS_CAPTION] = "Spalten, die Haushalte herausgreifen; keine Menge enthält eine andere",
    [KN_TEXT_SETS_TEXT] = "Alle Mengen von bis zu %s Quasi-Identifikatoren wurden betrachtet. %s Haushalte sind auf "
                          "mindestens einer davon einzigartig.",
    [KN_TEXT_SINGLED_OUT] = "Herausgesonderte Haushalte",
    [KN_TEXT_SINGLING_OUT_TEXT] =
        "Kann jemand die Zeilen eines Haushalts herausgreifen? Jede Zeile der Freigabe steht in einer Gruppe von "
        "mindestens %s Haushalten mit denselben Quasi-Identifikatoren; diese zeigen auf eine Gruppe, nie auf einen "
        "Haushalt. Unverändert übernommene Spalten können trotzdem jemanden heraussondern, wenn ein Angreifer ihre "
        "Werte kennt.",
    [KN_TEXT_LINKABILITY_TEXT] =
        "Lassen sich Zeilen mit einer anderen Datei über dieselben Haushalte verbinden? Eine Verknüpfung über die "
        "Quasi-Identifikatoren passt zu jedem Namen auf mindestens %s Haushalte. Das gilt nicht über zwei Freigaben "
        "derselben Tabelle hinweg und nicht für übernommene Spalten.",
    [KN_TEXT_INFERENCE_TEXT] =
        "Lässt sich etwas über einen Haushalt erfahren, ohne seine Zeilen zu finden? Bei %s Haushalten haben alle in "
        "ihrer Klasse denselben sensiblen Wert; dieser Wert wird damit bekannt.",
    [KN_TEXT_ASSUME_PERSON] = "Zeilen mit gleichem %s sind ein Haushalt; verschiedene sind verschiedene Haushalte.",
    [KN_TEXT_LIMIT_RELEASES] = "Mehrere Freigaben einer Tabelle oder von Tabellen mit gemeinsamen Haushalten: zusammen "
                               "können sie Haushalte heraussondern, die jede einzelne verbirgt.",
    [KN_TEXT_LIMIT_SEVERAL] = "Ein Haushalt, der in mehreren Klassen steht: Wer das weiß, kann die Klassen schneiden.",
    [KN_TEXT_ATTACK_PERSONS] = "Haushalte in der Datei mit Namen",
