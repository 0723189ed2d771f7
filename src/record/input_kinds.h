// The kinds of values that a graph's outputs are compared on. docs/scoring.md, "Error budgets", says what each is for.
#pragma once

#include <array>

namespace passnet::record {

/// As the graph's records describe them; always the first.
inline constexpr const char* kRecordedKind = "recorded";
inline constexpr std::array kOtherInputKinds = {"normal", "uniform",    "shifted", "wide", "spikes",
                                                "binary", "structured", "special", "nan",  "infinite"};
/// Those of values that no type holds as a number.
inline constexpr const char* kNanKind = "nan";
inline constexpr const char* kInfiniteKind = "infinite";
/// Stands in a record for the inputs of timed calls, which are drawn as recorded.
inline constexpr const char* kTimedCalls = "timed";

}  // namespace passnet::record
