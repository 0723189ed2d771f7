#include "author/write.h"

#include <algorithm>
#include <iterator>

#include "author/subject/memory.h"
#include "author/take/names.h"
#include "author/take/part_calls.h"
#include "author/take/part_views.h"
#include "author/take/region.h"
#include "author/take/taken.h"
#include "author/write_part.h"
#include "fx/print.h"

namespace passnet::author {

using ir::NodeId;

namespace {

Schedule schedule_of(const WriteOptions& options, const std::string& pass) {
  const auto chosen = options.schedules.find(pass);
  return chosen == options.schedules.end() ? Schedule() : chosen->second;
}

/// The graphs to which something was left that could be taken were they on their own.
std::set<std::string> graphs_apart(const Authored& authored) {
  std::set<std::string> apart;
  for (const NotWritten& left : authored.left) apart.insert(left.lying_otherwise.begin(), left.lying_otherwise.end());
  return apart;
}

/// Does the same as write_passes, without operators that take calls. Returns: nullopt: a part with calls could not be
/// written, and these are refused.
std::optional<Authored> write_parts(Subject& subject, Taken& taken, const WriteOptions& options,
                                    std::set<std::string>& names) {
  Authored authored;
  const auto leave = [&](NodeId id, const std::string& why) {
    authored.left.push_back(
        {fx::print_node(subject.graph, subject.graph.node(id)), why, subject.examples,
         taken.by_layout.contains(id) ? lying_otherwise(subject, id) : sharing_otherwise(subject, id)});
  };
  for (NodeId id = subject.body(); id < subject.graph.size(); ++id) {
    if (!taken.refused[id].empty()) leave(id, taken.refused[id]);
  }
  std::map<std::string, std::optional<size_t>> passes;  // by key of a part: which of `authored`; none: it has none
  std::vector<std::vector<NodeId>> regions = regions_of(subject, taken.refused);
  std::ranges::sort(regions, {}, [](const std::vector<NodeId>& nodes) { return nodes.front(); });
  for (std::vector<NodeId>& nodes : regions) {
    const std::vector<NodeId> all = nodes;
    Result<GraphPart> part = without_views(subject, cut(subject.graph, std::move(nodes)));
    std::optional<size_t>* pass = nullptr;
    if (part) {
      const auto [known, is_new] = passes.try_emplace(key_of(subject, *part));
      pass = &known->second;
      if (!is_new) {
        if (*pass) authored.passes[**pass].places.push_back(part->nodes);
        continue;
      }
    }
    Result<Written> written = part ? Result<Written>(Written{}) : Result<Written>(part.error());
    if (part) {
      std::vector<NodeId> place = part->nodes;
      const ProductOptions calls = product_options(subject, *part, taken);
      const GraphPart whole = with_views_of_calls(subject, std::move(*part), taken.calls);
      const std::string stem = options.name.empty() ? name_of(subject, whole, calls) : options.name;
      const std::string name = unique_name(subject, stem, names);
      written = write_part(subject, whole, calls, options.once, taken.refused, schedule_of(options, name), name);
      if (written) written->places.push_back(std::move(place));
    }
    if (written) {
      *pass = authored.passes.size();
      authored.passes.push_back(std::move(*written));
      continue;
    }
    bool has_calls = false;
    for (const NodeId id : all) {
      if (!taken.calls.contains(id)) continue;
      taken.refuse_call(id);
      has_calls = true;
    }
    if (has_calls) return std::nullopt;
    for (const NodeId id : all) leave(id, written.error().message);
  }
  return authored;
}

}  // namespace

size_t Written::launches(bool on_gpu) const {
  size_t count = calls.size();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int64_t parts = on_gpu ? explained.kernels[i].gpu_parts : explained.kernels[i].cpu_parts;
    count += parts > 1 ? shapes[i].splits_into : 1;
  }
  return count;
}

Authored write_passes(Subject& subject, const WriteOptions& options, std::set<std::string>& names) {
  Taken taken = take(subject, {options.products, options.tiles, options.library, options.range});
  while (true) {
    while (refuse_idle_calls(subject, taken) || refuse_layouts(subject, taken) || refuse_conversions(subject, taken)) {
    }
    std::set<std::string> grown = names;
    std::optional<Authored> authored = write_parts(subject, taken, options, grown);
    if (!authored) continue;
    names = std::move(grown);
    return std::move(*authored);
  }
}

Authored write_all(std::vector<Example> examples, const WriteOptions& options) {
  Authored all;
  std::set<std::string> names = options.taken;
  bool are_apart = false;
  while (!examples.empty()) {
    Subject subject;
    Authored made;
    std::set<std::string> grown;
    const auto write = [&](const std::vector<Example>& some) {
      subject = merge(some);
      subject.is_apart = are_apart;
      grown = names;
      made = write_passes(subject, options, grown);
    };
    write(examples);
    std::vector<Example> alike;  // what is left of them
    for (std::set<std::string> apart = graphs_apart(made); !apart.empty(); apart = graphs_apart(made)) {
      are_apart = true;
      if (alike.empty()) alike = examples;
      std::erase_if(alike, [&](const Example& one) { return apart.contains(one.name); });
      write(alike);
    }
    names = std::move(grown);
    std::ranges::move(made.passes, std::back_inserter(all.passes));
    std::ranges::move(made.left, std::back_inserter(all.left));
    std::erase_if(examples, [&](const Example& one) {
      return std::ranges::find(subject.examples, one.name) != subject.examples.end();
    });
  }
  // A part of a graph may be the whole of another one: what takes more is asked first.
  std::ranges::stable_sort(all.passes, std::ranges::greater(), &Written::operators);
  return all;
}

std::vector<pass::PassTexts> texts_of(const Authored& authored) {
  std::vector<pass::PassTexts> texts;
  for (const Written& one : authored.passes) texts.push_back({one.name, one.python.text, one.cpp, one.cuda});
  return texts;
}

}  // namespace passnet::author
