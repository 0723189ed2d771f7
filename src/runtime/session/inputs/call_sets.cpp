#include "runtime/session/inputs/call_sets.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "base/hash.h"
#include "graphdir/inputs/replay.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// Tensors up to this size are drawn from their records: of a larger one's elements others like it can be put together.
constexpr int64_t kDrawnElements = 256;
/// Elements of larger ones that stay together; more of the largest, as a run's place takes as long to draw as its elements to copy.
constexpr int64_t kRun = 512, kMostRuns = 16384;

int64_t numel(const wire::Entry& entry) {
  int64_t count = 1;
  for (const int64_t size : entry.shape) count *= size;
  return count;
}

bool stays(const graphdir::TensorMeta& record) {
  return record.int_data || record.float_data || record.redraw == graphdir::Redraw::None;
}

/// The records of small tensors whose contents are drawn; of others the names of those that get the recorded elements in
/// another order, and of those that stay as they are.
struct Drawn {
  std::vector<graphdir::TensorMeta> inputs, weights;
  std::set<std::string, std::less<>> reordered, kept;
};

Drawn sort_records(const graphdir::Metas& metas) {
  Drawn drawn;
  const auto sort = [&](const std::vector<graphdir::TensorMeta>& records, std::vector<graphdir::TensorMeta>& small) {
    for (const graphdir::TensorMeta& record : records) {
      if (record.redraw == graphdir::Redraw::Order)
        drawn.reordered.insert(record.name);
      else if (stays(record))
        drawn.kept.insert(record.name);
      else if (record.numel() <= kDrawnElements)
        small.push_back(record);
    }
  };
  sort(metas.inputs, drawn.inputs);
  sort(metas.weights, drawn.weights);
  return drawn;
}

/// The output function of SplitMix64.
uint64_t scrambled(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// Places that runs of elements come from, in a tensor of `elements`: the last run may be cut short. Each run has a place of its own,
/// as a kernel could find elements that are there twice and compute them once. One in kStrayRuns comes from anywhere, so that a
/// reduction over all elements differs from call to call.
class Runs {
 public:
  const int64_t length, count;
  const int64_t places;  // where a run can begin

  Runs(int64_t elements, uint64_t seed)
      : length(elements >= 16 * kRun ? std::max(kRun, elements / kMostRuns) : 1),
        count((elements + length - 1) / length),
        places(elements - length + 1),
        seed_(seed),
        shift_(below(length, scrambled(seed))),
        first_(below(count, scrambled(seed ^ 1))),
        step_(1 + below(count, scrambled(~seed))) {
    while (std::gcd(step_, count) != 1) ++step_;
  }
  int64_t place(int64_t run) const {
    const uint64_t drawn = scrambled(seed_ + static_cast<uint64_t>(run));
    if (drawn % kStrayRuns == 0) return below(places, drawn / kStrayRuns);
    return std::min((first_ + run * step_) % count * length + shift_, places - 1);
  }

 private:
  static constexpr uint64_t kStrayRuns = 16;
  static int64_t below(int64_t limit, uint64_t drawn) {
    return static_cast<int64_t>(drawn % static_cast<uint64_t>(limit));
  }
  uint64_t seed_;
  int64_t shift_, first_, step_;
};

/// Runs of elements of `from`, in another order.
void put_together(const std::byte* from, std::byte* to, int64_t elements, int64_t element_bytes, uint64_t seed) {
  const Runs runs(elements, seed);
  for_each_range(runs.count, std::max<int64_t>(1, 65536 / runs.length), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t count = std::min(runs.length, elements - i * runs.length);
      std::memcpy(to + i * runs.length * element_bytes, from + runs.place(i) * element_bytes,
                  static_cast<size_t>(count * element_bytes));
    }
  });
}

/// The same on a GPU, of contiguous tensors.
void put_together(const at::Tensor& from, at::Tensor& to, uint64_t seed) {
  const int64_t elements = from.numel();
  const Runs runs(elements, seed);
  at::Tensor places = at::empty({runs.count}, at::TensorOptions(at::kLong));
  auto* const place = places.mutable_data_ptr<int64_t>();
  for_each_range(runs.count, 65536, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) place[i] = runs.place(i);
  });
  places = places.to(from.device());
  // Every run that there is, as rows that overlap.
  const at::Tensor all = from.view(-1).as_strided({runs.places, runs.length}, {1, 1});
  const int64_t whole = elements / runs.length;
  const at::Tensor flat = to.view(-1);
  at::Tensor rows = flat.narrow(0, 0, whole * runs.length).view({whole, runs.length});
  at::index_select_out(rows, all, 0, places.narrow(0, 0, whole));
  if (const int64_t rest = elements - whole * runs.length; rest > 0)
    flat.narrow(0, elements - rest, rest)
        .copy_(all.index_select(0, places.narrow(0, whole, 1)).view(-1).narrow(0, 0, rest));
}

/// All elements of `from`, in random order.
void reorder(const std::byte* from, std::byte* to, int64_t elements, int64_t element_bytes, uint64_t seed) {
  std::vector<int64_t> places(static_cast<size_t>(elements));
  std::iota(places.begin(), places.end(), int64_t{0});
  std::shuffle(places.begin(), places.end(), std::mt19937_64(seed));
  for (int64_t i = 0; i < elements; ++i)
    std::memcpy(to + i * element_bytes, from + places[static_cast<size_t>(i)] * element_bytes,
                static_cast<size_t>(element_bytes));
}

/// Of the tensor called `name` in a set.
uint64_t place_seed(uint64_t seed, int64_t set, std::string_view name) {
  return scrambled(scrambled(seed + static_cast<uint64_t>(set)) ^ fast_hash(name.data(), name.size()));
}

}  // namespace

CallSets::CallSets(std::vector<wire::Entry> entries, int64_t stride, int64_t sets, wire::Mapping memory)
    : entries_(std::move(entries)), stride_(stride), sets_(sets), memory_(std::move(memory)) {}

Result<std::unique_ptr<CallSets>> CallSets::make(const Like& like, int64_t wanted, UniqueFd* fd) {
  const Drawn drawn = sort_records(like.metas);
  std::set<std::string_view> inside(drawn.kept.begin(), drawn.kept.end());
  inside.insert(drawn.reordered.begin(), drawn.reordered.end());
  for (const auto* records : {&drawn.inputs, &drawn.weights}) {
    for (const graphdir::TensorMeta& record : *records) inside.insert(record.name);
  }
  std::vector<wire::Entry> entries;
  int64_t call_bytes = like.outputs_bytes;
  for (const wire::Entry& entry : like.inputs.entries) {
    call_bytes += entry.size_bytes();
    if (like.whole || inside.contains(entry.name)) entries.push_back(entry);
  }
  const int64_t stride = std::max<int64_t>(4096, (wire::lay_out(entries) + 4095) / 4096 * 4096);
  const int64_t sets = std::min(wanted, std::max<int64_t>(1, like.room_bytes / std::max<int64_t>(1, call_bytes)));
  PASSNET_TRY(*fd, wire::create_memory("the inputs of timed calls", sets * stride));
  PASSNET_TRY(wire::Mapping memory, wire::Mapping::map(fd->get(), sets * stride, true));
  return std::make_unique<CallSets>(std::move(entries), stride, sets, std::move(memory));
}

namespace {
/// Size of outliers: several times the largest value, which no sample of the elements shows. Values that are all tiny, or 0,
/// get numbers of a usual size beside them, and large ones none that short types could not go on with.
double planted_size(const at::Tensor& like) {
  constexpr double kTimes = 4, kSmallest = 0x1p-8, kUsual = 16;
  const double least = like.min().item<double>();
  double largest = std::max(std::abs(least), std::abs(like.max().item<double>()));
  const bool is_signed = least < 0 || largest == 0;
  largest = std::isfinite(largest) && largest > 0 ? std::max(largest, kSmallest) : 1;
  const double size = std::max(largest, std::min(kTimes * largest, kUsual));
  return is_signed ? -size : size;  // of either sign, or above 0
}

void put_outliers(at::Tensor& to, double size, uint64_t seed) {
  constexpr int64_t kMost = 8, kElementsEach = 4096;
  const int64_t count = std::min(kMost, 1 + to.numel() / kElementsEach);
  const at::Tensor places = at::empty({count}, at::TensorOptions(at::kLong));
  const at::Tensor values = at::empty({count}, at::TensorOptions(at::kDouble));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t place = scrambled(seed + static_cast<uint64_t>(i)) % static_cast<uint64_t>(to.numel());
    places.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(place);
    // A place that comes twice gets the same value.
    values.mutable_data_ptr<double>()[i] = size < 0 && (scrambled(seed ^ place) & 1) != 0 ? -size : size;
  }
  to.view(-1).index_copy_(0, places.to(to.device()), values.to(to.options()));
}
}  // namespace

void CallSets::fill(int64_t set, const std::string& name, const at::Tensor& like, at::Tensor& to) {
  fill_evenly(set, name, like, to);
  if (std::ranges::find(planted_, name) == planted_.end() || like.numel() == 0) return;
  if (wider_) {
    constexpr double kTimes = 5;  // values are a fifth of the recorded deviation apart (graphdir/inputs/replay.h)
    to.mul_(kTimes);
    return;
  }
  const auto known = sizes_.find(name);
  const double size = known != sizes_.end() ? known->second : sizes_.emplace(name, planted_size(like)).first->second;
  put_outliers(to, size, place_seed(~seed_, set, name));
}

void CallSets::fill_evenly(int64_t set, const std::string& name, const at::Tensor& like, at::Tensor& to) const {
  if (const auto entry = std::ranges::find(entries_, name, &wire::Entry::name); entry != entries_.end()) {
    to.copy_(at::from_blob(memory_.data() + set * stride_ + entry->offset, entry->shape,
                           at::TensorOptions(scalar_type(entry->dtype))));
  } else if (!draw_ || like.numel() == 0) {
    to.copy_(like);
  } else if (const uint64_t seed = place_seed(seed_, set, name); like.is_cpu()) {
    put_together(static_cast<const std::byte*>(like.const_data_ptr()), static_cast<std::byte*>(to.mutable_data_ptr()),
                 like.numel(), static_cast<int64_t>(like.element_size()), seed);
  } else {
    put_together(like, to, seed);
  }
}

Result<void> CallSets::renew(const InputSet& like, const graphdir::Metas& metas, uint64_t seed, int64_t count,
                             bool draw) {
  follow(seed, draw);
  const Drawn drawn = sort_records(metas);
  std::mt19937_64 seeds(seed);
  std::map<std::string_view, const wire::Entry*> by_name;
  std::map<std::string_view, const std::byte*> like_by_name;
  for (const wire::Entry& entry : entries_) by_name.emplace(entry.name, &entry);
  for (const wire::Entry& entry : like.entries) like_by_name.emplace(entry.name, like.memory.data() + entry.offset);
  for (int64_t set = 0; set < std::min(count, sets_); ++set) {
    std::byte* const base = memory_.data() + set * stride_;
    for (size_t i = 0; !draw && i < entries_.size(); ++i) {
      std::memcpy(base + entries_[i].offset, like_by_name.at(entries_[i].name),
                  static_cast<size_t>(entries_[i].size_bytes()));
    }
    if (!draw) continue;
    std::set<std::string_view> done;
    std::vector<std::byte*> memory;
    std::vector<const wire::Entry*> small;
    for (const auto* records : {&drawn.inputs, &drawn.weights}) {
      for (const graphdir::TensorMeta& record : *records) {
        const auto entry = by_name.find(record.name);
        if (entry == by_name.end()) return bad_input(fmt::format("no tensor for the record '{}'", record.name));
        memory.push_back(base + entry->second->offset);
        small.push_back(entry->second);
        done.insert(record.name);
      }
    }
    const auto own_seed = static_cast<uint32_t>(seeds());
    PASSNET_TRY(const std::vector<int64_t> non_finite, graphdir::replay(drawn.inputs, drawn.weights, memory, own_seed));
    for (size_t i = 0; i < small.size(); ++i) {
      if (non_finite[i] > 0) done.erase(small[i]->name);
    }
    for (const wire::Entry& entry : entries_) {
      if (done.contains(entry.name) || numel(entry) == 0) continue;
      const std::byte* from = like_by_name.at(entry.name);
      std::byte* to = base + entry.offset;
      const uint64_t own = place_seed(seed, set, entry.name);
      if (drawn.kept.contains(entry.name))
        std::memcpy(to, from, static_cast<size_t>(entry.size_bytes()));
      else if (drawn.reordered.contains(entry.name))
        reorder(from, to, numel(entry), ir::size_bytes(entry.dtype), own);
      else
        put_together(from, to, numel(entry), ir::size_bytes(entry.dtype), own);
    }
  }
  return {};
}

}  // namespace passnet::runtime
