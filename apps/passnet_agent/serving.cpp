#include "serving.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "command.h"
#include "listen.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

CLI::Option* add_serving_options(CLI::App& command, ServingFlags& flags, const std::string& listen) {
  command.add_option("PATH", flags.paths, "samples, or text files that list samples")->required();
  CLI::Option* const address =
      add_listen_options(command, flags.server.host, flags.server.port, flags.token_file, listen);
  add_root_option(command, flags.root);
  add_device_option(command, flags.device);
  add_slot_options(command, flags.slots, "evaluations");
  add_wait_options(command, flags.evaluate);
  add_timeout_option(command, flags.evaluate.timeout_s, "time limit of a worker's request, in seconds");
  add_library_flag(command, flags.evaluate.allow_library);
  add_json_flag(command, flags.json);
  return address;
}

Result<std::vector<graphdir::Sample>> begin_serving(ServingFlags& flags) {
  catch_interrupts();
  flags.evaluate.interrupted = &interrupted();
  PASSNET_TRY(flags.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_slots(flags.evaluate.gpu, flags.slots));
  if (!flags.token_file.empty()) {
    PASSNET_TRY(flags.server.tokens, http::load_tokens(flags.token_file));
  }
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  return graphdir::load_samples(paths);
}

Result<void> serve_tasks(const ServingFlags& flags, const std::vector<http::Route>& routes, const std::string& what,
                         const std::string& path, size_t tasks) {
  const auto announce = [&](int port) {
    const std::string url = fmt::format("http://{}:{}{}", flags.server.host, port, path);
    print_result(flags.json ? dump(Json{{"url", url}, {"tasks", tasks}}) + "\n"
                            : fmt::format("serving {} of {} samples at {} (Ctrl-C ends it)\n", what, tasks, url));
    // Who started it waits for this line.
    std::fflush(stdout);
  };
  return http::serve(flags.server, routes, announce, interrupted());
}

}  // namespace passnet::cli
