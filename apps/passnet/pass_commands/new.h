// passnet pass new.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

/// Adds `new` to the group `pass`.
void add_pass_new(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
