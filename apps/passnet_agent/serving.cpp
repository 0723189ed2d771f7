#include "serving.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

// "0.0.0.0:8765", "[::1]:8765", "8765"
std::optional<std::pair<std::string, int>> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  std::string host = http::ServerOptions().host;
  if (colon != std::string_view::npos) host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  int port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, port);
  if (failed != std::errc() || stop != end || port < 0 || port > 65535 || host.empty()) return std::nullopt;
  return std::pair(std::move(host), port);
}

}  // namespace

CLI::Option* add_serving_options(CLI::App& command, ServingFlags& flags, const std::string& listen) {
  command.add_option("PATH", flags.paths, "samples, or text files that list samples")->required();
  CLI::Option* const address =
      command
          .add_option_function<std::string>(
              "--listen",
              [&flags](const std::string& text) {
                std::tie(flags.server.host, flags.server.port) = *parse_address(text);
              },
              listen)
          ->type_name("[HOST:]PORT")
          ->check([](const std::string& text) {
            return parse_address(text) ? "" : fmt::format("expected HOST:PORT or PORT, found {}", quoted(text));
          });
  command
      .add_option("--token-file", flags.token_file,
                  "lines NAME TOKEN: clients that may ask from other machines; none: this machine alone")
      ->needs(address);
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

Result<void> serve_tasks(const ServingFlags& flags, const std::vector<http::Route>& routes,
                         const std::string& what, const std::string& path, size_t tasks) {
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
