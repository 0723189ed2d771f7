// A whole model at the shapes of one variant: its statements with the numbers that go with them, and what is known of its
// values. Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/size_passes.h"
#include "dataset/official/whole.h"
#include "ir/graph.h"
#include "run/worker/worker.h"

namespace passnet::dataset::official {

struct Variant {
  ir::Graph graph;                 // the nodes of the whole model, in their order and under the same ids
  std::vector<std::string> names;  // traced_names
  VariantValues values;
  /// By node id: why it does not fit these shapes, though it fits those that were captured; empty when it does.
  std::vector<std::string> misfits;
};

/// Makes the variants of one model.
class Variants {
 public:
  /// worker: a reference worker; timeout: of each request to it.
  Variants(const Whole& whole, run::Worker& worker, std::chrono::milliseconds timeout)
      : whole_(whole), worker_(worker), timeout_(timeout) {}

  /// The model at variant 0 to 8, or 9 as captured; types are inferred without running it.
  /// Errors: Unsupported: upstream's tables have no such variant of the model, or a pass cannot be done; those of the
  ///         worker.
  Result<Variant> at(int variant);

  /// Runs the model as captured, once, for the figures of these values of it, and takes them for all variants.
  /// Errors: Unsupported: it is too large to be run; those of the worker.
  Result<void> measure(const std::set<ir::NodeId>& wanted);
  /// Fills in figures: those of integers and truth values from a run of what they are computed from at the variant's
  /// shapes, those of floats from measure().
  /// Errors: those of the worker.
  Result<void> add_figures(Variant& variant, const std::set<ir::NodeId>& wanted);

  /// Types of a graph's values from the records of its arguments.
  Result<ir::Values> infer(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& records);

 private:
  Result<void> make_sized();
  Result<std::vector<graphdir::TensorMeta>> records_at(int variant) const;
  Result<ir::Values> trace(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& records,
                           const std::set<ir::NodeId>& wanted);

  const Whole& whole_;
  run::Worker& worker_;
  const std::chrono::milliseconds timeout_;
  std::optional<SizedGraph> sized_;
  // Of the first trace, which gives the graph that the passes get:
  std::vector<std::string> names_;
  ir::Values captured_types_;
  std::map<ir::NodeId, ir::Statistics> captured_figures_;
};

}  // namespace passnet::dataset::official
