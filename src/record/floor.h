// The least time that a call can take, by what the machine was measured to move and to compute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace passnet::record {

/// A tensor copied from one place to another again and again, by all threads of an evaluation.
struct CopySpeed {
  int64_t bytes = 0;    // read and written: twice the tensor's
  double gb_per_s = 0;  // 1e9 bytes read and written per second
  bool operator==(const CopySpeed&) const = default;
};

/// Products of square matrices, by all threads of an evaluation.
struct ProductSpeed {
  std::string dtype;       // "float32"; kTf32 where PyTorch computes convolutions of float32 in TF32
  double gflop_per_s = 0;  // 1e9 operations per second, two for each multiply-add
  bool operator==(const ProductSpeed&) const = default;
};
inline constexpr const char* kTf32 = "tf32";

/// Operations of a graph on one element type.
struct Arithmetic {
  std::string dtype;
  double operations = 0;   // two per multiply-add, one per element that another loop computes
  double gflop_per_s = 0;  // speed of its products, or of a faster type that holds its values; 0: not measured
  bool operator==(const Arithmetic&) const = default;
};

/// What a call of a graph cannot be faster than.
struct Floor {
  int64_t bytes = 0;                                       // that every call must move (run/measure/least_bytes.h)
  double gb_per_s = 0;                                     // the most that the machine moves, of as many bytes or more
  double us = 0;                                           // a faster call is not believed; by bytes alone
  std::optional<std::vector<Arithmetic>> arithmetic = {};  // floating-point; none: not counted, in older records
  bool operator==(const Floor&) const = default;
};

/// The resource that a call is bound by.
enum class Bound : uint8_t { Memory, Arithmetic };
const char* to_string(Bound bound);
struct Limit {
  double us = 0;
  Bound bound = Bound::Memory;
};
/// The roofline: the larger of the times that moving and computing take at the speeds measured.
/// Returns: nullopt where one of them is not known.
std::optional<Limit> limit_of(const Floor& floor);

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

/// The fastest of the products that can stand for those of `dtype`: of the type itself, and of wider ones that hold all
/// its values. 0: none was measured.
double product_speed(std::string_view dtype, const std::vector<ProductSpeed>& products);

}  // namespace passnet::record
