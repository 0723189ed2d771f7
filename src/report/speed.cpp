#include "report/speed.h"

namespace passnet::report {

Speed speed_of(const Row& row) {
  const bool measured = row.timed && row.ratio > 0 && !row.disturbed && row.interval.known();
  if (!measured || row.tone != Tone::Good) return Speed::None;
  if (row.interval.contains(1)) return Speed::Same;
  return row.ratio > 1 ? Speed::Faster : Speed::Slower;
}

const char* to_string(Speed speed) { return speed == Speed::Same ? "no difference" : css_of(speed); }

const char* css_of(Speed speed) {
  switch (speed) {
    case Speed::Faster: return "faster";
    case Speed::Same: return "same";
    case Speed::Slower: return "slower";
    default: return "";
  }
}

Place place_of(const Row& row) {
  if (row.tone == Tone::Bad) return {0, 0};
  if (row.tone == Tone::Doubtful) return {1, 0};
  if (speed_of(row) == Speed::None) return {2, 0};
  return {3, -row.ratio};
}

}  // namespace passnet::report
