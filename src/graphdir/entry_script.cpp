#include "graphdir/entry_script.h"

#include <string_view>
#include <system_error>

#include "base/file/file.h"

namespace passnet::graphdir {

namespace {

// As in samples/, which a test compares.
constexpr std::string_view kText = R"sh(#!/bin/sh
# Evaluates this sample with the passes in pass_dir, where and as upstream's entry.sh does: validation.log and
# aggregated_score.json go to $PASSNET_EVAL_OUTPUT (default /tmp/workspace_pass_bench_test), and what an earlier run left
# there is removed first. Options are handed on to `passnet eval`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=${PASSNET_EVAL_OUTPUT:-/tmp/workspace_pass_bench_test}
rm -f "$output/aggregated_score.json" "$output/validation.log"

# The checkouts of passnet that this sample may be meant for, a line each: one that it lies in, and those on PYTHONPATH.
checkouts() {
  directory=$here
  while [ "$directory" != / ]; do
    directory=$(dirname "$directory")
    echo "$directory"
  done
  echo "${PYTHONPATH:-}" | tr : '\n'
}

passnet='' unbuilt=''
while read -r directory; do
  [ -f "$directory/include/passnet/kernel.h" ] || continue
  if [ -x "$directory/build/bin/passnet" ]; then
    passnet=$directory/build/bin/passnet
    break
  fi
  unbuilt=${unbuilt:-$directory}
done <<END
$(checkouts)
END
[ -n "$passnet" ] || passnet=$(command -v passnet) || {
  [ -n "$unbuilt" ] || {
    echo "error: passnet is neither above $here, nor in a checkout on PYTHONPATH, nor on PATH; 'make build' in a checkout makes it" >&2
    exit 4
  }
  echo "passnet is not built yet: make -C $unbuilt build" >&2
  make -C "$unbuilt" build >&2 || exit 4
  passnet=$unbuilt/build/bin/passnet
  [ -x "$passnet" ] || {
    echo "error: 'make -C $unbuilt build' made no $passnet" >&2
    exit 4
  }
}

# Upstream's limits; an option that is given again counts as it was given last.
set -- --workspace "$output" --pass-pattern-limit 100 --pass-replacement-func-limit 1 "$@"
[ ! -d "$here/const_pass_dir" ] || set -- --input-pass-dir "$here/const_pass_dir" "$@"
exec "$passnet" eval "$here" "$@"
)sh";

}  // namespace

Result<void> write_entry_script(const std::filesystem::path& sample) {
  const std::filesystem::path path = sample / "entry.sh";
  PASSNET_TRY_VOID(write_file(path, kText));
  std::error_code failed;
  std::filesystem::permissions(path, std::filesystem::perms(0755), failed);
  if (failed) return io_error("make executable", path.string(), failed.value());
  return {};
}

}  // namespace passnet::graphdir
