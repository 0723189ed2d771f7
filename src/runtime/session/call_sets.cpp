#include "runtime/session/call_sets.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "base/memory.h"
#include "graphdir/replay.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

namespace {

/// Tensors up to this size are drawn from their records: of a larger one's elements others like it can be put together.
constexpr int64_t kDrawnElements = 256;
/// Elements of larger ones that stay together.
constexpr int64_t kRun = 512;
/// Of the memory that is left, how much all sets together may take.
constexpr int64_t kShare = 4;
constexpr int64_t kEnough = int64_t{256} << 20;

int64_t numel(const wire::Entry& entry) {
  int64_t count = 1;
  for (const int64_t size : entry.shape) count *= size;
  return count;
}

bool is_literal(const graphdir::TensorMeta& record) { return record.int_data || record.float_data; }

/// What the small tensors' records are, by name; of the large ones, those that must stay as they are.
struct Drawn {
  std::vector<graphdir::TensorMeta> inputs, weights;
  std::set<std::string, std::less<>> kept;
};

Drawn sort_records(const graphdir::Metas& metas) {
  Drawn drawn;
  const auto sort = [&](const std::vector<graphdir::TensorMeta>& records, std::vector<graphdir::TensorMeta>& small) {
    for (const graphdir::TensorMeta& record : records) {
      int64_t count = 1;
      for (const int64_t size : record.shape) count *= size;
      if (count <= kDrawnElements)
        small.push_back(record);
      else if (is_literal(record))
        drawn.kept.insert(record.name);
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

/// Runs of elements of `from`, in random order and some of them several times.
void put_together(const std::byte* from, std::byte* to, int64_t elements, int64_t element_bytes, uint64_t seed) {
  const int64_t run = elements >= 16 * kRun ? kRun : 1;
  const int64_t runs = (elements + run - 1) / run;
  at::parallel_for(0, runs, std::max<int64_t>(1, 65536 / run), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t count = std::min(run, elements - i * run);
      const auto place = static_cast<int64_t>(scrambled(seed + static_cast<uint64_t>(i)) %
                                              static_cast<uint64_t>(elements - count + 1));
      std::memcpy(to + i * run * element_bytes, from + place * element_bytes,
                  static_cast<size_t>(count * element_bytes));
    }
  });
}

}  // namespace

CallSets::CallSets(std::vector<wire::Entry> entries, int64_t stride, int64_t sets, wire::Mapping memory)
    : entries_(std::move(entries)), stride_(stride), sets_(sets), memory_(std::move(memory)) {}

Result<std::unique_ptr<CallSets>> CallSets::make(const InputSet& like, int64_t wanted, UniqueFd* fd) {
  std::vector<wire::Entry> entries = like.entries;
  const int64_t stride = std::max<int64_t>(4096, (wire::lay_out(entries) + 4095) / 4096 * 4096);
  int64_t room = std::max<int64_t>(1, kEnough / stride);
  if (const auto available = available_memory())
    room = std::min(room, std::max<int64_t>(1, *available / kShare / stride));
  const int64_t sets = std::min(wanted, room);
  PASSNET_TRY(*fd, wire::create_memory("the inputs of timed calls", sets * stride));
  PASSNET_TRY(wire::Mapping memory, wire::Mapping::map(fd->get(), sets * stride, true));
  return std::make_unique<CallSets>(std::move(entries), stride, sets, std::move(memory));
}

Result<std::vector<at::Tensor>> CallSets::tensors(int64_t set, const std::vector<std::string>& names) const {
  std::vector<at::Tensor> tensors;
  for (const std::string& name : names) {
    const auto entry = std::ranges::find(entries_, name, &wire::Entry::name);
    if (entry == entries_.end()) return bad_input(fmt::format("no tensor for argument '{}' of forward", name));
    tensors.push_back(at::from_blob(memory_.data() + set * stride_ + entry->offset, entry->shape,
                                    at::TensorOptions(scalar_type(entry->dtype))));
  }
  return tensors;
}

Result<void> CallSets::renew(const InputSet& like, const graphdir::Metas& metas, uint64_t seed, int64_t count,
                             bool draw) {
  const Drawn drawn = sort_records(metas);
  std::mt19937_64 seeds(seed);
  std::map<std::string_view, const wire::Entry*> by_name;
  for (const wire::Entry& entry : entries_) by_name.emplace(entry.name, &entry);
  for (int64_t set = 0; set < std::min(count, sets_); ++set) {
    std::byte* const base = memory_.data() + set * stride_;
    for (size_t i = 0; !draw && i < entries_.size(); ++i) {
      std::memcpy(base + entries_[i].offset, like.memory.data() + like.entries[i].offset,
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
    for (size_t i = 0; i < entries_.size(); ++i) {
      const wire::Entry& entry = entries_[i];
      const uint64_t place_seed = seeds();
      if (done.contains(entry.name) || numel(entry) == 0) continue;
      const std::byte* from = like.memory.data() + like.entries[i].offset;
      std::byte* to = base + entry.offset;
      if (drawn.kept.contains(entry.name))
        std::memcpy(to, from, static_cast<size_t>(entry.size_bytes()));
      else
        put_together(from, to, numel(entry), ir::size_bytes(entry.dtype), place_seed);
    }
  }
  return {};
}

}  // namespace passnet::runtime
