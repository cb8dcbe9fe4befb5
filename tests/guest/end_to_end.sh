#!/bin/bash
# Runs inside a guest: learn a model of it from a few codelets, interrupted once; ask for advice; run as advised, verified.
# The times mean nothing there: they are an emulator's.
#     end_to_end.sh PYTHON KNOWN_PROGRAM NEW_PROGRAM
set -u
cd "$GUEST_FOLDER" || exit 1
export NUMAPREDICT_DATA="$GUEST_FOLDER/data" NUMAPREDICT_CACHE="$GUEST_FOLDER/cache"
known=$2 program=$3
numapredict=("$1" -c 'import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())')
journal="$GUEST_FOLDER/campaign/journal.jsonl"
training=("${numapredict[@]}" train --codelet histogram --size small --program "$known" --space wang --repetitions 1
    --into "$GUEST_FOLDER/campaign" --clusters 2)
finished() { if [ -e "$journal" ]; then wc -l <"$journal"; else echo 0; fi; }

echo "--- dry run"
"${training[@]}" --dry-run
echo "--- interrupted"
"${training[@]}" &
trainer=$!
for _ in $(seq 600); do
    [ "$(finished)" -ge 5 ] && break
    sleep 0.2
done
kill -KILL "$trainer"
wait "$trainer"
echo "left with $?, lines in the journal: $(finished)"
echo "--- resumed"
"${training[@]}" || exit 2
echo "--- advice"
"${numapredict[@]}" predict --json "$program" >"$GUEST_FOLDER/advice.json" || exit 3
cat "$GUEST_FOLDER/advice.json"
echo "--- applied"
mapping=$("$1" -c 'import json, sys; print(json.load(open(sys.argv[1]))["mapping"])' "$GUEST_FOLDER/advice.json")
"${numapredict[@]}" run --mapping "$mapping" --verify --json "$GUEST_FOLDER/run.json" -- "$program"
echo "left with $?"
