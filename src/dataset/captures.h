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

/// All of them, root by root, by path. Errors: BadInput (a root that does not exist or holds no graph).
Result<std::vector<RootedGraph>> find_graphs(const std::vector<std::string>& roots);

/// Captures of one model, or of one of its pieces, at several shapes.
struct Model {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> names;  // relative to their root
};

/// Graphs of one root whose paths differ in the shape alone that graph_net.json names are one model, in the
/// order of their first captures. Errors: as find_graphs; BadInput (two roots have graphs of one name).
Result<std::vector<Model>> find_models(const std::vector<std::string>& roots);

/// The path of a capture with something else in place of its shape: `toy/b4_r32/subgraph_0` ->
/// `toy/OTHER/subgraph_0`. Where the path does not have the shape, behind it.
std::string with_shape(const std::string& path, const std::string& shape, const std::string& other);

/// `b1_r224` with 2 and 256 for its symbols 1 and 224: `b2_r256`; where it does not say them, `s0_2_s1_256`.
std::string shape_name(const std::string& shape, std::span<const DataSymbol> symbols, std::span<const int64_t> values);

}  // namespace passnet::dataset
