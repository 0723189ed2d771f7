#include "dataset/official/cut.h"

#include <fmt/format.h>

#include <set>

#include "analysis/op_name.h"
#include "base/file/file.h"
#include "dataset/official/official_graph.h"
#include "dataset/official/variant.h"

namespace passnet::dataset::official {

Result<void> cut_range(run::Worker& worker, const Whole& whole, analysis::Range range, const std::filesystem::path& out,
                       const CutOptions& options) {
  if (entry_exists(out)) return bad_input(fmt::format("'{}' exists already, expected a new directory", out.string()));
  Variants variants(whole, worker, options.timeout);
  PASSNET_TRY(Variant variant, variants.at(options.variant));
  if (options.measure && range.start < analysis::body_size(variant.graph)) {
    const std::set<ir::NodeId> wanted = computed_inputs(variant, range);
    PASSNET_TRY_VOID(variants.measure(wanted));
    PASSNET_TRY_VOID(variants.add_figures(variant, wanted));
  }
  PASSNET_TRY(const OfficialGraph graph, cut(variants, variant, range, options.dtype));
  return write(graph, whole, out);
}

}  // namespace passnet::dataset::official
