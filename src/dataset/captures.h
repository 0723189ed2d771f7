// Whole graphs below some directories, and which of them are captures of one model.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/sizes/data_symbols.h"

namespace passnet::dataset {

/// A graph directory below one of the roots.
struct RootedGraph {
  std::filesystem::path path;
  std::string name;  // relative to its root
  std::string root;
};

/// Returns: all graphs at or below each root, in the order of the roots, then of paths.
/// Errors:  BadInput: a root that does not exist or holds no graph.
Result<std::vector<RootedGraph>> find_graphs(const std::vector<std::string>& roots);

/// Captures of one model, or of one of its pieces, at several shapes.
struct Model {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> names;  // relative to their root
};

/// Returns: the models, in the order of their first captures. Graphs below one root are captures of one model when
///          their paths differ only in the shape that graph_net.json names.
/// Errors:  as find_graphs; BadInput when two roots hold graphs of the same name.
Result<std::vector<Model>> find_models(const std::vector<std::string>& roots);

/// path:     of a capture; shape: the part of it that names its shape.
/// Returns:  the path with `other` in place of the shape: "toy/b4_r32/subgraph_0" -> "toy/OTHER/subgraph_0"; with
///           `other` appended as a directory when no part of the path is the shape.
std::string with_shape(const std::string& path, const std::string& shape, const std::string& other);

/// values:   by symbol.
/// Returns:  the name of a variant's shape: "b1_r224" with 2 and 256 in place of the captured sizes 1 and 224 is
///           "b2_r256"; where the name does not hold the captured sizes, "s0_2_s1_256".
std::string shape_name(const std::string& shape, std::span<const DataSymbol> symbols, std::span<const int64_t> values);

}  // namespace passnet::dataset
