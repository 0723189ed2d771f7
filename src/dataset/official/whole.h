// A whole model as upstream counted its nodes when it cut the official benchmark out of it.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json/json_indirect.h"
#include "base/result.h"
#include "graphdir/inputs/constraints.h"
#include "graphdir/sample.h"

namespace passnet::dataset::official {

struct Whole {
  /// graph: with devices rewritten, and with the check that a second trace adds; all records are among `weights`.
  graphdir::GraphDir dir;
  graphdir::Constraints constraints;  // of input_tensor_constraints.py; empty where there is none
  IndirectJson facts;                 // graph_net.json
  std::string facts_text;             // the same, byte for byte; "{}" where there is none
  bool assumed_records = false;  // weight_meta.py holds none: shapes are those of the constraints, the rest assumed
};

/// given:    a graph directory of GraphNet, or its model.py.
/// Errors:   Io, BadInput: as load_graph_dir; a model without records whose arguments have no constraints either.
Result<Whole> load_whole(const std::filesystem::path& given);

/// Returns: the graph as upstream's tools see it:
///          - device(type='cpu') is device(type='cuda').
///          - Where sizes follow from data (there is a torch._check_is_size), one more check of the last size that an
///            assertion looks at stands behind the last assertion, and assertions name 'ge_1' where they named 'ge'.
ir::Graph as_counted(const ir::Graph& graph);

/// Returns: by node id, the name that the node has when the text of the graph is traced once more; of an argument, that
///          of the signature.
std::vector<std::string> traced_names(const ir::Graph& graph);

}  // namespace passnet::dataset::official
