// `passnet selftest`.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_selftest(CLI::App& app, int& exit_code);

}  // namespace passnet::cli
