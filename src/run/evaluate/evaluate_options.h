// How samples are evaluated.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pass/kernel/build.h"
#include "pass/selection.h"
#include "record/provenance.h"
#include "run/evaluate/host_code.h"
#include "run/evaluate/layers.h"
#include "run/worker/shared_device.h"

namespace passnet::run {

class Turns;

struct EvaluateOptions : record::CommonOptions {
  HostCode host_code = HostCode::Read;
  pass::Selection selection;     // which passes of the sample apply
  std::vector<int> processors;   // that are ours alone for this evaluation; empty: all this process may use
  std::optional<int> gpu;        // the CUDA device of both sides; none: the CPU
  bool timed = true;             // false: check only
  double most_timing_s = 20;     // MeasureOptions::most_s: a kernel that takes seconds holds nobody up for an hour
  bool other_tracks = true;      // calls are timed in other ways too, which nothing is judged by
  bool audit_clocks = true;      // false: the passes are our own, which do not touch them
  bool control = true;           // an A/A control of the sample: one graph without passes on both sides
  bool profile = false;          // where the time of a call goes, launch by launch
  std::string second_candidate;  // another compiler to time beside: "torch.compile"; empty: none
  DeviceSlot* slot = nullptr;    // the part in `gpu` that other evaluations use as well; null: it is ours alone
  std::filesystem::path worker;  // empty: beside the binary
  pass::BuildOptions build;
  Layers without;                   // defences that are off; set by selftest alone
  std::string command = "passnet";  // what others are told that wait for this evaluation
  std::optional<double> wait_s;     // for others on this machine; none: as long as it takes; 0: not at all
  Turns* turns = nullptr;           // between graphs others get theirs; null: they do not
  const std::atomic<bool>* interrupted = nullptr;  // becomes true at Ctrl-C: the run ends at once
};

/// Number of processors this process may run on.
int available_threads();

}  // namespace passnet::run
