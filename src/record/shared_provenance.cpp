#include "record/shared_provenance.h"

#include <algorithm>
#include <utility>

namespace passnet::record {

std::shared_ptr<const Provenance> SharedProvenances::share(const Provenance& provenance) {
  Provenance part;
  for (const auto& [name, hash] : provenance.graph) part.graph.emplace(name, "");
  part.passes = provenance.passes;
  part.kernels = provenance.kernels;
  part.options = provenance.options;
  part.versions = provenance.versions;
  const auto known = std::ranges::find_if(latest_, [&](const auto& one) { return *one == part; });
  if (known != latest_.end()) return *known;
  constexpr size_t kMostShared = 16;  // an eager graph or one without a pass has another than its neighbours
  if (latest_.size() == kMostShared) latest_.pop_front();
  return latest_.emplace_back(std::make_shared<const Provenance>(std::move(part)));
}

}  // namespace passnet::record
