// What stands on the candidate's side of an evaluation, and how that is run and timed.
#pragma once

#include <array>
#include <string_view>

#include "run/worker/worker.h"

namespace passnet::run {

struct CandidateKind {
  std::string_view compiler;    // EvaluateOptions::compiler
  bool has_passes = false;      // those of the sample
  bool runs_host_code = false;  // of the passes, in a Python of its own
  bool is_compiled = false;     // by torch.compile, in a Python: requests wait for it, and calls have the same inputs
  bool is_packaged = false;     // by AOTInductor, in a Python; passnet-worker runs the package

  bool reads_passes() const { return has_passes && !runs_host_code; }
  bool needs_pytorch() const { return is_compiled || is_packaged; }
  /// Whether passnet-worker runs it.
  bool is_ours() const { return !runs_host_code && !is_compiled; }
  Role role() const { return is_packaged ? Role::Package : Role::Candidate; }
};

/// EvaluateOptions::compiler that makes a package of each graph.
inline constexpr const char* kAotInductor = "aotinductor";

inline constexpr CandidateKind kEager{.compiler = "eager"};
inline constexpr CandidateKind kHostCode{.compiler = "passes", .has_passes = true, .runs_host_code = true};
inline constexpr std::array<CandidateKind, 3> kOtherKinds{{{.compiler = "passes", .has_passes = true},
                                                           {.compiler = "inductor", .is_compiled = true},
                                                           {.compiler = kAotInductor, .is_packaged = true}}};

/// The kind of candidate by EvaluateOptions::compiler: a name that is not known stands for eager.
constexpr const CandidateKind& candidate_kind(std::string_view compiler) {
  for (const CandidateKind& kind : kOtherKinds) {
    if (kind.compiler == compiler) return kind;
  }
  return kEager;
}

}  // namespace passnet::run
