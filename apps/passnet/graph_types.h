// The types of a graph's values for the commands that show them.
#pragma once

#include <string>

#include "base/result.h"
#include "fx/sample.h"
#include "run/infer.h"

namespace passnet::cli {

/// Starts a worker, infers, ends it. Errors: what reading the directory and the worker say.
Result<run::InferredTypes> types_of(const fx::GraphDir& graph);

}  // namespace passnet::cli
