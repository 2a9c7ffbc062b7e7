/* What each model promises, by its name. Included by text.c. */

{"k-anonymity",
 "jede Kombination verallgemeinerter Zellen gehört zu mindestens {k} der Enthaltenen und hebt niemanden heraus"},
    {"l-diversity", "unter allen mit gleichen verallgemeinerten Zellen hat {column} mindestens {l} verschiedene Werte"},
    {"p-sensitive", "unter allen mit gleichen verallgemeinerten Zellen hat {column} mindestens {p} verschiedene Werte"},
    {"alpha-k",
     "unter allen mit gleichen verallgemeinerten Zellen hat kein geschützter Wert von {column} einen Anteil über "
     "{alpha}"},
    {"t-closeness", "unter allen mit gleichen verallgemeinerten Zellen ist {column} ähnlich verteilt wie in der ganzen "
                    "Tabelle: der Abstand davon, zwischen 0 (gleich) und 1, ist höchstens {t}"},
    {"beta-likeness", "wer die verallgemeinerten Zellen von jemandem kennt, hält keinen Wert von {column} für "
                      "wahrscheinlicher als in der ganzen Tabelle, um mehr als {beta} mal seinen Anteil dort"},
    {"delta-disclosure",
     "wer die verallgemeinerten Zellen von jemandem kennt, hält keinen Wert von {column} für mehr oder "
     "weniger wahrscheinlich als in der ganzen Tabelle, um mehr als den Faktor 2 hoch {delta}"},
    {"delta-presence", "von allen in der Bevölkerung, deren Zellen gleich aussähen, ist ein Anteil zwischen {min} und "
                       "{max} in dieser Tabelle, sodass niemand sicher sein kann, wer es ist"},
    {"k-map", "mindestens {k} in der ganzen Bevölkerung könnten hinter jeder Zeile stehen"},
