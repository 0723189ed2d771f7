#include "parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analysis/cut.h"
#include "analysis/identity.h"
#include "analysis/op_name.h"
#include "base/text/strings.h"
#include "dataset/pieces/describe.h"
#include "graphdir/graph_facts.h"
#include "graphdir/graph_writer.h"
#include "ir/copy.h"

namespace passnet::cli {

namespace {

constexpr size_t kMostShapes = 4;

/// One of the graphs of a part.
struct Variant {
  size_t graph = 0;  // of the sample
  analysis::Piece piece;
  int64_t elements = 0;    // of its inputs
  size_t conversions = 0;  // Part::conversions
};

/// Parts of one structure whose inputs have the same element types and ranks.
struct Group {
  std::string name;
  size_t places = 0;
  int64_t bytes = 0;
  std::map<std::string, Variant> variants = {};  // by constants and shapes
};

/// Sorted, so that the order of arguments makes no difference.
std::string sorted_text(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, " "));
}

bool is_channels_last(const ir::TensorType& type) {
  constexpr std::array<size_t, 4> kOrder = {0, 2, 3, 1};
  return type.shape.size() == kOrder.size() && !type.is_contiguous() && type.is_contiguous_in(kOrder);
}

/// Prepends conversions that give the inputs of the piece the layout that they have in the whole graph, which records of inputs
/// cannot say. Returns their number.
size_t convert_inputs(analysis::Piece& piece, const author::Example& whole) {
  ir::Graph graph;
  size_t conversions = 0;
  ir::GraphCopy copying(piece.graph, graph);
  for (ir::NodeId id = 0; id < piece.graph.placeholder_count(); ++id) copying.copy(id);
  for (ir::NodeId id = 0; id < piece.graph.placeholder_count(); ++id) {
    if (!is_channels_last(whole.types[piece.inputs[id]].tensor)) continue;
    const ir::Arg input = copying.here(id);
    const ir::Keyword format{"memory_format", ir::Arg::of_text(ir::ArgKind::Constant, "torch.channels_last")};
    const std::string_view name = graph.intern(fmt::format("{}_channels_last", piece.graph.node(id).name));
    ++conversions;
    copying.stand_for(id, ir::Arg::of_node(graph.add_node(ir::NodeKind::CallMethod, "contiguous", name,
                                                          std::span(&input, 1), std::span(&format, 1))));
  }
  for (ir::NodeId id = piece.graph.placeholder_count(); id < piece.graph.size(); ++id) copying.copy(id);
  if (conversions > 0) piece.graph = std::move(graph);
  return conversions;
}

class Cutter {
 public:
  void add(size_t graph, const author::Example& example, const author::Written& pass) {
    for (const std::vector<ir::NodeId>& nodes : pass.places) {
      Variant variant{graph, analysis::cut(example.graph, nodes)};
      if (variant.piece.outputs.empty()) continue;
      variant.conversions = convert_inputs(variant.piece, example);
      std::vector<std::string> kinds, shapes;
      for (const ir::NodeId input : variant.piece.inputs) {
        const ir::TensorType& type = example.types[input].tensor;
        kinds.push_back(fmt::format("{}:{}", ir::name(type.dtype), type.shape.size()));
        shapes.push_back(fmt::format("{}", type.shape));
        variant.elements += type.numel();
      }
      Group& group = group_of(analysis::structure_hash(variant.piece.graph) + sorted_text(kinds), pass.name);
      ++group.places;
      group.bytes += pass.bytes_before;
      const std::string identity = analysis::identity_hash(variant.piece.graph) + sorted_text(shapes);
      group.variants.try_emplace(identity, std::move(variant));
    }
  }

  /// Those that take the most bytes first.
  std::vector<Group> groups() && {
    std::ranges::stable_sort(groups_, std::ranges::greater(), &Group::bytes);
    return std::move(groups_);
  }

 private:
  Group& group_of(const std::string& key, const std::string& name) {
    const auto [found, is_new] = by_key_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back({numbered(name, [&](const std::string& one) { return names_.insert(one).second; })});
    return groups_[found->second];
  }

  std::vector<Group> groups_;
  std::map<std::string, size_t> by_key_;
  std::set<std::string> names_;
};

/// The smallest, the largest and others between.
std::vector<Variant> chosen(Group& group) {
  std::vector<Variant> all;
  for (auto& [identity, variant] : group.variants) all.push_back(std::move(variant));
  std::ranges::stable_sort(all, {}, &Variant::elements);
  if (all.size() <= kMostShapes) return all;
  std::vector<Variant> some;
  for (size_t i = 0; i < kMostShapes; ++i) some.push_back(std::move(all[i * (all.size() - 1) / (kMostShapes - 1)]));
  return some;
}

/// A graph of the sample, with what the inputs of its parts hold.
struct Whole {
  graphdir::GraphDir graph;
  ir::Values values;
};

Result<std::vector<Whole>> measure(const graphdir::Sample& sample, const std::vector<std::vector<Variant>>& chosen,
                                   SharedInference& inference) {
  std::vector<Whole> wholes(sample.graph_paths.size());
  for (size_t i = 0; i < wholes.size(); ++i) {
    PASSNET_TRY(wholes[i].graph, graphdir::load_graph_dir(sample.graph_paths[i]));
    std::set<std::string> names;
    for (const std::vector<Variant>& variants : chosen) {
      for (const Variant& one : variants) {
        if (one.graph == i)
          std::ranges::move(dataset::computed_inputs(one.piece, wholes[i].graph.graph),
                            std::inserter(names, names.end()));
      }
    }
    PASSNET_TRY(wholes[i].values, inference.measure(wholes[i].graph, {names.begin(), names.end()}));
  }
  return wholes;
}

}  // namespace

bool is_large(const author::Example& example) { return analysis::body_size(example.graph) > kMostOperators; }

Result<Parts> write_parts(const graphdir::Sample& sample, const std::vector<author::Example>& examples,
                          SharedInference& inference, const fs::path& directory) {
  Parts made;
  Cutter cutter;
  for (size_t i = 0; i < examples.size(); ++i) {
    author::Authored authored = author::write_all({examples[i]}, {.products = false});
    std::ranges::move(authored.left, std::back_inserter(made.left));
    for (const author::Written& pass : authored.passes) cutter.add(i, examples[i], pass);
  }
  std::vector<Group> groups = std::move(cutter).groups();
  std::vector<std::vector<Variant>> variants;
  for (Group& group : groups) variants.push_back(chosen(group));
  PASSNET_TRY(const std::vector<Whole> wholes, measure(sample, variants, inference));
  for (size_t i = 0; i < groups.size(); ++i) {
    const fs::path place = directory / groups[i].name;
    size_t written = 0;
    for (const Variant& one : variants[i]) {
      const Whole& whole = wholes[one.graph];
      const Result<std::vector<graphdir::TensorMeta>> metas =
          dataset::describe_inputs(one.piece, whole.graph, whole.values);
      if (!metas) continue;  // an input is no tensor
      PASSNET_TRY_VOID(
          graphdir::write_graph_dir(place / "graphs" / fmt::format("shapes_{}", written++),
                                    {one.piece.graph, *metas, graphdir::read_facts(whole.graph.path), Json(nullptr)}));
    }
    if (written == 0) continue;
    PASSNET_TRY(graphdir::Sample part, graphdir::load_sample(place));
    made.parts.push_back({std::move(part), groups[i].places, groups[i].bytes, variants[i].front().conversions});
  }
  return made;
}

}  // namespace passnet::cli
