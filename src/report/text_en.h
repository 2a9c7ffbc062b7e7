/* English. Included by text.c; the order is free, the names are those of text.h. */
[KN_TEXT_LANGUAGE] = "en",
    [KN_TEXT_TITLE] = "Anonymization report",
    [KN_TEXT_SUBTITLE] = "What was done to %s, what it guarantees, and what it does not",
    [KN_TEXT_SKIP] = "Skip to the content", [KN_TEXT_CONTENTS] = "Contents",
    [KN_TEXT_DATA_TABLE] = "The picture as a table", [KN_TEXT_BEFORE] = "Before", [KN_TEXT_AFTER] = "After",
    [KN_TEXT_YES] = "yes", [KN_TEXT_NO] = "no", [KN_TEXT_NONE] = "none", [KN_TEXT_NOT_AVAILABLE] = "not available",
    [KN_TEXT_COLUMN] = "Column", [KN_TEXT_FIGURE_OF] = "Figure", [KN_TEXT_VALUE] = "Value",
    [KN_TEXT_PERSONS] = "Persons", [KN_TEXT_ROWS] = "Rows", [KN_TEXT_SHORT] = "In short",
    [KN_TEXT_HOLDS_ALL] = "Everything that was asked for holds in the written file.",
    [KN_TEXT_BROKEN_SOME] = "Something that was asked for does NOT hold. Do not release this file.",
    [KN_TEXT_NOT_VERIFIED] = "The written file was not read back.",
    [KN_TEXT_SHORT_PEOPLE] = "%s [person|persons] in %s [class|classes]; the smallest class has %s.",
    [KN_TEXT_HOUSEHOLDS] = "Households are counted, by the column %s: everybody in one counts once, together.",
    [KN_TEXT_SHORT_ROWS] = "%s of %s [row is|rows are] in the release; %s [is|are] suppressed.",
    [KN_TEXT_SHORT_RISK] = "The highest risk of finding one person falls from %s to %s.",
    [KN_TEXT_SHORT_LOSS] = "The loss is %s by the measure %s (0 is nothing, the whole scale is everything).",
    [KN_TEXT_SHORT_CAPTION] = "What this report is about", [KN_TEXT_APPENDIX] = "Appendix",
    [KN_TEXT_APPENDIX_TEXT] = "For whoever checks the run or repeats it.", [KN_TEXT_VALUES] = "The loss in detail",
    [KN_TEXT_SEARCH] = "The search", [KN_TEXT_SETS] = "Which columns of the original point people out",
    [KN_TEXT_SETS_ALONE] = "Which columns point people out", [KN_TEXT_WARNINGS] = "Things to know",
    [KN_TEXT_ASKED] = "What was asked for",
    [KN_TEXT_ASKED_TEXT] = "The table %s has %s [row|rows] and %s [column|columns]. Every column has one role.",
    [KN_TEXT_ROLE] = "Role", [KN_TEXT_TYPE] = "Type", [KN_TEXT_TECHNIQUE] = "What happens to it",
    [KN_TEXT_BOOK_TITLE] = "Codebook", [KN_TEXT_BOOK_SUBTITLE] = "What the columns and cells of %s mean",
    [KN_TEXT_BOOK_SIZE] = "The table has %s [row|rows] and %s [column|columns].",
    [KN_TEXT_BOOK_WHY] =
        "It is about people. So that nobody can be found in it, some cells tell less than was recorded: a range, a "
        "group, or nothing instead of a value. What a cell does tell is true of its row.",
    [KN_TEXT_BOOK_PROMISES] = "What the release guarantees", [KN_TEXT_BOOK_READING] = "How to read a cell",
    [KN_TEXT_BOOK_NOTATION] = "Forms of cells, by example", [KN_TEXT_BOOK_CELL] = "Cell",
    [KN_TEXT_BOOK_MEANS] = "Means", [KN_TEXT_BOOK_SHARE] = "Share",
    [KN_TEXT_BOOK_N_RANGE] = "from 30 to 39, both included", [KN_TEXT_BOOK_N_OPEN] = "from 1.5 up to, but without, 2",
    [KN_TEXT_BOOK_N_TOP] = "90 and more", [KN_TEXT_BOOK_N_BOTTOM] = "17 and less",
    [KN_TEXT_BOOK_N_SET] = "one of these values",
    [KN_TEXT_BOOK_N_MASK] = "begins with 48 and has at most three more characters",
    [KN_TEXT_BOOK_N_YEARS] = "of dates: from the first day of 2020 to the last of 2024",
    [KN_TEXT_BOOK_COLUMNS] = "The columns, and what was lost",
    [KN_TEXT_BOOK_COLUMNS_TEXT] = "Of every column: how many of its cells are as they were recorded, how many tell a "
                                  "range or a group, and how many tell nothing: * or all that the column can be.",
    [KN_TEXT_BOOK_LOST] = "Columns and how much their cells tell", [KN_TEXT_BOOK_HOLDS] = "Holds",
    [KN_TEXT_BOOK_AS_RECORDED] = "As recorded",
    [KN_TEXT_BOOK_IS_QUASI] = "Generalized, because it could help to find somebody.",
    [KN_TEXT_BOOK_IS_COPIED] = "Cells as they were recorded.", [KN_TEXT_BOOK_LABELS] = "Cells of %s",
    [KN_TEXT_BOOK_VALUES] = "Values of %s", [KN_TEXT_BOOK_EXACT] = "other values",
    [KN_TEXT_BOOK_EXACT_MEANS] = "the value as it was recorded", [KN_TEXT_BOOK_STAR] = "*",
    [KN_TEXT_BOOK_MISSING] = "(empty)", [KN_TEXT_BOOK_MISSING_MEANS] = "nothing was recorded",
    [KN_TEXT_BOOK_ANY] = "any value", [KN_TEXT_BOOK_FROM_TO] = "from %s to %s",
    [KN_TEXT_BOOK_UP_TO] = "from %s up to, but without, %s", [KN_TEXT_BOOK_AND_MORE] = "%s and more",
    [KN_TEXT_BOOK_AND_LESS] = "%s and less", [KN_TEXT_BOOK_BELOW] = "less than %s",
    [KN_TEXT_BOOK_ONE_OF] = "one of: %s", [KN_TEXT_BOOK_BEGINS] = "begins with %s, at most %s [character|characters]",
    [KN_TEXT_BOOK_ENDS] = "ends with %s, at most %s [character|characters]", [KN_TEXT_BOOK_GROUP] = "a group of values",
    [KN_TEXT_BOOK_MORE] = "%s more [label|labels]", [KN_TEXT_BOOK_MORE_MEANS] = "ranges or groups as above",
    [KN_TEXT_BOOK_MANY] = "%s different values.", [KN_TEXT_BOOK_MANY_FROM] = "%s different values, from %s to %s.",
    [KN_TEXT_BOOK_DERIVED] = "Computed from dates of the same row: %s.",
    [KN_TEXT_BOOK_GRID] = "Ranges begin and end in steps of: %s.", [KN_TEXT_BOOK_DAY] = "one day",
    [KN_TEXT_BOOK_WEEK] = "one week", [KN_TEXT_BOOK_MONTH] = "one month",
    [KN_TEXT_BOOK_QUARTER] = "a quarter of a year", [KN_TEXT_BOOK_HALFYEAR] = "half a year",
    [KN_TEXT_BOOK_YEAR] = "one year", [KN_TEXT_BOOK_5YEARS] = "5 years", [KN_TEXT_BOOK_DECADE] = "10 years",

    [KN_TEXT_BOOK_TOP] = "From %s on, everybody has the same value.",
    [KN_TEXT_BOOK_BOTTOM] = "Below %s, everybody has the same value.",
    [KN_TEXT_BOOK_ROUND] = "Nothing finer than steps of %s is told.", [KN_TEXT_BOOK_ORDER] = "In this order: %s.",
    [KN_TEXT_BOOK_MADE] =
        "Its groups were made from the data: values that occurred together with similar values of other columns. "
        "Listed of a group are the values that rows of this release have.",
    [KN_TEXT_BOOK_PART_MIN] = "smallest value that is possible",
    [KN_TEXT_BOOK_PART_MAX] = "largest value that is possible",
    [KN_TEXT_BOOK_PART_KIND] = "value, interval, suppressed or missing",
    [KN_TEXT_BOOK_PART_MEAN] = "mean of the people with equal cells", [KN_TEXT_BOOK_CARE] = "Before you compute",
    [KN_TEXT_BOOK_CARE_RANGES] =
        "A range is no value. Count with both of its ends rather than with its middle, and say which you took.",
    [KN_TEXT_BOOK_CARE_STARS] = "A cell that tells nothing is not missing at random: rare people have more of them.",
    [KN_TEXT_BOOK_CARE_ORDER] =
        "The rows are sorted by their text; their order says nothing of when or where they were recorded.",
    [KN_TEXT_BOOK_INT] = "whole numbers", [KN_TEXT_BOOK_DECIMAL] = "numbers", [KN_TEXT_BOOK_DATE] = "dates",
    [KN_TEXT_BOOK_TEXT] = "text", [KN_TEXT_COMPARED] = "Before and after",
    [KN_TEXT_COMPARED_TEXT] =
        "What analyses of the table and of the release would show. Afterwards a cell counts evenly for all values that "
        "it may be; cells that may be any value are left out. Categories have at least %s [person|persons] each in the "
        "table, "
        "in crosstabs every cell has; smaller ones are merged, and means are rounded to steps that so many persons "
        "together can move them by. Copied columns are not listed: they are unchanged.",
    [KN_TEXT_COMPARED_FIRST] = "Of %s quasi-identifiers the first %s are shown.",
    [KN_TEXT_COMPARED_MEANS] = "Means before and after; of dates the year",
    [KN_TEXT_COMPARED_PICTURE] = "Distribution before and after",
    [KN_TEXT_COMPARED_DESC] = "Two bars for each category: the share of rows in the table, and in the release.",
    [KN_TEXT_COMPARED_OF] = "Distribution of %s",
    [KN_TEXT_COMPARED_CROSSTAB] = "%s by %s: share of rows before → after", [KN_TEXT_COMPARED_OTHERS] = "all others",
    [KN_TEXT_DERIVED] = "The column %s is not in the table: it was computed from dates of the same row, %s.",
    [KN_TEXT_ROLES_CAPTION] = "Columns, their roles and the technique applied to each",
    [KN_TEXT_ROLE_IDENTIFIER] = "identifier", [KN_TEXT_ROLE_QUASI] = "quasi-identifier",
    [KN_TEXT_ROLE_SENSITIVE] = "sensitive", [KN_TEXT_ROLE_INSENSITIVE] = "insensitive",
    [KN_TEXT_ROLE_DROPPED] = "not listed", [KN_TEXT_TECH_REMOVED] = "removed: it never leaves",
    [KN_TEXT_TECH_PERSON] = "removed; it was used to count persons",
    [KN_TEXT_TECH_DROPPED] = "left out, because nobody gave it a role", [KN_TEXT_TECH_COPIED] = "copied unchanged",
    [KN_TEXT_TECH_SENSITIVE] = "copied unchanged; the models below protect it",
    [KN_TEXT_TECH_SENSITIVE_BARE] = "copied unchanged; no model protects it",
    [KN_TEXT_TECH_TREE] = "generalized along its hierarchy (%s [level|levels])",
    [KN_TEXT_TECH_TREE_LEVEL] = "generalized to level %s of %s of its hierarchy",
    [KN_TEXT_TECH_RANGES] = "generalized to intervals", [KN_TEXT_TECH_SETS] = "generalized to sets of values",
    [KN_TEXT_TECH_GROUPS] =
        "generalized to sets of up to five values and to groups of similar values, made from the data",
    [KN_TEXT_TECH_SUBSETS] = "generalized to the subsets of its file (%s of them)",
    [KN_TEXT_GUARANTEED] = "What is guaranteed, and how it was checked",
    [KN_TEXT_GUARANTEED_TEXT] =
        "A class is a group of rows whose quasi-identifiers look exactly the same. Each model below "
        "is a condition on every class of the release.",
    [KN_TEXT_MODELS_CAPTION] = "Models asked for, and the worst class of the release", [KN_TEXT_MODEL] = "Model",
    [KN_TEXT_PARAMETERS] = "Asked", [KN_TEXT_WORST] = "Worst class", [KN_TEXT_HOLDS] = "Holds",
    [KN_TEXT_VALUES_OF_POLICY] = "protected are the values that the policy names",
    [KN_TEXT_VALUES_OF_COMMAND] = "protected are the values that the command names",
    [KN_TEXT_WORST_CAPTION] = "The worst class of each model, as the recount found it",
    [KN_TEXT_CHECKED_TEXT] =
        "After the file was written it was read back and recounted by a separate part of the program "
        "that shares no code with the search. These checks were made:",
    [KN_TEXT_CHECKS_CAPTION] = "Checks on the written file", [KN_TEXT_CHECK] = "Check", [KN_TEXT_RESULT] = "Result",
    [KN_TEXT_FINDING] = "Finding", [KN_TEXT_STATE_HOLDS] = "holds", [KN_TEXT_STATE_BROKEN] = "BROKEN",
    [KN_TEXT_STATE_NOT_MADE] = "not made", [KN_TEXT_LOST] = "What was lost, and why",
    [KN_TEXT_LOST_TEXT] = "Loss by the measure %s: 0 means that every value of a column is still there, 1 that nothing "
                          "is. The figures are per cell of the column.",
    [KN_TEXT_LOST_NO_COLUMNS] = "The measure %s prices whole classes, so it has no loss per column.",
    [KN_TEXT_LOST_CELLS] = "A generalized cell tells less than its value, but something, such as a range, a group or a "
                           "year. A cell without any detail is *, or all that the column can be.",
    [KN_TEXT_LOST_MOST] = "These columns lost most; all %s are in the appendix, with how many rows kept their value.",
    [KN_TEXT_LOST_ELSEWHERE] = "How many rows kept their value in each of the %s columns is in the appendix.",
    [KN_TEXT_LOST_REMOVED] = "Rows that were removed (%s) are counted as rows without any detail.",
    [KN_TEXT_LOSS_TITLE] = "Loss per column",
    [KN_TEXT_LOSS_DESC] = "One bar per quasi-identifier; longer means more was lost. The table below holds the same "
                          "figures.",
    [KN_TEXT_LOSS] = "Loss", [KN_TEXT_UNCHANGED] = "Rows unchanged", [KN_TEXT_GENERALIZED] = "Rows generalized",
    [KN_TEXT_SUPPRESSED] = "Rows without any detail", [KN_TEXT_VALUES_BEFORE] = "Values before",
    [KN_TEXT_VALUES_AFTER] = "Values after", [KN_TEXT_WHY_CAPTION] = "Which released values cost most in each column",
    [KN_TEXT_WHY_TEXT] = "Detail is lost where too few people look alike. For each column, the released values that "
                         "carry most of its loss, and the smallest class that forced them.",
    [KN_TEXT_RELEASED_VALUE] = "Released value", [KN_TEXT_SHARE_OF_LOSS] = "Share of the column's loss",
    [KN_TEXT_SMALLEST_CLASS] = "Smallest class", [KN_TEXT_MEASURES] = "The release by every measure",
    [KN_TEXT_MEASURE] = "Measure", [KN_TEXT_MEASURE_MEANS] = "Meaning",
    [KN_TEXT_OPTIMUM] = "How far from the best possible release",
    [KN_TEXT_OPTIMAL] = "This release is proven to be the best of what this kind of recoding can express.",
    [KN_TEXT_GAP] = "No release of this kind can lose less than %s; this one loses %s. At most %s of its loss was "
                    "avoidable.",
    [KN_TEXT_NO_BOUND] = "No lower bound was computed, so nothing is claimed about the distance.",
    [KN_TEXT_ANY_GAP] =
        "No k-anonymous release of this table under these rules, whatever the kind of recoding, can lose "
        "less than %s; this one loses %s. At most %s of its loss was avoidable.",
    [KN_TEXT_PARTIAL_BOUND] = "Only a part of all generalizations was looked at; the rest could raise the bound, never "
                              "lower it.",
    [KN_TEXT_QUICK_BOUND] = "This bound was found quickly; more time could raise it, never lower it.",
    [KN_TEXT_THEOREM] = "The method carries a proven guarantee (%s): at most %s times the best possible loss.",
    [KN_TEXT_THEOREM_NOT] =
        "The method is proven to lose at most %s times the best possible loss (%s), but not here: %s.",
    [KN_TEXT_OPTIMUM_CLASSES] =
        "The best possible loss is that of any partition of the rows into classes of at least k, "
        "each released as the smallest generalization of its rows.",
    [KN_TEXT_OPTIMUM_SUPPRESSED] =
        "The best possible loss is that of any partition of the rows into classes of at least "
        "k, each released as the smallest generalization of its rows, where rows may also be "
        "suppressed.",
    [KN_TEXT_RATIO_HERE] = "On this table the lower bound proves more: at most %s times.",
    [KN_TEXT_BOUND_TITLE] = "Loss and proven lower bound",
    [KN_TEXT_BOUND_DESC] = "Two bars: what every possible release loses at least, and what this one loses.",
    [KN_TEXT_BOUND] = "Lower bound", [KN_TEXT_THIS_RELEASE] = "This release", [KN_TEXT_TIME_TITLE] = "Loss over time",
    [KN_TEXT_TIME_DESC] = "How the loss of the best release found so far fell during the search.",
    [KN_TEXT_SECONDS] = "Seconds", [KN_TEXT_STOPPED_DONE] = "The search came to its own end.",
    [KN_TEXT_STOPPED_BUDGET] = "The search used up its work budget; the same settings give the same release again.",
    [KN_TEXT_STOPPED_TIME] = "The search was ended by the time limit; another run may give another release.",
    [KN_TEXT_STOPPED_INTERRUPT] = "The search was interrupted; another run may give another release.",
    [KN_TEXT_STOPPED_STILL] =
        "The search ended because more work gained next to nothing; the same settings give the same release again.",
    [KN_TEXT_LATTICE_TITLE] = "The lattice of generalizations",
    [KN_TEXT_LATTICE_DESC] =
        "One point per combination of levels, from no generalization at the bottom to everything at "
        "the top. Filled: allowed. Ringed: chosen.",
    [KN_TEXT_LATTICE_HEAT] =
        "Every combination of levels, by its height (sum of levels). The bar shows how many of them "
        "are allowed.",
    [KN_TEXT_LATTICE_SUBTITLE] = "Every way to generalize %s by one level per column", [KN_TEXT_LEVELS] = "Levels",
    [KN_TEXT_MINIMAL_NODES] = "The best combination, then the others below which none is allowed",
    [KN_TEXT_MINIMAL_NODES_FIRST] = "The best combination, then the hundred of least loss below which none is allowed",
    [KN_TEXT_HEIGHT] = "Height", [KN_TEXT_NODES] = "Combinations", [KN_TEXT_NODES_ALLOWED] = "Allowed",
    [KN_TEXT_LEAST_LOSS] = "Least loss among the allowed", [KN_TEXT_SIZES] = "Class sizes",
    [KN_TEXT_SIZES_TEXT] =
        "How many persons stand in classes of which size. In the table as it was, a class of one is a "
        "person whom the quasi-identifiers alone point out.",
    [KN_TEXT_SIZES_ONCE] = "A person who stands in several classes is counted once, in the smallest of them: there may "
                           "be fewer persons than the classes of a size have together.",
    [KN_TEXT_SIZES_TITLE] = "Share of persons by the size of their class",
    [KN_TEXT_SIZES_DESC] = "Two bars per class size: before and after.", [KN_TEXT_SIZE] = "Class size",
    [KN_TEXT_CLASSES_BEFORE] = "Classes before", [KN_TEXT_PERSONS_BEFORE] = "Persons before",
    [KN_TEXT_CLASSES_AFTER] = "Classes after", [KN_TEXT_PERSONS_AFTER] = "Persons after",
    [KN_TEXT_RISK] = "Risk before and after",
    [KN_TEXT_RISK_TEXT] = "Three attackers who know the quasi-identifiers. The prosecutor looks for one person whom "
                          "they know to be in the table; the journalist for anybody, to show that it can be done; the "
                          "marketer for as many as possible.",
    [KN_TEXT_RISK_JOURNALIST_SAME] =
        "Without knowledge of the population, the journalist is taken to be as strong as the "
        "prosecutor.",
    [KN_TEXT_RISK_CAPTION] = "Risk of re-identification", [KN_TEXT_RISK_TITLE] = "Risk before and after",
    [KN_TEXT_RISK_DESC] = "Two bars per figure: before and after.", [KN_TEXT_RISK_ALONE] = "Who could be found",
    [KN_TEXT_RISK_DESC_ALONE] = "One bar per figure.",
    [KN_TEXT_SIZES_TEXT_ALONE] =
        "How many persons stand in classes of which size: a class is a group whose quasi-identifiers look the same. A "
        "class of one is a person whom the quasi-identifiers alone point out.",
    [KN_TEXT_SIZES_DESC_ALONE] = "One bar per class size.",
    [KN_TEXT_RISK_SINGLED] = "%s of %s [person|persons] can be picked out by the quasi-identifiers alone.",
    [KN_TEXT_RISK_SMALL] =
        "%s of %s [person|persons]: too few others have the same quasi-identifiers, the class has fewer "
        "than %s persons.",
    [KN_TEXT_RISK_HIDDEN] = "Every person stands in a class of at least %s; %s was asked for.",
    [KN_TEXT_RISK_NOBODY] = "Nobody is in the table: the figures below say nothing.",
    [KN_TEXT_PROSECUTOR_HIGHEST] = "Prosecutor, highest", [KN_TEXT_PROSECUTOR_AVERAGE] = "Prosecutor, average",
    [KN_TEXT_PROSECUTOR_LOWEST] = "Prosecutor, lowest", [KN_TEXT_JOURNALIST_HIGHEST] = "Journalist, highest",
    [KN_TEXT_JOURNALIST_AVERAGE] = "Journalist, average", [KN_TEXT_JOURNALIST_LOWEST] = "Journalist, lowest",
    [KN_TEXT_MARKETER] = "Marketer, expected share of hits",
    [KN_TEXT_ABOVE] = "Persons in classes smaller than %s (threshold %s)",
    [KN_TEXT_UNIQUE] = "Persons alone in their class",
    [KN_TEXT_DISCLOSURE_CAPTION] = "What an attacker learns about the sensitive columns",
    [KN_TEXT_CERTAIN] = "Persons whose value is learned for certain",
    [KN_TEXT_SHIFT] = "Largest shift of belief in one value",
    [KN_TEXT_SHIFT_AVERAGE] = "Average shift of belief, all values together",
    [KN_TEXT_ONE_VALUE] = "Classes with one value (homogeneity): who is in it has that value",
    [KN_TEXT_TWO_VALUES] = "Classes with two values (background knowledge): who can exclude one knows the other",
    [KN_TEXT_SIMILAR_VALUES] = "Classes with several, but similar values (similarity): below one label of the column's "
                               "hierarchy, or numbers within a tenth of its range",
    [KN_TEXT_OF_CLASSES] = "%s of %s",
    [KN_TEXT_SETS_CAPTION] = "Columns that single persons out; no set contains another",
    [KN_TEXT_SETS_TEXT] = "Every set of up to %s [quasi-identifier|quasi-identifiers] was looked at. %s [person "
                          "is|persons are] unique on some of "
                          "them.",
    [KN_TEXT_COLUMNS] = "Columns", [KN_TEXT_SINGLED_OUT] = "Persons singled out",
    [KN_TEXT_MINIMAL] = "of those, on no smaller set",
    [KN_TEXT_ESTIMATE_CAPTION] = "Estimated uniques in a population of %s (sampling fraction %s)",
    [KN_TEXT_ESTIMATOR] = "Estimator", [KN_TEXT_ESTIMATE] = "Estimate",
    [KN_TEXT_CHOSEN] = "chosen by the rule of Dankar et al.", [KN_TEXT_NO_SOLUTION] = "no solution",
    [KN_TEXT_LOOK] = "Released classes as they look",
    [KN_TEXT_LOOK_TEXT] = "Some classes of the release: the smallest, the largest, and those that lost most. Only "
                          "generalized values are shown.",
    [KN_TEXT_LOOK_CAPTION] = "Example classes",
    [KN_TEXT_LOOK_REDACTED] = "No values are shown, because that was asked for.", [KN_TEXT_KIND] = "Why shown",
    [KN_TEXT_KIND_SMALLEST] = "smallest", [KN_TEXT_KIND_LARGEST] = "largest", [KN_TEXT_KIND_COSTLIEST] = "most lost",
    [KN_TEXT_WORDS] = "In plain words", [KN_TEXT_SINGLING_OUT] = "Singling out",
    [KN_TEXT_SINGLING_OUT_TEXT] =
        "Can somebody pick one person's row? Each row of the release stands in a group of at least %s "
        "persons with the same quasi-identifiers, so these point to a group, never to one person. "
        "Columns that were copied unchanged can still single somebody out if an attacker knows their "
        "values.",
    [KN_TEXT_LINKABILITY] = "Linkability",
    [KN_TEXT_LINKABILITY_TEXT] =
        "Can rows be joined with another file about the same people? A join on the quasi-identifiers "
        "fits at least %s [person|persons] for every name. That does not hold across two releases of the same "
        "table, or for joins on copied columns.",
    [KN_TEXT_INFERENCE] = "Inference",
    [KN_TEXT_INFERENCE_TEXT] =
        "Can something be learned about a person without finding their row? For %s [person|persons] all "
        "members of their class share one sensitive value, so that value is learned.",
    [KN_TEXT_INFERENCE_NONE] = "No column was declared sensitive, so nothing is said about inference.",
    [KN_TEXT_INFERENCE_MODELS] = "Models that limit it: %s.",
    [KN_TEXT_INFERENCE_UNPROTECTED] = "No model limits what is learned about: %s.",
    [KN_TEXT_ASSUMPTIONS] = "Assumptions",
    [KN_TEXT_ASSUME_QI] = "The attacker knows at most the quasi-identifiers listed above. Whoever chose them decided "
                          "what an attacker may know.",
    [KN_TEXT_ASSUME_ROLES] = "Columns called insensitive can be known to anybody without harm.",
    [KN_TEXT_ASSUME_PERSON] = "Rows with the same %s are one person; different ones are different persons.",
    [KN_TEXT_ASSUME_ROW] = "Every row is another person. If somebody has several rows, name the column that tells "
                           "persons apart.",
    [KN_TEXT_ASSUME_TRUE] = "The values of the table are true; a wrong value protects nobody and may point at somebody "
                            "else.",
    [KN_TEXT_NOT_PROTECTED] = "What is not protected",
    [KN_TEXT_LIMIT_RELEASES] =
        "Several releases of one table, or of tables that share people: together they can single out "
        "persons whom each of them hides.",
    [KN_TEXT_LIMIT_SEVERAL] = "A person who stands in several classes: whoever knows that can intersect them.",
    [KN_TEXT_LIMIT_MINIMALITY] =
        "The minimality attack: whoever knows the algorithm and that it generalizes no more than "
        "needed can sometimes reason backwards from what it did.",
    [KN_TEXT_LIMIT_KNOWLEDGE] = "Attackers who know more than the quasi-identifiers, such as a copied value or who is "
                                "certainly not in the table.",
    [KN_TEXT_LIMIT_STATISTICS] =
        "What the table teaches about groups: that smokers fall ill more often is learned about every "
        "smoker, in the table or not.",
    [KN_TEXT_LIMIT_LAW] = "Whether the release may be published is a legal and organizational decision. This report "
                          "describes figures; it does not make that decision.",
    [KN_TEXT_SETTINGS] = "Settings, so that it can be repeated", [KN_TEXT_SETTINGS_CAPTION] = "Settings in force",
    [KN_TEXT_OPTION] = "Option", [KN_TEXT_FROM] = "From", [KN_TEXT_FROM_FLAG] = "command line",
    [KN_TEXT_RUN_CAPTION] = "The run", [KN_TEXT_VERSION] = "Program and version", [KN_TEXT_DATE] = "Date",
    [KN_TEXT_ALGORITHM] = "Algorithm", [KN_TEXT_SEED] = "Seed", [KN_TEXT_POLICY] = "Policy file",
    [KN_TEXT_POLICY_HASH] = "SHA-256 of the policy", [KN_TEXT_RELEASE_FILE] = "Released file",
    [KN_TEXT_RELEASE_HASH] = "SHA-256 of the released file", [KN_TEXT_TIME] = "Time",
    [KN_TEXT_TIME_VALUE] = "%s s, of which %s s search", [KN_TEXT_MEMORY] = "Memory", [KN_TEXT_SIGN] = "Decision",
    [KN_TEXT_SIGN_TEXT] = "To be filled in by the person who answers for the release. The hash ties this page to one "
                          "file.",
    [KN_TEXT_SIGN_CAPTION] = "What is decided about", [KN_TEXT_SIGN_RECIPIENT] = "Recipient and purpose",
    [KN_TEXT_SIGN_CONDITIONS] = "Conditions", [KN_TEXT_SIGN_NAME] = "Name and function",
    [KN_TEXT_SIGN_DATE] = "Place and date", [KN_TEXT_SIGN_SIGNATURE] = "Signature",
    [KN_TEXT_ATTACK_TEXT] = "The file %s, which has names, was linked to this table on the quasi-identifiers.",
    [KN_TEXT_ATTACK_CAPTION] = "An attack that was carried out",
    [KN_TEXT_ATTACK_PERSONS] = "Persons in the file with names", [KN_TEXT_ATTACK_NOT_FOUND] = "fit no row",
    [KN_TEXT_ATTACK_FEWER] = "fit at least one row, but fewer than %s", [KN_TEXT_ATTACK_UNIQUE] = "fit exactly one row",
    [KN_TEXT_RISK_REPORT] = "Risk report",
    [KN_TEXT_RISK_SUBTITLE] = "Who could be found in %s, by whom, and through which columns",
    [KN_TEXT_COMPARE_REPORT] = "Comparison",
    [KN_TEXT_COMPARE_SUBTITLE] = "Releases of %s with different searches and class sizes",
    [KN_TEXT_FRONTIER_TITLE] = "Risk and loss",
    [KN_TEXT_FRONTIER_DESC] = "One point per run, named by its search and k: to the right more loss, upwards more risk "
                              "(each line ten times as much). The line joins the runs that no other run beats in both.",
    [KN_TEXT_RUNS_CAPTION] = "Runs", [KN_TEXT_REFUSALS_CAPTION] = "Runs without a release",
    [KN_TEXT_AVERAGE_RISK] = "Average risk", [KN_TEXT_HIGHEST_RISK] = "Highest risk",
    [KN_TEXT_ON_FRONTIER] = "On the line", [KN_TEXT_CLASSES] = "Classes", [KN_TEXT_K_ASKED] = "k",
    [KN_TEXT_ROWS_SUPPRESSED] = "Rows suppressed", [KN_TEXT_TYPE_INT] = "int", [KN_TEXT_TYPE_DECIMAL] = "decimal",
    [KN_TEXT_TYPE_DATE] = "date", [KN_TEXT_TYPE_TEXT] = "text", [KN_TEXT_CHECK_TABLE] = KN_CHECK_TABLE,
    [KN_TEXT_CHECK_COLUMNS] = KN_CHECK_COLUMNS, [KN_TEXT_CHECK_IDENTIFIERS] = KN_CHECK_IDENTIFIERS,
    [KN_TEXT_CHECK_ROWS] = KN_CHECK_ROWS, [KN_TEXT_CHECK_COPIES] = KN_CHECK_COPIES,
    [KN_TEXT_CHECK_VALUES] = KN_CHECK_VALUES, [KN_TEXT_CHECK_SUPPRESSED] = KN_CHECK_SUPPRESSED,
    [KN_TEXT_CHECK_LEVELS] = KN_CHECK_LEVELS,
