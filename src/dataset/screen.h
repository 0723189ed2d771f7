// Whether a graph runs, and whether it is fit to be a task: it runs, gives the same outputs each time, and they depend
// on its inputs. Source: docs/dataset-format.md, "Screening" under "Samples".
#pragma once

#include <chrono>
#include <string>

#include "graphdir/sample.h"
#include "run/worker/worker.h"

namespace passnet::dataset {

/// The graph that is screened, in the worker: what is loaded as such before is replaced, and it is unloaded again.
inline constexpr const char* kScreened = "variant";

/// Screening makes sure that a model that returns zeros, constants or its inputs is wrong on every task.
/// reference: a worker that runs graphs.
/// timeout:  for each request.
/// Returns:  "" when the graph is fit, else why not: "it has no outputs", "outputs are not finite", "not
///           deterministic", "an output is an input", "an output does not depend on the inputs", or the kind of the
///           worker's failure and the first line of its message: "bad-input: …".
std::string screen(run::Worker& reference, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout);

/// reference, timeout: as above.
/// Returns:  "" when the graph runs on replayed inputs, else the kind of the failure and its first line.
std::string try_run(run::Worker& reference, const graphdir::GraphDir& graph, std::chrono::milliseconds timeout);

}  // namespace passnet::dataset
