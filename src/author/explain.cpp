#include "author/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "author/kernel_comment.h"
#include "author/text/plan/call_text.h"
#include "base/text/strings.h"
#include "fx/print.h"
#include "ir/graph.h"

namespace passnet::author {

using ir::NodeId;

namespace {

std::vector<ValuePlace> places_of(const Definitions& definitions, const std::vector<NamedKernel>& kernels) {
  using Place = ValuePlace::Place;
  std::set<std::string> stored;
  for (const NamedKernel& kernel : kernels) {
    for (const TensorId id : kernel.facts.stored) stored.insert(definitions.tensors()[id].name);
  }
  std::map<TensorId, ValuePlace> places;
  for (const NamedKernel& kernel : kernels) {
    for (const TensorId id : kernel.facts.stored)
      places[id] = {definitions.tensors()[id].name, Place::Stored, {kernel.name}};
    for (const TensorId id : passed_through(definitions, kernel.facts)) {
      if (stored.contains(definitions.tensors()[id].name)) continue;
      ValuePlace& place = places[id];
      place.value = definitions.tensors()[id].name;
      place.kernels.push_back(kernel.name);
      place.place = place.kernels.size() == 1 ? Place::Registers : Place::Recomputed;
    }
  }
  for (TensorId id = 0; id < definitions.tensors().size(); ++id) {
    if (definitions.tensors()[id].call) places[id] = {definitions.tensors()[id].name, Place::Called, {}};
  }
  std::vector<ValuePlace> all;
  for (auto& [id, place] : places) all.push_back(std::move(place));
  return all;
}

ProductRun product_run(SizeTable& sizes, const Product& product, const Schedule& schedule) {
  const auto steps = [&](const std::vector<Loop>& loops) { return sizes.values(loop_steps(sizes, loops))[0]; };
  const std::string tile = fmt::format("tile_of({}, {}, {}, {})", steps(product.batch), steps(product.rows.across),
                                       steps(product.columns.across), steps(product.depth));
  const std::vector<int64_t> sides = evaluate_rules(schedule, fmt::format("{0}[0], {0}[1], {0}[2]", tile), true);
  return {steps(product.depth), sides[0], sides[1], sides[2]};
}

std::vector<KernelRun> runs_of(Definitions& definitions, const std::vector<NamedKernel>& kernels,
                               const Schedule& schedule) {
  std::vector<KernelRun> all;
  for (const NamedKernel& kernel : kernels) {
    KernelRun one{kernel.name, {}};
    for (const TensorId id : kernel.facts.stored) one.stores.push_back(definitions.tensors()[id].name);
    one.items = definitions.sizes().values(kernel.facts.items)[0];
    one.row = definitions.sizes().values(kernel.facts.row)[0];
    one.shares_rows = kernel.lanes == Lanes::Row;
    one.turns_rows = one.shares_rows && kernel.cpu_lanes == Lanes::Items;
    if (one.shares_rows) {
      const int64_t row_work = definitions.sizes().values(kernel.facts.row_work)[0];
      one.threads = evaluate_rules(schedule, fmt::format("threads_of({}, {})", one.items, row_work), true)[0];
    }
    one.packs = kernel.facts.packing.has_value();
    one.tiles = kernel.facts.tile.has_value();
    one.bands = kernel.facts.band.has_value();
    if (kernel.facts.product) one.product = product_run(definitions.sizes(), *kernel.facts.product, schedule);
    one.cpu_parts = parts_of(schedule, definitions.sizes(), kernel, false, 0);
    one.gpu_parts = parts_of(schedule, definitions.sizes(), kernel, true, 0);
    all.push_back(std::move(one));
  }
  return all;
}

/// Operators that no kernel can be written for come before those that are left out for another reason.
std::optional<Outside> nearest(std::vector<Outside> neighbours) {
  if (neighbours.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(neighbours, &Outside::refused);
  return std::move(found == neighbours.end() ? neighbours.front() : *found);
}

/// "" where no row is split.
std::string parts_sentence(const KernelRun& one) {
  if (one.cpu_parts == 1 && one.gpu_parts == 1) return "";
  const auto parts = [](int64_t count, const char* device, const char* what) {
    return count == 1 ? std::string() : fmt::format("{} {} of a {}", count, what, device);
  };
  const std::string cpu = parts(one.cpu_parts, "CPU", "tasks");
  const std::string gpu = parts(one.gpu_parts, "GPU", one.shares_rows ? "blocks" : "threads");
  return fmt::format(
      " Rows so few and long would leave most of the machine idle: {}{}{} share each, and store what their "
      "part folds to, which the next kernel folds.",
      cpu, cpu.empty() || gpu.empty() ? "" : " and ", gpu);
}

std::string run_sentence(const KernelRun& one) {
  const std::string name = fmt::format("`{}` stores {}: ", one.kernel, fmt::join(one.stores, ", "));
  const std::string items = counted(static_cast<size_t>(one.items), one.shares_rows ? "row" : "item");
  if (one.shares_rows) {
    const auto [on_cpu, moves] =
        one.turns_rows
            ? std::pair(
                  "They are read along rows and stored across them, so on a CPU 16 rows that lie beside each "
                  "other are turned and each lane takes one",
                  "reading")
            : std::pair(
                  "Neighbours in memory lie in one row, so on a CPU 16 lanes go along a row and are reduced at "
                  "its end",
                  "moving");
    const std::string packs = one.packs ? fmt::format(", each {} up to 16 bytes at once", moves) : "";
    return name + fmt::format("{} of {} elements. {}, and on a GPU {} threads share one{}.", items, one.row, on_cpu,
                              one.threads, packs);
  }
  if (one.row > 1) {
    return name + fmt::format(
                      "{} that each go through {} elements. Neighbours in memory are items of their own, so lanes of a "
                      "CPU and threads of a GPU take an item each{}.",
                      items, one.row, one.packs ? ", a thread several of them at once" : "");
  }
  if (one.product) {
    const auto& [steps, rows, columns, cluster] = *one.product;
    const std::string sharing =
        cluster == 1 ? "," : fmt::format(", whose steps {} blocks share and then add up,", cluster);
    return name +
           fmt::format(
               "{} that are sums of {} products each. A GPU's block of {} threads has {} x {} of them{} so "
               "that what it reads is multiplied as often; it copies what comes next to shared memory while it "
               "multiplies, on tensor cores for elements of 16 bits and in convolutions. A task of a CPU has more of "
               "them, of elements that it "
               "lays side by side as floats. Both go on with each sum before it is stored.",
               items, steps, kThreadsOfTile, rows, columns, sharing);
  }
  if (one.tiles) {
    return name + fmt::format(
                      "{} that need nothing of each other, but what is read lies along another dimension than "
                      "what is written. Squares of {} x {} are read along the one and written along the other: a "
                      "GPU's block has one in shared memory, {} x {} where elements are short and there are enough of "
                      "them, {} x {} where there are few, a CPU's task those cache lines at hand.",
                      items, kTile, kTile, kLargeTile, kLargeTile, kSmallTile, kSmallTile);
  }
  return name + fmt::format(
                    "{} that need nothing of each other. On a CPU tasks take runs of them, 16 lanes at a time; on "
                    "a GPU a thread takes one{}.",
                    items,
                    one.packs ? ", or as many neighbours as 16 bytes hold where enough threads still have work"
                    : one.bands
                        ? ", or several below each other where enough threads still have work, as their windows have "
                          "rows in common"
                        : "");
}

std::string boundary_sentence(const std::optional<Outside>& outside, const char* verb, const char* open_end) {
  if (!outside) return open_end;
  return fmt::format("It {} at `{}`: {}.", verb, outside->statement, outside->why);
}

std::string places_sentence(const std::vector<ValuePlace>& values, ValuePlace::Place place, const char* format) {
  std::vector<std::string> names;
  for (const ValuePlace& one : values) {
    if (one.place == place) names.push_back(one.value);
  }
  return names.empty() ? "" : fmt::format(fmt::runtime(format), fmt::join(names, ", "));
}

/// Describes the values that pass through registers: none to two sentences.
std::vector<std::string> never_stored(const Explained& explained) {
  using Place = ValuePlace::Place;
  std::vector<std::string> all;
  for (const auto& [place, format] :
       {std::pair{Place::Registers, "Never stored, as one kernel alone needs it: {}."},
        std::pair{Place::Recomputed,
                  "Computed again by each kernel that needs it, which is cheaper than to store and load it: {}."}}) {
    std::string one = places_sentence(explained.values, place, format);
    if (!one.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::string saving_sentence(const Saving& saving) {
  const auto change = [](const std::string& before, const std::string& after) {
    return before == after ? "remain " + after : fmt::format("go from {} to {}", before, after);
  };
  return fmt::format("Launches {}, bytes read and written {}.",
                     change(std::to_string(saving.launches_before), std::to_string(saving.launches_after)),
                     change(bytes_text(static_cast<double>(saving.bytes_before)),
                            bytes_text(static_cast<double>(saving.bytes_after))));
}

std::string call_sentence(const CalledOperator& one) {
  std::string text = fmt::format("PyTorch is called for `{}`: {}.", one.statement, one.why);
  if (one.without_bias)
    text +=
        " The kernel that reads its result adds the bias, in place of a kernel that reads and writes all of it once "
        "more.";
  if (one.measured) text += " On a GPU the fastest of cuDNN's algorithms is found by measuring, at the first call.";
  if (one.channels_last)
    text +=
        " It takes a picture whose channels lie beside each other, as its fastest algorithms do, and gives such: the "
        "kernels around it store and read them so.";
  return text;
}

}  // namespace

const char* to_string(ValuePlace::Place place) {
  switch (place) {
    case ValuePlace::Place::Stored: return "stored";
    case ValuePlace::Place::Registers: return "registers";
    case ValuePlace::Place::Recomputed: return "recomputed";
    case ValuePlace::Place::Called: break;
  }
  return "called";
}

Explained explain(const Subject& subject, Definitions& definitions, const GraphPart& part,
                  const std::vector<NamedKernel>& named, const Schedule& schedule,
                  const std::function<Outside(NodeId)>& why_outside) {
  const ir::Graph& graph = subject.graph;
  Explained explained;
  for (const NodeId id : part.nodes) explained.operators.push_back(fx::print_node(graph, graph.node(id)));
  std::vector<Outside> before, after;
  for (const NodeId id : part.inputs) {
    if (id >= subject.body()) before.insert(before.begin(), why_outside(id));
  }
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  std::set<NodeId> next;
  for (const NodeId id : part.outputs) {
    for (const NodeId user : users[id]) {
      if (!is_in(part, user) && graph.node(user).kind != ir::NodeKind::Output) next.insert(user);
    }
  }
  for (const NodeId id : next) after.push_back(why_outside(id));
  explained.before = nearest(std::move(before));
  explained.after = nearest(std::move(after));
  explained.values = places_of(definitions, named);
  explained.kernels = runs_of(definitions, named, schedule);
  for (const Tensor& one : definitions.tensors()) {
    if (one.call)
      explained.called.push_back(
          {call_text(graph, one), one.call->why, one.call->without_bias, one.call->measured, one.channels_last});
  }
  return explained;
}

std::vector<std::string> sentences(const Explained& explained, const Saving& saving) {
  using Place = ValuePlace::Place;
  std::vector<std::string> all;
  const std::string calls = explained.called.empty()
                                ? std::string()
                                : fmt::format(" and {} of PyTorch", counted(explained.called.size(), "call"));
  all.push_back(
      fmt::format("{} that hang together become {}{}: each element of {} follows from elements of what "
                  "it takes, so that they can be computed together, without a path that leads out of them and back.",
                  counted(saving.launches_before, "operator"), counted(explained.kernels.size(), "kernel"), calls,
                  calls.empty() ? "each of them" : "what kernels compute"));
  all.push_back(boundary_sentence(explained.before, "begins", "It begins at inputs of the graph."));
  all.push_back(boundary_sentence(explained.after, "ends", "It ends with results of the graph."));
  const std::string stored =
      places_sentence(explained.values, Place::Stored,
                      "Stored: {}, which others look at or which would take too long to compute again.");
  if (!stored.empty()) all.push_back(stored);
  for (std::string& one : never_stored(explained)) all.push_back(std::move(one));
  for (const CalledOperator& one : explained.called) all.push_back(call_sentence(one));
  for (const KernelRun& one : explained.kernels) all.push_back(run_sentence(one) + parts_sentence(one));
  all.push_back(saving_sentence(saving));
  return all;
}

std::vector<std::string> reasons(const Explained& explained, const Saving& saving) {
  std::vector<std::string> all = never_stored(explained);
  all.push_back(saving_sentence(saving));
  return all;
}

}  // namespace passnet::author
