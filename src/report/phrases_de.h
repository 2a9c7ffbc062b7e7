/* German phrases. Included by phrases.c; of two patterns that fit, the first one counts. */

/* the meaning of each measure */
{"share of the domain that a cell covers, mean over cells",
 "Anteil des Wertebereichs, den eine Zelle abdeckt; Mittel über die Zellen"},
    {"level in the hierarchy over its height, mean over cells",
     "erreichte Stufe der Hierarchie im Verhältnis zu ihrer Höhe; Mittel über die Zellen"},
    {"LM for numbers and dates, tree for categories, mean over cells",
     "lm für Zahlen und Datumsangaben, tree für Kategorien; Mittel über die Zellen"},
    {"uncertainty of the value in its cell, bits per cell", "Ungewissheit über den Wert in einer Zelle, Bit je Zelle"},
    {"entropy of the cell times the share of rows it covers, bits per cell",
     "Entropie der Zelle mal dem Anteil der Zeilen, die sie abdeckt, Bit je Zelle"},
    {"-log of the value's share of its cell, bits per cell",
     "−log des Anteils, den der Wert an seiner Zelle hat, Bit je Zelle"},
    {"mutual information of original and release that is lost, bits per cell",
     "verlorene Transinformation zwischen Original und Freigabe, Bit je Zelle"},
    {"tuples that a released row could stand for, mean over rows",
     "Wertekombinationen, für die eine freigegebene Zeile stehen kann; Mittel über die Zeilen"},
    {"sum over classes of rows squared, plus n for a suppressed row",
     "Summe der quadrierten Klassengrößen, dazu n für jede unterdrückte Zeile"},
    {"rows outside the majority of their class, plus suppressed rows",
     "Zeilen außerhalb der Mehrheit ihrer Klasse, dazu die unterdrückten Zeilen"},
    {"information about the sensitive column that is lost, bits, mean over columns",
     "verlorene Information über die sensible Spalte in Bit; Mittel über die Spalten"},
    {"information about the sensitive column that is lost, bits, l2 norm over columns",
     "verlorene Information über die sensible Spalte in Bit; l2-Norm über die Spalten"},
    {"information about the sensitive column that the best released column lost, bits",
     "Information über die sensible Spalte, die die aussagekräftigste freigegebene Spalte verloren hat, in Bit"},
    {"w * mi + (1 - w) * pmi, bits per cell", "w · mi + (1 − w) · pmi, Bit je Zelle"},
    {"Kullback-Leibler divergence of the released from the original tuples, bits",
     "Kullback-Leibler-Divergenz der freigegebenen von den ursprünglichen Wertekombinationen, in Bit"},
    {"rows over number of classes", "Zeilen je Klasse"},
    {"entropy of the sensitive column within a class, bits, mean over classes",
     "Entropie der sensiblen Spalte innerhalb einer Klasse in Bit; Mittel über die Klassen"},
    {"1 - tree: how much of the hierarchies' height is kept",
     "1 − tree: wie viel von der Höhe der Hierarchien erhalten bleibt"},
    {"rows suppressed or removed", "unterdrückte oder entfernte Zeilen"},
    {"cells released as the whole domain", "Zellen, die als ganzer Wertebereich freigegeben sind"},

    /* types of columns */
    {"int", "ganze Zahl"}, {"decimal", "Dezimalzahl"}, {"date", "Datum"}, {"text", "Text"},

    /* warnings */
    {"left out, because no role was given: %s", "Weggelassen, weil keine Rolle angegeben wurde: %1"},
    {"column '%s' is copied, but %n of %n rows have a value of their own there: it may identify people",
     "Die Spalte „%1“ wird unverändert übernommen, doch %2 von %3 Zeilen haben dort einen Wert, den keine andere hat: "
     "Sie kann Personen erkennbar machen"},
    {"column '%s' is copied, and may identify people: %p",
     "Die Spalte „%1“ wird unverändert übernommen und kann Personen erkennbar machen: %2"},
    {"column '%s' is released as *: %p; give it a hierarchy, make it an identifier, or say release_values: yes",
     "Die Spalte „%1“ wird als * freigegeben: %2; geben Sie ihr eine Hierarchie, machen Sie sie zum Identifikator oder "
     "setzen Sie release_values: yes"},
    {"the name is that of a number given to persons or cases",
     "der Name ist der einer Nummer, die Personen oder Fälle bekommen"},
    {"the name is that of a person's name", "der Name ist der eines Personennamens"},
    {"the name is that of a number given to persons", "der Name ist der einer Nummer, die Personen bekommen"},
    {"the name is that of an address or of a way to reach somebody",
     "der Name ist der einer Adresse oder Erreichbarkeit"},
    {"the name is that of an account", "der Name ist der eines Kontos"},
    {"the name is that of free text", "der Name ist der von freiem Text"},
    {"the name is that of a coordinate", "der Name ist der einer Koordinate"},
    {"the cells are e-mail addresses", "die Zellen sind E-Mail-Adressen"},
    {"the cells are web addresses", "die Zellen sind Webadressen"},
    {"the cells are addresses of computers", "die Zellen sind Adressen von Rechnern"},
    {"the cells are bank accounts", "die Zellen sind Bankkonten"},
    {"the cells are numbers that a program dealt out", "die Zellen sind Nummern, die ein Programm vergeben hat"},
    {"the cells have the form of national identity numbers", "die Zellen haben die Form staatlicher Kennnummern"},
    {"the cells have the form of phone numbers", "die Zellen haben die Form von Telefonnummern"},
    {"the cells are coordinates", "die Zellen sind Koordinaten"},
    {"the cells are long free text, which may name people",
     "die Zellen sind langer freier Text, der Personen nennen kann"},
    {"nearly every row has a value of its own", "fast jede Zeile hat einen eigenen Wert"},
    {"nearly every row has a number of its own, dealt out like numbers of files",
     "fast jede Zeile hat eine eigene Nummer, vergeben wie Aktenzeichen"},
    {"column '%s' is sensitive, but no model protects it: a class whose members share one value gives it away (see "
     "--model "
     "l-diversity)",
     "Die Spalte „%1“ ist sensibel, aber kein Modell schützt sie: Haben alle in einer Klasse denselben Wert, so ist er "
     "damit bekannt (siehe --model l-diversity)"},
    {"column '%s' has %n values, but only %n when case and blanks around them do not count: a class may look more "
     "diverse "
     "than it is (see --fold-sensitive)",
     "Die Spalte „%1“ hat %2 Werte, aber nur %3, wenn Groß- und Kleinschreibung und Leerzeichen am Rand nicht zählen: "
     "Eine Klasse kann vielfältiger scheinen, als sie ist (siehe --fold-sensitive)"},
    {"column '%s' is sensitive and stands one-to-one with the quasi-identifier '%s': whoever reads it knows '%s', "
     "however "
     "that is generalized",
     "Die Spalte „%1“ ist sensibel und entspricht Wert für Wert dem Quasi-Identifikator „%2“: Wer sie liest, kennt "
     "„%3“, "
     "wie sehr das auch verallgemeinert ist"},
    {"column '%s' is copied and stands one-to-one with the quasi-identifier '%s': whoever reads it knows '%s', however "
     "that is generalized",
     "Die Spalte „%1“ wird unverändert übernommen und entspricht Wert für Wert dem Quasi-Identifikator „%2“: Wer sie "
     "liest, kennt „%3“, wie sehr das auch verallgemeinert ist"},
    {"column '%s' is copied and tells the quasi-identifier '%s' for a share of %n of the rows whose value there "
     "repeats, "
     "where a guess is right for %n: it undoes much of the generalization",
     "Die Spalte „%1“ wird unverändert übernommen und verrät den Quasi-Identifikator „%2“ für einen Anteil von %3 der "
     "Zeilen, deren Wert dort mehrfach vorkommt, wo Raten in %4 der Fälle richtig ist: Sie macht viel von der "
     "Verallgemeinerung zunichte"},
    {"--order input: the rows stand as in the input, and that order may tell who is who",
     "--order input: Die Zeilen stehen in der Reihenfolge der Eingabe, und diese kann verraten, wer wer ist"},

    /* names of the checks */
    {"well-formed table", "Wohlgeformte Tabelle"}, {"columns", "Spalten"},
    {"no identifier left", "Kein Identifikator verblieben"}, {"rows accounted for", "Verbleib der Zeilen"},
    {"suppressed rows", "Unterdrückte Zeilen"}, {"copied columns unchanged", "Übernommene Spalten unverändert"},
    {"values generalize the original", "Werte verallgemeinern das Original"},

    /* what they found */
    {"%n rows, %n columns", "%1 Zeilen, %2 Spalten"},
    {"%n columns, in the original's order", "%1 Spalten, in der Reihenfolge des Originals"},
    {"%n columns; only their number is checked, the file has no header",
     "%1 Spalten; nur ihre Anzahl wird geprüft, weil die Datei keine Kopfzeile hat"},
    {"%n columns; their order is not checked without the original",
     "%1 Spalten; ihre Reihenfolge wird ohne das Original nicht geprüft"},
    {"the file has no header", "die Datei hat keine Kopfzeile"},
    {"no column of the release has the name of an identifier or of a dropped column",
     "keine Spalte der Freigabe trägt den Namen eines Identifikators oder einer weggelassenen Spalte"},
    {"the file has no header; every column was compared with the original's in its place",
     "die Datei hat keine Kopfzeile; jede Spalte wurde mit der des Originals an ihrer Stelle verglichen"},
    {"%n of the original's %n rows, %n removed", "%1 der %2 Zeilen des Originals, %3 entfernt"},
    {"%n of the original's %n rows, %n removed; only their number is checked, the order is not known",
     "%1 der %2 Zeilen des Originals, %3 entfernt; nur ihre Anzahl wird geprüft, weil die Reihenfolge nicht bekannt "
     "ist"},
    {"%n column compared row by row", "%1 Spalte Zeile für Zeile verglichen"},
    {"%n columns compared row by row", "%1 Spalten Zeile für Zeile verglichen"},
    {"%p; not checked, the domain is not known: %s", "%1; nicht geprüft, weil der Wertebereich nicht bekannt ist: %2"},
    {"not checked, the domain is not known: %s", "nicht geprüft, weil der Wertebereich nicht bekannt ist: %1"},
    {"the cells of %n copied column occur in the original at least as often; compared without the order, which is not "
     "known",
     "die Zellen von %1 übernommenen Spalte kommen im Original mindestens so oft vor; ohne die Reihenfolge verglichen, "
     "die "
     "nicht bekannt ist"},
    {"the cells of %n copied columns occur in the original at least as often; compared without the order, which is not "
     "known",
     "die Zellen von %1 übernommenen Spalten kommen im Original mindestens so oft vor; ohne die Reihenfolge "
     "verglichen, die "
     "nicht bekannt ist"},
    {"every released row has enough candidates in the original, and each column can be matched with it; compared "
     "without "
     "the order, which is not known",
     "jede freigegebene Zeile hat im Original genügend mögliche Entsprechungen, und jede Spalte lässt sich ihm "
     "zuordnen; "
     "ohne die Reihenfolge verglichen, die nicht bekannt ist"},
    {"without the row order too many candidates would have to be counted; each column by itself can be matched",
     "ohne die Reihenfolge der Zeilen wären zu viele mögliche Entsprechungen zu zählen; jede Spalte für sich lässt "
     "sich "
     "zuordnen"},
    {"%n rows with * everywhere and %n removed, at most %n allowed",
     "%1 Zeilen überall mit * und %2 entfernt, höchstens %3 erlaubt"},
    {"%n rows with * everywhere and %n removed, at most %n allowed; removed rows cannot be counted without the "
     "original",
     "%1 Zeilen überall mit * und %2 entfernt, höchstens %3 erlaubt; ohne das Original lassen sich entfernte Zeilen "
     "nicht "
     "zählen"},
    {"no limit is given; %n rows have * everywhere, %n are removed",
     "keine Obergrenze angegeben; %1 Zeilen haben überall *, %2 sind entfernt"},
    {"no limit is given; %n rows have * everywhere, %n are removed; removed rows cannot be counted without the "
     "original",
     "keine Obergrenze angegeben; %1 Zeilen haben überall *, %2 sind entfernt; ohne das Original lassen sich entfernte "
     "Zeilen nicht zählen"},
    {"%n rows with * everywhere and %n removed, at most %n allowed; * is the most general value of every "
     "quasi-identifier, and %n rows are suppressed",
     "%1 Zeilen überall mit * und %2 entfernt, höchstens %3 erlaubt; * ist der allgemeinste Wert jedes "
     "Quasi-Identifikators, und %4 Zeilen sind unterdrückt"},

    /* why one was not made */
    {"the original is not given", "das Original liegt nicht vor"},
    {"a quasi-identifier is not in the release", "ein Quasi-Identifikator fehlt in der Freigabe"},
    {"its sensitive column is not in the release", "die sensible Spalte fehlt in der Freigabe"},
    {"it compares with the whole original column, and the original is not given",
     "verglichen wird mit der ganzen ursprünglichen Spalte, und das Original liegt nicht vor"},
    {"the sensitive column's hierarchy is not known", "die Hierarchie der sensiblen Spalte ist nicht bekannt"},
    {"a sensitive value is not in the hierarchy", "ein sensibler Wert fehlt in der Hierarchie"},
    {"no row has any of the protected values", "keine Zeile hat einen der geschützten Werte"},
    {"a quasi-identifier's domain is not known, so nobody can say whom its values match",
     "der Wertebereich eines Quasi-Identifikators ist nicht bekannt; niemand kann sagen, auf wen seine Werte passen"},
    {"which original row a released row was is not known",
     "welche Zeile des Originals eine freigegebene Zeile war, ist nicht bekannt"},

    /* the worst class of a model */
    {"%p (asked: %s): %p; rows are counted, not persons: %p",
     "%1 (gefordert: %2): %3; gezählt sind Zeilen, nicht Personen: %4"},
    {"%p (asked: %s): %p", "%1 (gefordert: %2): %3"},
    {"class %s (%p, first on line %n)", "Klasse %1 (%2, zuerst in Zeile %3)"},
    {"class (%p, first on line %n)", "die einzige Klasse (%1, zuerst in Zeile %2)"}, {"%n row", "%1 Zeile"},
    {"%n rows", "%1 Zeilen"}, {"%n row, %n person", "%1 Zeile, %2 Person"},
    {"%n rows, %n person", "%1 Zeilen, %2 Person"}, {"%n rows, %n persons", "%1 Zeilen, %2 Personen"},
    {"the release has no rows", "die Freigabe hat keine Zeilen"}, {"at least %n rows", "mindestens %1 Zeilen"},
    {"at least %n persons", "mindestens %1 Personen"},
    {"at least %n distinct values", "mindestens %1 verschiedene Werte"},
    {"at least %n persons of the population", "mindestens %1 Personen der Bevölkerung"},
    {"%p %n at worst", "%1 schlimmstenfalls %2"}, {"diversity", "Diversität"},
    {"largest count over the rarest", "Verhältnis des häufigsten Werts zu den seltensten"},
    {"share of one value", "Anteil eines Werts"}, {"distance", "Abstand"}, {"relative gain", "relativer Zugewinn"},
    {"log ratio", "Logarithmus des Verhältnisses"}, {"share of the population", "Anteil an der Bevölkerung"},
