// passnet mcp: the agent's tools for other agents, by the Model Context Protocol.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "agent.h"
#include "agent/mcp/pass_offer.h"
#include "agent/mcp/session.h"
#include "agent/run/evaluator.h"
#include "base/version.h"
#include "command.h"
#include "external_commands.h"
#include "options.h"
#include "serving.h"

namespace passnet::cli {

namespace {

struct McpFlags {
  ServingFlags serving;
  std::filesystem::path out;
};

/// A message per line, until the client closes its end.
void serve_stdio(const agent::McpOffer& offer) {
  agent::McpSession session(offer, [](const std::string& line) {
    print_result(line + "\n");
    std::fflush(stdout);
  });
  for (std::string line; !interrupted() && std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) session.take(line);
  }
  if (!interrupted()) session.finish();
}

Result<void> serve_over_http(const agent::McpOffer& offer, const ServingFlags& flags, size_t tasks) {
  using Method = http::Route::Method;
  const std::vector<http::Route> routes = {
      {Method::Post, "/mcp",
       [&](const http::ServerRequest& request) {
         std::optional<std::string> answer = agent::answer_mcp(offer, request.body);
         return answer ? http::Reply{200, std::move(*answer)} : http::Reply{202, ""};
       }},
      // Nothing is said unasked, so there is no stream of events.
      {Method::Get, "/mcp", [](const http::ServerRequest&) {
         return http::Reply{405, ""};
       }}};
  return serve_tasks(flags, routes, "the tools", "/mcp", tasks);
}

Result<void> serve(McpFlags& flags, bool over_http) {
  ServingFlags& serving = flags.serving;
  agent::PassOfferSetup setup;
  PASSNET_TRY(setup.samples, begin_serving(serving));
  agent::Evaluator evaluator(serving.evaluate, serving.slots, say_waiting);
  setup.directory = flags.out;
  setup.version = kVersion;
  setup.on_gpu = serving.evaluate.gpu.has_value();
  setup.allow_library = serving.evaluate.allow_library;
  setup.ends = {std::chrono::milliseconds(static_cast<int64_t>(serving.evaluate.timeout_s * 1000)), &interrupted()};
  setup.evaluate = [&](const graphdir::Sample& task, bool profile, bool afresh,
                       const std::function<bool()>& is_spent) -> Result<agent::Records> {
    PASSNET_TRY(agent::Evaluated made,
                afresh ? evaluator.evaluate_afresh(task, is_spent) : evaluator.evaluate(task, profile, is_spent));
    return std::move(made.records);
  };
  const size_t tasks = setup.samples.size();
  PASSNET_TRY(const agent::McpOffer offer, agent::offer_passes(std::move(setup)));
  if (over_http) return serve_over_http(offer, serving, tasks);
  serve_stdio(offer);
  return {};
}

}  // namespace

void add_mcp(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<McpFlags>();
  CLI::App* command = add_command(app, kMcp);
  CLI::Option* listen =
      add_serving_options(*command, flags->serving,
                          "serve http://HOST:PORT/mcp instead of standard input and output; port 0: any free one");
  add_out_option(*command, flags->out, "directory for the files and passes of each sample")->required();
  command->get_option("--json")->needs(listen);
  command->footer(
      "A client starts it: {\"mcpServers\": {\"passnet\": {\"command\": \"passnet\", \"args\": [\"mcp\", \"SAMPLE\", "
      "\"-o\", \"work\"]}}}\n\nExample:  passnet mcp samples/vit_add_layer_norm -o work");
  command->callback([flags, listen, &exit_code] { exit_code = finish(serve(*flags, listen->count() > 0)); });
}

}  // namespace passnet::cli
