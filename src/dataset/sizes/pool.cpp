#include "dataset/sizes/pool.h"

#include <algorithm>

namespace passnet::dataset {

bool changes(const Profile& profile) {
  return std::ranges::any_of(profile, [&](int64_t size) { return size != profile.front(); });
}

std::optional<Profile> profile_of(const analysis::SizeExpression& size, const Probes& probes) {
  Profile profile;
  for (const analysis::ValueShapes& shapes : probes) {
    const std::optional<int64_t> value = evaluate(size, shapes);
    if (!value) return std::nullopt;
    profile.push_back(*value);
  }
  return profile;
}

std::span<const SizePool::Seen> SizePool::find(const Map& map, int64_t captured) {
  const auto found = map.find(captured);
  return found == map.end() ? std::span<const Seen>() : std::span<const Seen>(found->second);
}

void SizePool::put(Map& map, Seen seen) {
  if (!changes(seen.profile)) return;
  std::vector<Seen>& all = map[seen.profile.front()];
  std::erase_if(all, [&](const Seen& known) { return known.profile == seen.profile; });
  all.push_back(std::move(seen));
}

void SizePool::add(ir::NodeId id, const Probes& probes) {
  const std::vector<int64_t>& shape = *probes.front().shape[id];
  for (uint32_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1 && axis > 0) continue;
    const analysis::SizeExpression size = analysis::SizeExpression::of({id, axis});
    if (const auto profile = profile_of(size, probes)) put(changing_, {*profile, size});
    if (axis == 0) continue;
    const analysis::SizeExpression area{{{id, axis - 1}, {id, axis}}, {}, 1, 1, 0};
    if (const auto profile = profile_of(area, probes); profile && shape[axis - 1] > 1) put(areas_, {*profile, area});
  }
}

}  // namespace passnet::dataset
