#include "selftest/dump.h"

#include <string>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "selftest/expectation.h"
#include "selftest/special_file.h"

namespace passnet::selftest {

namespace {

Expectation expectation_of(const Bundle& bundle) {
  Expectation expected;
  expected.rows = bundle.rows;
  expected.what = bundle.what;
  expected.graph = bundle.sample.graph_names.front();
  expected.verdict = bundle.verdict;
  for (const run::Layer layer : bundle.layers) expected.layers.emplace_back(run::to_string(layer));
  expected.reason = bundle.reason;
  expected.device = bundle.on_gpu ? "cuda" : "cpu";
  expected.timeout_s = bundle.timeout_s;
  expected.allow_library = bundle.allow_library;
  if (bundle.in_python) expected.host_code = "python";
  return expected;
}

}  // namespace

Result<void> dump_bundle(const Bundle& bundle, const fs::path& directory) {
  PASSNET_TRY_VOID(require_empty(directory));
  const std::string& graph = bundle.sample.graph_names.front();
  PASSNET_TRY_VOID(replicate(bundle.sample.graph_paths.front(), directory / "graphs" / graph));
  PASSNET_TRY_VOID(replicate(bundle.sample.pass_dir, directory / "pass_dir"));
  // Links of the sample lead there.
  if (const fs::path outside = bundle.sample.path / kOutside; entry_exists(outside))
    PASSNET_TRY_VOID(replicate(outside, directory / kOutside));
  PASSNET_TRY_VOID(write_file(directory / "graph_list.txt", graph + "\n"));
  return write_file(directory / "expect.json", render_expectation(expectation_of(bundle)));
}

}  // namespace passnet::selftest
