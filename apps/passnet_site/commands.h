// The commands for records of many runs: `passnet store`, `site` and `serve`.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_store(CLI::App& app, int& exit_code);
void add_site(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);

}  // namespace passnet::cli
