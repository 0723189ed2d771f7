// What the commands of `passnet pass` share.
#pragma once

#include <vector>

#include "base/result.h"
#include "pass/source.h"

namespace CLI {
class App;
}

namespace passnet::cli {

/// Every operator that the patterns name exists. A worker is asked only for what the table of operators does not know.
/// Errors: BadPass at the line of the pattern, with the nearest name; Resource: there is no worker.
Result<void> check_names(const std::vector<pass::Pass>& passes);

void add_pass_build(CLI::App& group, int& exit_code);
void add_pass_match(CLI::App& group, int& exit_code);
void add_pass_profile(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
