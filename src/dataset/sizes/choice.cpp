#include "dataset/sizes/choice.h"

#include <algorithm>
#include <optional>

#include "dataset/sizes/cost_rules.h"

namespace passnet::dataset {

using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr size_t kAssignments = 12;  // that are returned
constexpr size_t kFound = 200;       // that are looked for
constexpr size_t kSearchSteps = 20000;

/// A guess that gives the captured value, and what it gives at each probe.
struct Candidate {
  Guess guess;
  Profile profile;
};

/// One of the sizes that a view lists.
struct ViewSize {
  int64_t value = -1;  // -1: it follows from the others, or is computed by another node
  std::optional<size_t> slot;
};

/// Neighbouring sizes of a view, and the neighbouring axes of its operand that hold as many elements.
struct Part {
  Stretch axes, sizes;
};

/// Choosing the sizes of one node.
struct Choice {
  SizedNode node;
  std::span<const std::vector<int64_t>> required;
  std::vector<std::vector<Candidate>> candidates;  // by slot
  std::vector<ViewSize> view;                      // empty when the node is no view
  std::vector<Part> parts;                         // of the view
};

struct Search {
  struct Found {
    Assignment assignment;
    int cost = 0;
  };
  std::vector<size_t> picked;  // by slot so far: the candidate
  int cost = 0;                // of these
  size_t steps = 0;
  std::vector<Found> found;
};

SizedNode sized_node(const ir::Graph& graph, NodeId id, std::span<const analysis::SizeSlot> slots, const Probes& probes,
                     const SizePool& pool) {
  SizedNode node{graph, id, slots, probes, pool};
  const std::span<const ir::Arg> args = graph.args(id);
  if (!args.empty() && args[0].kind == ArgKind::Node && probes.front().shape[args[0].node]) {
    node.operand = args[0].node;
    node.shape = *probes.front().shape[node.operand];
    for (uint32_t axis = 0; axis < node.shape.size(); ++axis) {
      const auto profile = profile_of(analysis::SizeExpression::of({node.operand, axis}), probes);
      node.changing.push_back(profile && changes(*profile));
    }
  }
  return node;
}

// --- Views: which of their sizes belong to which of the operand's ---

std::vector<ViewSize> sizes_of_view(const SizedNode& node) {
  std::vector<ViewSize> sizes;
  const auto read = [&](const ir::Arg& arg) {
    const auto slot = std::ranges::find(node.slots, sizes.size(), &analysis::SizeSlot::position);
    sizes.push_back({arg.kind == ArgKind::Int ? arg.integer : -1, std::nullopt});
    if (slot != node.slots.end()) sizes.back().slot = slot - node.slots.begin();
  };
  const auto read_all = [&](const ir::Arg& arg) {
    if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List)
      std::ranges::for_each(node.graph.elements(arg), read);
    else
      read(arg);
  };
  const std::span<const ir::Arg> args = node.graph.args(node.id);
  std::ranges::for_each(args.subspan(std::min<size_t>(1, args.size())), read_all);
  for (const ir::Keyword& keyword : node.graph.keywords(node.id)) read_all(keyword.value);
  return sizes;
}

bool has_open_size(const std::vector<ViewSize>& view, Stretch sizes) {
  return std::any_of(view.data() + sizes.begin, view.data() + sizes.end,
                     [](const ViewSize& size) { return size.value < 0; });
}

// The shortest part at one end of what is left; nothing when a size there is open, or there is none.
std::optional<Part> next_part(const std::vector<ViewSize>& view, const std::vector<int64_t>& shape, const Part& left,
                              bool from_front) {
  const auto axis_at = [&](size_t k) { return shape[from_front ? left.axes.begin + k : left.axes.end - 1 - k]; };
  const auto size_at = [&](size_t k) { return view[from_front ? left.sizes.begin + k : left.sizes.end - 1 - k].value; };
  size_t axes = 1, sizes = 1;
  int64_t of_axes = axis_at(0), of_sizes = size_at(0);
  while (of_axes != of_sizes) {
    if (of_sizes < 0) return std::nullopt;
    if (of_axes < of_sizes) {
      if (axes == left.axes.size()) return std::nullopt;
      of_axes *= axis_at(axes++);
    } else {
      if (sizes == left.sizes.size() || size_at(sizes) < 0) return std::nullopt;
      of_sizes *= size_at(sizes++);
    }
  }
  if (from_front) return Part{{left.axes.begin, left.axes.begin + axes}, {left.sizes.begin, left.sizes.begin + sizes}};
  return Part{{left.axes.end - axes, left.axes.end}, {left.sizes.end - sizes, left.sizes.end}};
}

// From the front up to an open size, then from the back; the last part is what lies between.
std::vector<Part> parts_of(const std::vector<ViewSize>& view, const std::vector<int64_t>& shape) {
  std::vector<Part> parts;
  Part left{{0, shape.size()}, {0, view.size()}};
  for (const bool from_front : {true, false}) {
    while (left.axes.size() > 0 && left.sizes.size() > 0) {
      const std::optional<Part> part = next_part(view, shape, left, from_front);
      if (!part) break;
      Part rest = left;
      if (from_front)
        rest.axes.begin = part->axes.end, rest.sizes.begin = part->sizes.end;
      else
        rest.axes.end = part->axes.begin, rest.sizes.end = part->sizes.begin;
      if (rest.axes.size() == 0 && has_open_size(view, rest.sizes)) break;  // an axis has to be left for it
      parts.push_back(*part);
      left = rest;
    }
  }
  parts.push_back(left);
  return parts;
}

// --- Candidates ---

// The batch is the size that changes in a probe where no size but it does.
bool changes_with_batch(const Profile& profile, const SizePool& pool) {
  for (const SizePool::Seen& batch : pool.changing(1)) {
    for (size_t p = 1; p < profile.size(); ++p) {
      if (batch.profile[p] != 1) return profile[p] != profile.front();
    }
  }
  return false;
}

// Adds a guess that gives the captured value and those of other captures. Of guesses that are the same at all probes
// the cheapest stays, in the place of the first.
void add(Choice& choice, size_t slot, Guess guess) {
  std::optional<Profile> profile = profile_of(guess.size, choice.node.probes);
  if (!profile || profile->front() != choice.node.slots[slot].value) return;
  for (size_t p = 0; p < choice.required.size(); ++p) {
    if (!choice.required[p].empty() && (*profile)[p] != choice.required[p][slot]) return;
  }
  // A -1 that leads a view stands for the batch, so that the numbers after it do not.
  const bool batch_is_open = !choice.view.empty() && choice.view.front().value < 0;
  if (batch_is_open && changes_with_batch(*profile, choice.node.pool)) guess.cost += kFar;
  if (!changes(*profile)) guess.size = analysis::SizeExpression::constant(profile->front());
  std::vector<Candidate>& candidates = choice.candidates[slot];
  const auto same = std::ranges::find(candidates, *profile, &Candidate::profile);
  if (same == candidates.end())
    candidates.push_back({std::move(guess), std::move(*profile)});
  else if (guess.cost < same->guess.cost)
    same->guess = std::move(guess);
}

// Where the slot has no candidate yet.
void add_guesses(Choice& choice, size_t slot, Stretch axes) {
  if (!choice.candidates[slot].empty()) return;
  for (Guess& guess : guesses(choice.node, slot, axes)) add(choice, slot, std::move(guess));
}

// A size that is alone in its part is the product of the part's axes.
void add_candidates_of_view(Choice& choice) {
  choice.view = sizes_of_view(choice.node);
  choice.parts = parts_of(choice.view, choice.node.shape);
  for (const Part& part : choice.parts) {
    for (size_t k = part.sizes.begin; k < part.sizes.end; ++k) {
      if (!choice.view[k].slot) continue;
      if (part.sizes.size() == 1 && part.axes.size() > 0)
        add(choice, *choice.view[k].slot, {product_of(choice.node, part.axes), 0});
      add_guesses(choice, *choice.view[k].slot, part.axes);
    }
  }
}

// --- The search ---

// Each part of a view holds as many elements as the axes it is made of, at all probes.
bool fits(const Choice& choice, const std::vector<size_t>& picked) {
  return std::ranges::all_of(choice.parts, [&](const Part& part) {
    const bool open = has_open_size(choice.view, part.sizes);
    for (size_t p = 0; p < choice.node.probes.size(); ++p) {
      int64_t elements = 1, wanted = 1;
      for (size_t axis = part.axes.begin; axis < part.axes.end; ++axis)
        elements *= (*choice.node.probes[p].shape[choice.node.operand])[axis];
      for (size_t k = part.sizes.begin; k < part.sizes.end; ++k) {
        if (const auto slot = choice.view[k].slot) wanted *= choice.candidates[*slot][picked[*slot]].profile[p];
      }
      if (wanted == 0 || (open ? elements % wanted != 0 : elements != wanted)) return false;
    }
    return true;
  });
}

// Depth first over the candidates of the slots that are not picked yet.
void search(const Choice& choice, Search& state) {
  if (++state.steps > kSearchSteps || state.found.size() > kFound) return;
  const size_t slot = state.picked.size();
  if (slot == choice.candidates.size()) {
    if (!fits(choice, state.picked)) return;
    Search::Found& found = state.found.emplace_back(Search::Found{{}, state.cost});
    for (size_t k = 0; k < slot; ++k) found.assignment.push_back(choice.candidates[k][state.picked[k]].guess.size);
    return;
  }
  for (size_t k = 0; k < choice.candidates[slot].size(); ++k) {
    const int cost = choice.candidates[slot][k].guess.cost;
    state.picked.push_back(k);
    state.cost += cost;
    search(choice, state);
    state.cost -= cost;
    state.picked.pop_back();
  }
}

}  // namespace

std::vector<Assignment> size_assignments(const ir::Graph& graph, NodeId id, std::span<const analysis::SizeSlot> slots,
                                         const Probes& probes, const SizePool& pool,
                                         std::span<const std::vector<int64_t>> required) {
  Choice choice{sized_node(graph, id, slots, probes, pool), required, {}, {}, {}};
  choice.candidates.resize(slots.size());
  if (slots.front().rule == analysis::SizeRule::View) add_candidates_of_view(choice);
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    add_guesses(choice, slot, {0, choice.node.shape.size()});
    std::ranges::stable_sort(choice.candidates[slot], {}, [](const Candidate& one) { return one.guess.cost; });
  }
  Search state;
  search(choice, state);
  std::ranges::stable_sort(state.found, {}, &Search::Found::cost);
  std::vector<Assignment> best;
  for (Search::Found& one : std::span(state.found).first(std::min(state.found.size(), kAssignments)))
    best.push_back(std::move(one.assignment));
  return best;
}

}  // namespace passnet::dataset
