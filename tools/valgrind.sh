#!/bin/sh
# tools/valgrind.sh BUILD: a sample of the command line sessions with the program under Valgrind's memcheck, as users have it,
# without sanitizers. Any error, or a byte that is lost, fails the session.
set -eu
build=$(cd "$1" && pwd)
wrapped=$build/valgrind
mkdir -p "$wrapped"
printf '#!/bin/sh\nexec valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --vgdb=no --num-callers=20 --log-file="%s/log.%%p" "%s/kanon" "$@"\n' \
    "$wrapped" "$build" >"$wrapped/kanon"
chmod +x "$wrapped/kanon"
rm -f "$wrapped"/log.*
export SESSION_SECONDS=3000 SESSION_IS_SLOW=1 # thirty times as slow
n_commands=0
failed=0
for session in README.md docs/quickstart.md ${SESSIONS:-tests/cli/anonymize.md tests/cli/errors.md tests/cli/files.md tests/cli/hierarchy.md \
    tests/cli/measure.md tests/cli/verify.md tests/cli/state.md tests/cli/certificate.md tests/cli/codebook.md tests/cli/derive.md \
    tests/cli/cells.md tests/cli/as_it_comes.md tests/cli/persons.md tests/cli/subsets.md}; do
    [ -f "$session" ] || continue
    if python3 tests/run_cli.py "$wrapped/kanon" "$build/kanon-generate" "$session" >"$wrapped/session" 2>&1; then
        n_commands=$((n_commands + $(grep -c '^ok [0-9]* -' "$wrapped/session" || true)))
        echo "ok $session"
    else
        echo "FAILED $session"
        grep -A 12 '^not ok' "$wrapped/session" | head -40
        tail -1 "$wrapped/session" # of what ended otherwise
        failed=1
    fi
done
find "$wrapped" -name 'log.*' -size +0 | head -3 | while read -r log; do cat "$log"; done
[ -z "$(find "$wrapped" -name 'log.*' -size +0)" ] || failed=1
echo "valgrind: $n_commands commands of sessions, $(find "$wrapped" -name 'log.*' | wc -l) runs of the program"
exit $failed
