// passnet serve: runs as pages while they grow, and a queue for workers of other machines.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/file/file.h"
#include "base/processors.h"
#include "base/text/strings.h"
#include "cluster/queue.h"
#include "cluster/queue_server.h"
#include "command.h"
#include "commands.h"
#include "external_commands.h"
#include "http/server.h"
#include "listen.h"
#include "options.h"
#include "site/live.h"

namespace passnet::cli {

namespace {

struct ServeFlags {
  std::vector<std::string> paths;
  http::ServerOptions server;
  std::string token_file;
  bool json = false;
};

/// A thread that refreshes pages while this lives.
class Follower {
 public:
  explicit Follower(site::LiveSite& site)
      : thread_([this, &site] {
          site.follow(stop_, [](const Error& error) { say_error("pages stay as they were: {}\n", error.message); });
        }) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

struct Served {
  std::optional<cluster::Queue> queue;
  std::unique_ptr<site::LiveSite> site;  // null: a queue alone

  std::vector<http::Route> routes() {
    std::vector<http::Route> all;
    all.push_back({http::Route::Method::Get, http::kHealthPath, [](const http::ServerRequest&) {
                     return http::Reply{200, "ok\n", "text/plain; charset=utf-8"};
                   }});
    const auto add = [&](std::vector<http::Route> more) { all.insert(all.end(), more.begin(), more.end()); };
    if (queue) add(cluster::queue_routes(*queue));
    if (site) add(site->routes());
    return all;
  }
};

Result<Served> open_paths(const std::vector<std::string>& paths) {
  Served served;
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    if (!entry_exists(std::filesystem::path(path) / cluster::kQueueFile)) {
      runs.push_back(path);
      continue;
    }
    if (served.queue)
      return bad_input(
          fmt::format("found two queues, '{}' and '{}', expected one", served.queue->path().string(), path));
    PASSNET_TRY(served.queue, cluster::Queue::open(path));
    PASSNET_TRY_VOID(served.queue->renew_all());
  }
  if (runs.empty()) return served;
  PASSNET_TRY(served.site, site::LiveSite::make(std::move(runs), available_processors().size()));
  return served;
}

Result<void> serve_command(ServeFlags& flags) {
  catch_interrupts();
  if (!flags.token_file.empty()) {
    PASSNET_TRY(flags.server.tokens, http::load_tokens(flags.token_file));
  }
  PASSNET_TRY(Served served, open_paths(flags.paths));
  const auto announce = [&](int port) {
    const std::string url = fmt::format("http://{}:{}", flags.server.host, port);
    const size_t records = served.site ? served.site->records() : 0;
    print_result(flags.json ? dump(Json{{"url", url}, {"records", records}, {"queue", served.queue.has_value()}}) + "\n"
                            : fmt::format("serving {}{} at {} (Ctrl-C ends it)\n", counted(records, "record"),
                                          served.queue ? " and a queue" : "", url));
    // Who started it waits for this line.
    std::fflush(stdout);
  };
  std::optional<Follower> follower;
  if (served.site) follower.emplace(*served.site);
  return http::serve(flags.server, served.routes(), announce, interrupted());
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = add_command(app, kServe);
  flags->server.port = 8766;
  command
      ->add_option("DIR", flags->paths, "a run, NAME=RUN, or a directory of runs, as of 'passnet site'; or one queue")
      ->required();
  add_listen_options(*command, flags->server.host, flags->server.port, flags->token_file,
                     "address to serve; port 0: any free one")
      ->default_str("127.0.0.1:8766");
  add_json_flag(*command, flags->json);
  command->footer(
      "Open pages load again when records were added. Workers: 'passnet work URL'. With --token-file a browser asks "
      "for a\n"
      "name (any) and a password (the token).\n\n"
      "Example:  passnet serve runs\n"
      "          passnet serve queue --listen 0.0.0.0:8766 --token-file tokens");
  command->callback([flags, &exit_code] { exit_code = finish(serve_command(*flags)); });
}

}  // namespace passnet::cli
