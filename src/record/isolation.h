// How well a machine confines what a pass brings along, as an order: each level has what the ones below it have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace passnet::record {

enum class IsolationLevel {
  None,      // what runs beside kernels can call anything
  Seccomp,   // no new privileges, and a filter of system calls
  Confined,  // and the kernel lets it change no file (Landlock)
  Isolated,  // and it sees no network and no other process; compilers and host code see no file but their own
};
inline constexpr IsolationLevel kHighestIsolation = IsolationLevel::Isolated;
/// Below it nothing is ranked: without a filter of system calls a kernel that breaks out of its cell can read what it is
/// compared with.
inline constexpr IsolationLevel kRankedIsolation = IsolationLevel::Seccomp;

/// "none", "seccomp", "confined", "isolated"
std::string_view to_string(IsolationLevel level);
/// nullopt: none of them.
std::optional<IsolationLevel> isolation_from(std::string_view name);

/// words: what is in force, as src/sandbox/isolation.h has it: "Landlock; no new privileges; seccomp filter".
IsolationLevel isolation_of(std::string_view words);
/// "isolation level: 3 of 3 (isolated)"
std::string describe(IsolationLevel level);

}  // namespace passnet::record
