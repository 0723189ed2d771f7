#include "serving.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

void add_serving_options(CLI::App& command, ServingFlags& flags, int port) {
  flags.server.port = port;
  command.add_option("PATH", flags.paths, "samples, or text files that list samples")->required();
  command.add_option("--port", flags.server.port, "port to listen at; 0: any free one")
      ->check(integer_in(0, 65535))
      ->capture_default_str();
  command.add_option("--host", flags.server.host, "address to listen at")->capture_default_str();
  add_root_option(command, flags.root);
  add_device_option(command, flags.device);
  add_lane_options(command, flags.lanes, "evaluations");
  add_wait_options(command, flags.evaluate);
  add_timeout_option(command, flags.evaluate.timeout_s, "time limit of a worker's request, in seconds");
  add_library_flag(command, flags.evaluate.allow_library);
  add_json_flag(command, flags.json);
}

Result<std::vector<graphdir::Sample>> begin_serving(ServingFlags& flags) {
  catch_interrupts();
  flags.evaluate.interrupted = &interrupted();
  PASSNET_TRY(flags.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_lanes(flags.evaluate.gpu, flags.lanes));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  return graphdir::load_samples(paths);
}

Result<void> serve_tasks(const ServingFlags& flags, const std::vector<agent::HttpRoute>& routes,
                         const std::string& what, const std::string& path, size_t tasks) {
  const auto announce = [&](int port) {
    const std::string url = fmt::format("http://{}:{}{}", flags.server.host, port, path);
    print_result(flags.json ? dump(Json{{"url", url}, {"tasks", tasks}}) + "\n"
                            : fmt::format("serving {} of {} tasks at {} (Ctrl-C ends it)\n", what, tasks, url));
    // Who started it waits for this line.
    std::fflush(stdout);
  };
  return agent::serve_http(flags.server, routes, announce, interrupted());
}

}  // namespace passnet::cli
