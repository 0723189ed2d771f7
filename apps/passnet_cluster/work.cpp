// passnet work: takes items from a queue until none is left.
#include "cluster/work.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "cluster.h"
#include "cluster/queue.h"
#include "cluster/queue_names.h"
#include "cluster/remote_queue.h"
#include "command.h"
#include "external_commands.h"
#include "http/server.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct WorkFlags {
  std::string queue, token_file;
  cluster::WorkOptions options;
  bool json = false;
};

Result<std::unique_ptr<cluster::WorkQueue>> open_queue(const WorkFlags& flags) {
  if (!cluster::is_url(flags.queue)) {
    PASSNET_TRY(cluster::Queue queue, cluster::Queue::open(flags.queue, cluster::new_worker_name()));
    return std::unique_ptr<cluster::WorkQueue>(std::make_unique<cluster::Queue>(std::move(queue)));
  }
  cluster::RemoteOptions options{
      flags.queue, {}, cluster::new_worker_name(), &interrupted(), [](const std::string& why) {
        say_error("waiting for the server: {}\n", why);
      }};
  if (!flags.token_file.empty()) {
    PASSNET_TRY(options.token, http::load_first_token(flags.token_file));
  }
  PASSNET_TRY(std::unique_ptr<cluster::WorkQueue> remote, cluster::RemoteQueue::open(std::move(options)));
  return remote;
}

Result<ExitCode> work_command(WorkFlags& flags) {
  catch_interrupts();
  flags.options.interrupted = &interrupted();
  flags.options.program = beside_binary("passnet");
  PASSNET_TRY(const std::unique_ptr<cluster::WorkQueue> queue, open_queue(flags));
  cluster::WorkHooks hooks;
  hooks.started = [](const cluster::Claim& claim) { say_error("{}: try {}\n", claim.key, claim.number); };
  hooks.finished = [](const cluster::Claim& claim, const std::string& outcome) {
    say_error("{}: {}\n", claim.key, outcome);
  };
  PASSNET_TRY(const cluster::Worked worked, cluster::work(*queue, flags.options, hooks));
  if (flags.json)
    print_result(
        dump(Json{{"done", worked.done}, {"failed", worked.failed}, {"again", worked.again}, {"lost", worked.lost}}) +
        "\n");
  else
    say("{} done, {} failed, {} given back, {} lost to other workers\n", worked.done, worked.failed, worked.again,
        worked.lost);
  return worked.failed == 0 ? kOk : kNotAllCorrect;
}

}  // namespace

void add_work(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<WorkFlags>();
  CLI::App* command = cli::add_command(app, kWork);
  command->add_option("QUEUE", flags->queue, "directory of the queue, or the URL of a 'passnet serve' that has it")
      ->required();
  command->add_option("--token-file", flags->token_file,
                      "file whose first line NAME TOKEN is this client's, for a URL");
  command->add_flag("--forever", flags->options.wait,
                    "wait for items that are added later, until 'passnet queue drain'");
  add_json_flag(*command, flags->json);
  command->footer(
      "Start one for each GPU. An item of a worker that is lost is done by another after its lease. A worker ends when "
      "no item\n"
      "is left, and after one and a half leases without one.\n\n"
      "Example:  passnet work queue\n"
      "          passnet work http://node1:8766 --token-file token\n"
      "1: an item failed.");
  command->callback([flags, &exit_code] { exit_code = finish(work_command(*flags)); });
}

}  // namespace passnet::cli
