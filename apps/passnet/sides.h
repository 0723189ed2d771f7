// The sides of an evaluation: the candidate, what it is timed against, and what is timed beside it.
#pragma once

#include "run/evaluate/evaluate_options.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// --sides: sets options.compiler, options.baseline and options.second_candidate.
void add_sides_option(CLI::App& command, run::EvaluateOptions& options);

}  // namespace passnet::cli
