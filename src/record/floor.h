// The least time that a call can take, by what the machine was measured to move.
#pragma once

#include <cstdint>
#include <vector>

namespace passnet::record {

/// A tensor copied from one place to another again and again, by all threads of an evaluation.
struct CopySpeed {
  int64_t bytes = 0;    // read and written: twice the tensor's
  double gb_per_s = 0;  // 1e9 bytes read and written per second
  bool operator==(const CopySpeed&) const = default;
};

/// What a call of a graph cannot be faster than.
struct Floor {
  int64_t bytes = 0;    // that every call must move (run/measure/least_bytes.h)
  double gb_per_s = 0;  // the most that the machine moves, of as many bytes or more
  double us = 0;
  bool operator==(const Floor&) const = default;
};

/// The share of the time that a copy takes, that is the floor. Half for kernels with wider loads than those of the copy,
/// half again for a machine that was busy when it was measured and is not now.
inline constexpr double kFloorShare = 0.25;
/// The floor is at most this share of the reference's time: what is not faster than that by far is no news.
inline constexpr double kFloorOfReference = 0.5;

/// copies:        at several sizes. Of those that move at least a quarter of `bytes` the fastest counts, so that neither a
///                smaller cache nor what a small copy costs besides decides.
/// reference_us:  what a call of the graph as it was captured takes.
/// Returns:       us is 0 without copies.
Floor floor_of(int64_t bytes, const std::vector<CopySpeed>& copies, double reference_us);

}  // namespace passnet::record
