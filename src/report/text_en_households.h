/* English, where households are counted instead of persons. Included by text.c; what is not here is as in text_en.h. */
[KN_TEXT_PERSONS] = "Households",
    [KN_TEXT_SHORT_PEOPLE] = "%s [household|households] in %s [class|classes]; the smallest class has %s.",
    [KN_TEXT_SHORT_RISK] = "The highest risk of finding one household falls from %s to %s.",
    [KN_TEXT_SETS] = "Which columns of the original point households out",
    [KN_TEXT_SETS_ALONE] = "Which columns point households out",
    [KN_TEXT_COMPARED_TEXT] =
        "What analyses of the table and of the release would show. Afterwards a cell counts evenly for all values that "
        "it may be; cells that may be any value are left out. Categories have at least %s [household|households] each "
        "in the "
        "table, in crosstabs every cell has; smaller ones are merged, and means are rounded to steps that so many "
        "households together can move them by. Copied columns are not listed: they are unchanged.",
    [KN_TEXT_TECH_PERSON] = "removed; it was used to count households",
    [KN_TEXT_WHY_TEXT] = "Detail is lost where too few households look alike. For each column, the released values "
                         "that carry most of its loss, and the smallest class that forced them.",
    [KN_TEXT_SIZES_TEXT] = "How many households stand in classes of which size. In the table as it was, a class of one "
                           "is a household that the quasi-identifiers alone point out.",
    [KN_TEXT_SIZES_ONCE] = "A household that stands in several classes is counted once, in the smallest of them: there "
                           "may be fewer households than the classes of a size have together.",
    [KN_TEXT_SIZES_TITLE] = "Share of households by the size of their class",
    [KN_TEXT_PERSONS_BEFORE] = "Households before", [KN_TEXT_PERSONS_AFTER] = "Households after",
    [KN_TEXT_RISK_TEXT] = "Three attackers who know the quasi-identifiers. The prosecutor looks for one household that "
                          "they know to be in the table; the journalist for any, to show that it can be done; the "
                          "marketer for as many as possible.",
    [KN_TEXT_SIZES_TEXT_ALONE] = "How many households stand in classes of which size: a class is a group whose "
                                 "quasi-identifiers look the same. A class of one is a household that the "
                                 "quasi-identifiers alone point out.",
    [KN_TEXT_RISK_SINGLED] = "%s of %s [household|households] can be picked out by the quasi-identifiers alone.",
    [KN_TEXT_RISK_SMALL] =
        "%s of %s [household|households]: too few others have the same quasi-identifiers, the class has "
        "fewer than %s households.",
    [KN_TEXT_RISK_HIDDEN] = "Every household stands in a class of at least %s; %s was asked for.",
    [KN_TEXT_ABOVE] = "Households in classes smaller than %s (threshold %s)",
    [KN_TEXT_UNIQUE] = "Households alone in their class",
    [KN_TEXT_CERTAIN] = "Households whose value is learned for certain",
    [KN_TEXT_SETS_CAPTION] = "Columns that single households out; no set contains another",
    [KN_TEXT_SETS_TEXT] = "Every set of up to %s [quasi-identifier|quasi-identifiers] was looked at. %s [household "
                          "is|households are] unique on some of "
                          "them.",
    [KN_TEXT_SINGLED_OUT] = "Households singled out",
    [KN_TEXT_SINGLING_OUT_TEXT] =
        "Can somebody pick one household's rows? Each row of the release stands in a group of at least %s "
        "[household|households] "
        "with the same quasi-identifiers, so these point to a group, never to one household. Columns that were copied "
        "unchanged can still single somebody out if an attacker knows their values.",
    [KN_TEXT_LINKABILITY_TEXT] =
        "Can rows be joined with another file about the same households? A join on the quasi-identifiers fits at least "
        "%s households for every name. That does not hold across two releases of the same table, or for joins on "
        "copied columns.",
    [KN_TEXT_INFERENCE_TEXT] =
        "Can something be learned about a household without finding its rows? For %s [household|households] "
        "all members of their class share one sensitive value, so that value is learned.",
    [KN_TEXT_ASSUME_PERSON] = "Rows with the same %s are one household; different ones are different households.",
    [KN_TEXT_LIMIT_RELEASES] = "Several releases of one table, or of tables that share households: together they can "
                               "single out households that each of them hides.",
    [KN_TEXT_LIMIT_SEVERAL] = "A household that stands in several classes: whoever knows that can intersect them.",
    [KN_TEXT_ATTACK_PERSONS] = "Households in the file with names",
