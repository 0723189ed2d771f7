#!/bin/bash
set -euo pipefail
cp "$(dirname "$0")"/pass_dir/* {{directory}}/pass_dir/
