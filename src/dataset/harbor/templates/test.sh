#!/bin/bash
# Evaluates the passes in a container that the agent never saw. The user passnet runs them and cannot write the reward.
# Writes no reward where the machine was too busy to measure.
set -euo pipefail
rewards=/logs/verifier
scratch=$(mktemp -d)
mkdir -p "$rewards" "$scratch/home"
cp -r /task/{{name}} "$scratch/"
if [[ -d {{directory}}/pass_dir ]]; then
  cp -r --no-preserve=mode,ownership {{directory}}/pass_dir "$scratch/{{name}}/"
fi
chown -R passnet "$scratch"
setpriv --reuid=passnet --regid=passnet --clear-groups env HOME="$scratch/home" \
  passnet reward "$scratch/{{name}}" --once --device {{device_option}} >"$rewards/reward.unfinished"
mv "$rewards/reward.unfinished" "$rewards/reward.json"
