// The defences of an evaluation that can be switched off one by one, to show what each of them holds and what the others
// hold without it. Only `passnet selftest` does so: a record made without a layer names it and is never kept or scored.
// The cell, in which kernels run, is none of them: it is always there.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pass/kernel/build.h"
#include "record/record.h"

namespace passnet::run {

enum class Layer {
  SourceFilter,  // what a kernel's text may say
  ObjectChecks,  // state, start-up code and symbols of a compiled kernel
  CodeScan,      // its machine code, instruction by instruction
  BuildLimit,    // how many kernels the passes of a graph may need
  PlanLimits,    // how much a plan may allocate and launch
  Poison,        // buffers hold random bytes before a call, and outputs that still hold them are noticed
  Canaries,      // the bytes beside a buffer are compared after a call
  FreshInputs,   // timed calls have contents of their own
  TimedCompare,  // what timed calls return is compared
  Layouts,       // strides, offsets and aliasing of outputs are compared
  Values,        // elements are compared with eager's, by the ladder of tolerances
  Budgets,       // with float64, on several input kinds
  OperatorList,  // which operators of ATen a graph may call
  WorkerJail,    // what a worker may open, write and reach while it runs a graph
  SourceFiles,   // no link below a sample is followed
  PythonRoot,    // host code in Python sees no file and no process but its own
  PythonFilter,  // which system calls it may make
  Clocks,        // times are compared with our clock, and with what the machine can move
};
inline constexpr std::array kLayers = {Layer::SourceFilter, Layer::ObjectChecks, Layer::CodeScan,    Layer::BuildLimit,
                                       Layer::PlanLimits,   Layer::Poison,       Layer::Canaries,    Layer::FreshInputs,
                                       Layer::TimedCompare, Layer::Layouts,      Layer::Values,      Layer::Budgets,
                                       Layer::OperatorList, Layer::WorkerJail,   Layer::SourceFiles, Layer::PythonRoot,
                                       Layer::PythonFilter, Layer::Clocks};
using Layers = std::set<Layer>;

/// "source-filter", "object-checks", …
std::string_view to_string(Layer layer);
/// nullopt: no layer is called so.
std::optional<Layer> layer_named(std::string_view name);
/// Their names, in the order of kLayers.
std::vector<std::string> names_of(const Layers& layers);

/// How kernels are built without these layers.
pass::BuildOptions without_layers(pass::BuildOptions build, const Layers& without);

/// Removes from a comparison what only these layers would have found.
void forget_findings(const Layers& without, record::RunRecord& record);

}  // namespace passnet::run
