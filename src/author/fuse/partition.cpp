#include "author/fuse/partition.h"

#include <algorithm>
#include <set>

namespace passnet::author {

namespace {

// Work that is cheaper to do again than to store and load: about what an element costs in memory.
constexpr int kCheap = 24;
// Largest work of a product's operand that is computed again at each use: it moves elements, or does one operation on
// them.
constexpr int kMoved = 4;
// Least work of an element that is computed once and stored, and of an element that is looked up by an index.
constexpr int kDearAgain = 12, kLookedUp = 16;
// How often it would be computed at least, and for how many elements in all.
constexpr int64_t kOften = 4, kMany = 65536;

class Partition {
 public:
  Partition(Definitions& definitions, const std::vector<TensorId>& outputs, bool once)
      : definitions_(definitions), once_(once) {
    std::set<TensorId> met;
    for (const TensorId id : outputs) {
      if (!tensor(id).call) stored_.insert(id);
      find_calls(id, met);
    }
  }

  Result<std::vector<FusedStep>> run() {
    for (const TensorId id : stored_) PASSNET_TRY_VOID(definitions_.lay_out(id));
    store_what_is_dear();
    if (once_) store_what_is_repeated();
    store_what_products_take();
    for (bool more = true; more;) {
      PASSNET_TRY(more, store_what_cannot_be_inlined());
    }
    return group();
  }

 private:
  const Tensor& tensor(TensorId id) const { return definitions_.tensors()[id]; }
  bool is_stored(TensorId id) const { return stored_.contains(id); }
  Planned plan(const std::vector<TensorId>& members) {
    return plan_kernel(
        definitions_, members, [this](TensorId id) { return is_stored(id); }, !once_);
  }

  // Calls that the value is made by, and what these take: that is stored.
  void find_calls(TensorId id, std::set<TensorId>& met) {
    if (!met.insert(id).second) return;
    if (tensor(id).call) calls_.insert(id);
    for (const TensorId part : tensor(id).takes) {
      if (tensor(id).call && !tensor(part).is_there()) stored_.insert(part);
      find_calls(part, met);
    }
  }

  // The stored and called values that each of them is made of, and how often the others are computed for it.
  void needs_of(TensorId id, std::set<TensorId>& needs, std::set<TensorId>& inlined) const {
    for (const TensorId part : tensor(id).takes) {
      if (tensor(part).is_given) continue;
      if (is_stored(part) || tensor(part).call) {
        needs.insert(part);
      } else if (inlined.insert(part).second) {
        needs_of(part, needs, inlined);
      }
    }
  }

  // Returns the work of an element, with that much for one that is looked up.
  int work_of(TensorId id, int looked_up = 0) const {
    int work = tensor(id).work + (tensor(id).looks_up ? looked_up : 0);
    for (const TensorId part : tensor(id).takes) {
      if (!tensor(part).is_there() && !is_stored(part)) work += work_of(part, looked_up);
      if (work > 1000) return work;
    }
    return work;
  }

  // Stores values that several results need and that take long.
  void store_what_is_dear() {
    for (TensorId id = 0; id < definitions_.tensors().size(); ++id) {
      if (tensor(id).is_there() || is_stored(id) || tensor(id).is_view || tensor(id).folds) continue;
      size_t users = 0;
      for (const TensorId root : std::set<TensorId>(stored_)) {
        std::set<TensorId> needs, inlined;
        needs_of(root, needs, inlined);
        users += inlined.contains(id) ? 1 : 0;
      }
      if (users > 1 && work_of(id) > kCheap && !shares_loops(id)) {
        store(id);
      }
    }
  }

  // In that example. Names of sizes are given when they are asked for: none is, here.
  int64_t elements_of(TensorId id, size_t example) {
    int64_t count = 1;
    for (const SizeId size : tensor(id).shape) count *= definitions_.sizes().values(size)[example];
    return count;
  }

  // Tells whether each element of `part` goes into many of `id`, none of which has it in common with its neighbour in
  // memory.
  bool is_repeated(TensorId part, TensorId id) {
    const std::vector<SizeId>&from = tensor(part).shape, &to = tensor(id).shape;
    SizeTable& sizes = definitions_.sizes();
    if (from.empty() || to.empty() || from.back() != to.back() || sizes.is_one(from.back())) return false;
    int64_t most = 0;
    for (size_t e = 0; e < sizes.values(from.back()).size(); ++e) {
      if (elements_of(id, e) < kOften * elements_of(part, e)) return false;
      most = std::max(most, elements_of(id, e));
    }
    return most >= kMany;
  }

  // A value that is the same for a whole batch, say, would be computed for each of it.
  void store_what_is_repeated() {
    std::set<TensorId> needed(stored_);
    for (const TensorId root : stored_) {
      std::set<TensorId> needs;
      needs_of(root, needs, needed);
    }
    for (const TensorId id : needed) {
      if (tensor(id).folds || tensor(id).tiled) continue;
      for (const TensorId part : tensor(id).takes) {
        if (tensor(part).is_there() || is_stored(part) || tensor(part).folds || work_of(part, kLookedUp) < kDearAgain)
          continue;
        if (is_repeated(part, id)) store(part);
      }
    }
  }

  // Each block that reads rows of an operand would compute them again.
  void store_what_products_take() {
    std::set<TensorId> needed;
    for (const TensorId root : std::set<TensorId>(stored_)) {
      std::set<TensorId> needs;
      needs_of(root, needs, needed);
      needed.insert(root);
    }
    for (const TensorId id : needed) {
      for (const TensorId part : tensor(id).tiled ? tensor(id).takes : std::vector<TensorId>())
        store_unless_moved(part, tensor(id).blocks ? 0 : kMoved);
    }
  }
  // Stores a value unless it only moves elements.
  void store_unless_moved(TensorId id, int most) {
    if (tensor(id).is_there() || is_stored(id) || (work_of(id) <= most && !tensor(id).reorders)) return;
    if (!tensor(id).is_view) {
      store(id);
      return;
    }
    for (const TensorId part : tensor(id).takes) store_unless_moved(part, most);
  }

  // All results that need it have its loops: they will be one kernel.
  bool shares_loops(TensorId id) const {
    for (const TensorId root : stored_) {
      std::set<TensorId> needs, inlined;
      needs_of(root, needs, inlined);
      if (inlined.contains(id) && tensor(root).shape != tensor(id).shape) return false;
    }
    return true;
  }

  // Returns: whether more is stored.
  Result<bool> store_what_cannot_be_inlined() {
    for (const TensorId root : std::set<TensorId>(stored_)) {
      const Planned planned = plan({root});
      if (planned.kernel) continue;
      bool more = false;
      // A value that is made of a fold alone takes its place: that is made once then.
      for (const TensorId apart : planned.apart) more = store(tensor(apart).stored_as.value_or(apart)) || more;
      for (const TensorId apart : more ? std::vector<TensorId>() : planned.apart) more = store(apart) || more;
      // Its own reduction is in the way, or one that is stored already: it gets all that it takes from memory.
      for (const TensorId part : more ? std::vector<TensorId>() : tensor(root).takes)
        more = (!tensor(part).is_there() && store(part)) || more;
      if (!more) return unsupported("its reductions do not go together");
      return true;
    }
    return false;
  }

  // Returns: whether it was not stored before.
  bool store(TensorId id) {
    if (!stored_.insert(id).second) return false;
    // Nobody else looks at it: where its own order cannot be written it lies as it is counted.
    if (!definitions_.lay_out(id)) definitions_.lay_out_in_order(id);
    return true;
  }

  // Results in the order of their definitions; each joins the last group whose loops it has, where nothing lies between.
  std::vector<FusedStep> group() {
    struct Group {
      std::vector<TensorId> members;
      FusedStep step;
    };
    std::vector<Group> groups;
    std::set<TensorId> all = stored_;
    all.insert(calls_.begin(), calls_.end());
    for (const TensorId root : all) {
      if (tensor(root).call) {
        groups.push_back({{root}, {std::nullopt, root}});
        continue;
      }
      const std::set<TensorId> before = everything_before(root);
      bool joined = false;
      for (size_t i = groups.size(); i-- > 0 && !joined;) {
        Group& group = groups[i];
        if (!group.step.kernel) continue;
        // Its operands must be in the group or before it.
        bool is_there = true;
        for (const TensorId need : before) {
          if (std::ranges::find(group.members, need) != group.members.end()) continue;
          bool earlier = false;
          for (size_t j = 0; j < i; ++j)
            earlier = earlier || std::ranges::find(groups[j].members, need) != groups[j].members.end();
          is_there = is_there && earlier;
        }
        if (!is_there) continue;
        std::vector<TensorId> members = group.members;
        members.push_back(root);
        Planned planned = plan(members);
        if (!planned.kernel) continue;
        group.members = std::move(members);
        group.step.kernel = std::move(planned.kernel);
        joined = true;
      }
      if (joined) continue;
      Planned alone = plan({root});
      groups.push_back({{root}, {std::move(alone.kernel)}});
    }
    std::vector<FusedStep> steps;
    for (Group& one : groups) steps.push_back(std::move(one.step));
    return steps;
  }

  std::set<TensorId> everything_before(TensorId root) const {
    std::set<TensorId> all, inlined;
    needs_of(root, all, inlined);
    for (const TensorId need : std::set<TensorId>(all)) {
      const std::set<TensorId> more = everything_before(need);
      all.insert(more.begin(), more.end());
    }
    return all;
  }

  Definitions& definitions_;
  bool once_;
  std::set<TensorId> stored_, calls_;
};

}  // namespace

Result<std::vector<FusedStep>> fuse(Definitions& definitions, const std::vector<TensorId>& outputs, bool once) {
  return Partition(definitions, outputs, once).run();
}

}  // namespace passnet::author
