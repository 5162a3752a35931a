#!/bin/bash
# shell_split.t - the shell splitter against bash and dash: what they run is what it lists
# worlds: user
. "$(dirname "$0")/tap.sh"

# Neither the compiler nor the user makes a difference: other worlds see a sample.
n=$(rounds 3000)
case ${COOP_TEST_BUILD-}:${COOP_TEST_WORLD-here} in
*/build:user | */build:root | *:here) ;;
*) n=$(rounds 300) ;;
esac

for program in python3 bash dash; do
    command -v $program >/dev/null && continue
    skip "the comparison" "no $program"
    done_testing
done
while IFS=$'\t' read -r wrong name why; do
    tap_result "$wrong" "$name"
    [ "$wrong" = 0 ] || note "$why"
done < <("$SRC/test/shell-compare" "$BIN/shell_dump" "$BIN/record" "$SRC/test/shell-texts" "$T" "$n" || printf '1\tthe comparison ends well\t\n')
is "every text was looked at, in both dialects, and the generated ones" "$tap_n" \
    $((2 * $(sed '1,/^== /d; /^== /d' "$SRC/test/shell-texts" | wc -l) + 2))
done_testing
