// Whether a graph runs, and whether it is fit to be a task: it runs, gives the same each time, and what it
// gives depends on what it gets.
#pragma once

#include <chrono>
#include <string>

#include "graphdir/sample.h"
#include "run/worker/worker.h"

namespace passnet::dataset {

/// "" when fit, else why not: an error of the run (its first line), "it has no outputs", "outputs are not
/// finite", "not deterministic", "an output is an input", "an output does not depend on the inputs". A model
/// that returns zeros, or an input, is so wrong on every graph that is fit. under: the id it is loaded as; it
/// is unloaded again.
std::string screen(run::Worker& reference, const std::string& under, const graphdir::GraphDir& graph,
                   std::chrono::milliseconds timeout);

/// "" when the graph runs on replayed inputs, else the first line of why not. under: as above.
std::string try_run(run::Worker& reference, const std::string& under, const graphdir::GraphDir& graph,
                    std::chrono::milliseconds timeout);

}  // namespace passnet::dataset
