#!/usr/bin/env bash
# Resolve envs/*.in into envs/*.txt: exact versions, one a line, no hashes, local versions, files or index lines,
# so that the same pin is the CPU build on one machine and the CUDA build on another.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
pip() { "$folder/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
frozen() { pip freeze --exclude-editable --exclude pip --exclude setuptools | sed 's/+cpu$//' | LC_ALL=C sort; }

pip install -r requirements.in
frozen > "$folder/base"
{ echo "# Locked by envs/lock.sh from requirements.in."; grep -v '^nvidia-\|^triton==\|^cuda-' "$folder/base"; } > requirements.txt
for extra in dev gpu audio audio_alone parsing; do
  alone=()
  if [ "$extra" = audio_alone ]; then alone=(--no-deps); fi
  pip install "${alone[@]}" -r "$extra.in"
  frozen > "$folder/$extra"
  { echo "# Locked by envs/lock.sh from $extra.in: what it adds to requirements.txt."; comm -13 "$folder/base" "$folder/$extra"; } > "$extra.txt"
  cat "$folder/base" "$folder/$extra" | LC_ALL=C sort -u > "$folder/union"
  mv "$folder/union" "$folder/base"
done
