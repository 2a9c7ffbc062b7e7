#!/bin/sh
# The generator promises: the same bytes everywhere, a smaller population begins a larger one, ids that never repeat,
# 11 cells in every row, and hierarchies that know every value.
set -eu
generate=$(realpath "$1")
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$generate" 20000 -o large.csv --hierarchies .
"$generate" 1000 > small.csv
head -n 1001 large.csv | cmp - small.csv
"$generate" 1000 --seed 2 | cmp -s - small.csv && { echo "the seed changes nothing"; exit 1; }
sum=$(cksum < large.csv)
[ "$sum" = "48449662 1894871" ] || { echo "other bytes than on other machines: $sum"; exit 1; }
awk -F, 'NF != 11 { print "line " NR " has " NF " cells"; exit 1 }' large.csv
[ "$(cut -d, -f1 large.csv | sort | uniq -d | wc -l)" = 0 ] || { echo "an id stands twice"; exit 1; }
for pair in 6:marital_status 7:education 8:occupation 9:country; do
    column=${pair#*:}
    cut -d\; -f1 "$column.csv" | sort > known
    tail -n +2 large.csv | cut -d, -f"${pair%%:*}" | grep . | sort -u > seen
    [ -z "$(comm -13 known seen)" ] || { echo "$column: a value is not in its hierarchy"; exit 1; }
done
"$generate" > /dev/null 2>&1 && { echo "no ROWS, no complaint"; exit 1; }
"$generate" 12x > /dev/null 2>&1 && { echo "12x rows, no complaint"; exit 1; }
exit 0
