// What commands that serve other programs have in common: tasks, an address, and how they evaluate.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "http/server.h"
#include "run/batch/slots.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace passnet::cli {

struct ServingFlags {
  std::vector<std::string> paths;
  std::string root, device = "cpu";
  http::ServerOptions server;
  std::string token_file;
  run::EvaluateOptions evaluate;
  run::SlotCount slots;
  bool json = false;
};

/// PATH, --root, --listen, --token-file, --device, --jobs, --overlap, --wait, --timeout, --allow-library and --json. listen: the help of
/// --listen. Returns --listen.
CLI::Option* add_serving_options(CLI::App& command, ServingFlags& flags, const std::string& listen);

/// The samples of PATH; sets evaluate.gpu, what interrupts, and the tokens. Errors: BadInput, as expand_paths, load_samples
/// and http::load_tokens.
Result<std::vector<graphdir::Sample>> begin_serving(ServingFlags& flags);

/// Serves until Ctrl-C. Once it listens, one line on stdout says what is served and where. what: "rewards of {} tasks"
/// with their number; path: of the URL. Errors: as http::serve.
Result<void> serve_tasks(const ServingFlags& flags, const std::vector<http::Route>& routes, const std::string& what,
                         const std::string& path, size_t tasks);

}  // namespace passnet::cli
