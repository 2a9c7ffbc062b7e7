/* What each model promises, by its name and, of variants, when. Included by text.c. */

{"k-anonymity", NULL,
 "jede Kombination verallgemeinerter Zellen gehört zu mindestens {k} der Enthaltenen und hebt niemanden heraus"},
    {"l-diversity", NULL,
     "unter allen mit gleichen verallgemeinerten Zellen hat {column} mindestens {l} verschiedene Werte"},
    {"l-diversity", "kind=frequency",
     "kein Wert von {column} hat mehr als {1/l} der Zeilen mit gleichen verallgemeinerten Zellen"},
    {"l-diversity", "kind=entropy",
     "unter den Zeilen mit gleichen verallgemeinerten Zellen sind die Werte von {column}, nach ihrer Entropie, "
     "mindestens so ungewiss wie {l} gleich häufige"},
    {"l-diversity", "kind=recursive",
     "unter den Zeilen mit gleichen verallgemeinerten Zellen kommt der häufigste Wert von {column} weniger als {c} mal "
     "so oft vor wie alle Werte ab Rang {l} zusammen"},
    {"p-sensitive", NULL,
     "unter allen mit gleichen verallgemeinerten Zellen hat {column} mindestens {p} verschiedene Werte"},
    {"alpha-k", NULL,
     "unter allen mit gleichen verallgemeinerten Zellen hat kein geschützter Wert von {column} einen Anteil über "
     "{alpha}"},
    {"t-closeness", NULL,
     "unter allen mit gleichen verallgemeinerten Zellen ist {column} ähnlich verteilt wie in der ganzen "
     "Tabelle: der Abstand davon, zwischen 0 (gleich) und 1, ist höchstens {t}"},
    {"beta-likeness", NULL,
     "wer die verallgemeinerten Zellen von jemandem kennt, hält keinen Wert von {column} für "
     "wahrscheinlicher als in der ganzen Tabelle, um mehr als {beta} mal seinen Anteil dort"},
    {"beta-likeness", "enhanced=yes",
     "wer die verallgemeinerten Zellen von jemandem kennt, hält keinen Wert von {column} für wahrscheinlicher als in "
     "der ganzen Tabelle, um mehr als {beta} mal seinen Anteil dort, und auch nicht um mehr als diesen Anteil mal den "
     "natürlichen Logarithmus von 1 durch ihn, was für häufige Werte weniger ist"},
    {"delta-disclosure", NULL,
     "wer die verallgemeinerten Zellen von jemandem kennt, hält keinen Wert von {column} für mehr oder "
     "weniger wahrscheinlich als in der ganzen Tabelle, um mehr als den Faktor 2 hoch {delta}"},
    {"delta-presence", NULL,
     "von allen in der Bevölkerung, deren Zellen gleich aussähen, ist ein Anteil zwischen {min} und "
     "{max} in dieser Tabelle, sodass niemand sicher sein kann, wer es ist"},
    {"k-map", NULL, "mindestens {k} in der ganzen Bevölkerung könnten hinter jeder Zeile stehen"},
