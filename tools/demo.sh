#!/bin/sh
# tools/demo.sh BUILD: the main job end to end on a generated table, in the folder demo/.
set -eu
build=$1
rm -rf demo
mkdir -p demo/hierarchies
"$build/kanon-generate" 20000 --seed 7 -o demo/people.csv --hierarchies demo/hierarchies
echo "A table about 20,000 people: demo/people.csv"
head -n 3 demo/people.csv | sed 's/^/    /'
echo
set -- anonymize demo/people.csv -k 5 --identifier patient_id,name \
    --qi age,sex,zip,marital_status,education --sensitive diagnosis --insensitive income \
    --hierarchy education=demo/hierarchies/education.csv --hierarchy marital_status=demo/hierarchies/marital_status.csv \
    --hierarchy 'zip=mask(right)' --model l-diversity:l=2 \
    -o demo/release.csv --json demo/result.json --report demo/report.html
printf '$ kanon'
printf ' %s' "$@"
printf '\n\n'
"$build/kanon" "$@"
echo
echo "The release:"
head -n 4 demo/release.csv | sed 's/^/    /'
echo
echo "Release: demo/release.csv   Report: demo/report.html   Figures: demo/result.json"
