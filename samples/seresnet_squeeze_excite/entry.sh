#!/bin/sh
# Evaluates this sample with the passes in pass_dir; options are handed on to `passnet eval`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH="$here/../../build/bin:$PATH"
exec passnet eval "$here" "$@"
