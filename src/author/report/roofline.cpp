#include "author/report/roofline.h"

#include <limits>

namespace passnet::author {

namespace {

/// At the first place that the pass stands at: the figures are of one.
std::optional<double> measured_us(const std::string& pass, const record::RunRecord& record) {
  if (!record.profile) return std::nullopt;
  std::optional<int> site;
  double us = 0;
  for (const record::Profile::Launch& launch : record.profile->launches) {
    if (launch.pass != pass || (site && launch.site != *site)) continue;
    site = launch.site;
    us += launch.us;
  }
  return site ? std::optional(us) : std::nullopt;
}

}  // namespace

std::optional<Roofline> roofline_of(const std::string& pass, int64_t bytes, size_t launches,
                                    const record::RunRecord* record, const MachineSpeed& speed) {
  if (speed.copies.empty()) return std::nullopt;
  // The speed alone is asked for, which the time of the graph has no part in.
  const record::Floor floor = record::floor_of(bytes, speed.copies, std::numeric_limits<double>::max());
  Roofline roofline;
  roofline.gb_per_s = floor.gb_per_s;
  if (floor.gb_per_s > 0) roofline.bytes_us = static_cast<double>(bytes) / (floor.gb_per_s * 1e3);
  if (speed.call_us > 0 && launches > 0)
    roofline.launches_us = speed.call_us + speed.launch_us * static_cast<double>(launches - 1);
  if (record != nullptr) roofline.measured_us = measured_us(pass, *record);
  return roofline;
}

}  // namespace passnet::author
