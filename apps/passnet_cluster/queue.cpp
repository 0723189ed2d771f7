// passnet queue: fills a queue, shows it, and steers its workers.
#include "cluster/queue.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "cluster.h"
#include "cluster/queue_names.h"
#include "command.h"
#include "external_commands.h"
#include "graphdir/sample.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct QueueFlags {
  std::string queue, root;
  std::vector<std::string> items;
  cluster::QueueRules rules;
  bool names = false, json = false;
};

Result<std::vector<cluster::QueueItem>> items_of(const QueueFlags& flags) {
  std::vector<cluster::QueueItem> items;
  if (flags.names) {
    for (const std::string& name : flags.items) items.push_back({cluster::key_of_name(name), name});
    return items;
  }
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.items, flags.root));
  for (const std::filesystem::path& path : paths) {
    const std::string text = absolute_path(path).string();
    items.push_back({cluster::key_of(text), text});
  }
  return items;
}

void print(const QueueFlags& flags, const Json& json, const std::string& text) {
  print_result((flags.json ? dump(json) : text) + "\n");
}

// --command is split at blanks; an item may hold blanks, its command's words may not.
Result<ExitCode> add_items(QueueFlags& flags, const std::string& command) {
  for (const std::string_view word : split(command, ' ')) {
    if (!word.empty()) flags.rules.command.emplace_back(word);
  }
  if (flags.rules.command.empty()) return usage_error("--command: found no word, expected a command of passnet");
  PASSNET_TRY(const std::vector<cluster::QueueItem> items, items_of(flags));
  PASSNET_TRY(cluster::Queue queue, cluster::Queue::create(flags.queue, flags.rules));
  PASSNET_TRY(const size_t added, queue.add(items));
  print(flags, Json{{"added", added}, {"known", items.size() - added}},
        fmt::format("{} added, {} known already", added, items.size() - added));
  print_next(fmt::format("passnet work {}", flags.queue));
  return kOk;
}

std::string text_of(const cluster::QueueStatus& status) {
  std::string text = line_of(status);
  for (const auto& one : status.claimed)
    text += fmt::format("\n{}  {}, try {}, heartbeat {:.0f} s ago{}", one.key, one.worker, one.number, one.silent_s,
                        one.expired ? ", expired" : "");
  for (const std::string& work : status.failed_work) text += fmt::format("\nfailed: {}/log.txt", work);
  return text;
}

Result<ExitCode> show_status(const QueueFlags& flags) {
  PASSNET_TRY(const cluster::Queue queue, cluster::Queue::open(flags.queue));
  PASSNET_TRY(const cluster::QueueStatus status, queue.status());
  print(flags, to_json(status), text_of(status));
  return status.done == status.items ? kOk : kNotAllCorrect;
}

Result<ExitCode> retry_failed(const QueueFlags& flags) {
  PASSNET_TRY(const cluster::Queue queue, cluster::Queue::open(flags.queue));
  PASSNET_TRY_VOID(queue.set_draining(false));
  PASSNET_TRY(const size_t retried, queue.retry());
  print(flags, Json{{"retried", retried}}, fmt::format("{} wait for another try", counted(retried, "item")));
  return kOk;
}

Result<ExitCode> drain(const QueueFlags& flags) {
  PASSNET_TRY(const cluster::Queue queue, cluster::Queue::open(flags.queue));
  PASSNET_TRY_VOID(queue.set_draining(true));
  print(flags, Json{{"draining", true}},
        "workers end after the items that they have; 'passnet queue retry' lets them take items again");
  return kOk;
}

using Action = std::function<Result<ExitCode>(QueueFlags&)>;

CLI::App* add_action(CLI::App& group, const std::shared_ptr<QueueFlags>& flags, int& exit_code, const char* name,
                     const char* about, Action action) {
  CLI::App* command = group.add_subcommand(name, about);
  command->add_option("QUEUE", flags->queue, "directory of the queue, which all machines share")->required();
  add_json_flag(*command, flags->json);
  command->callback([flags, &exit_code, action = std::move(action)] { exit_code = finish(action(*flags)); });
  return command;
}

}  // namespace

void add_queue(CLI::App& app, int& exit_code) {
  CLI::App* group = cli::add_command(app, kQueue);
  group->require_subcommand(1);
  auto flags = std::make_shared<QueueFlags>();
  auto command_text = std::make_shared<std::string>("eval");
  CLI::App* add = add_action(*group, flags, exit_code, "add", "add samples or other items to a queue, and make it",
                             [command_text](QueueFlags& given) { return add_items(given, *command_text); });
  add->add_option("ITEM", flags->items, "samples, or text files that list samples")->required();
  add_root_option(*add, flags->root);
  add->add_option("--command", *command_text, "what workers run, in quotes; the item and --out follow")
      ->capture_default_str();
  add->add_flag("--names", flags->names, "items are names or shards of models, not paths");
  add->add_option("--lease", flags->rules.lease_s, "seconds without a heartbeat after which another worker has an item")
      ->check(number_in(1, 86400))
      ->capture_default_str();
  add->add_option("--tries", flags->rules.tries, "tries of an item that the machine kept from being done")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  add->footer(
      "Items that are in the queue already are left out.\n\n"
      "Example:  passnet queue add queue dataset/lists/eval.txt --command 'eval --device cuda'\n"
      "          passnet queue add models $(seq -f %g/500 500) --names --command 'dataset capture --from timm "
      "--shard'");
  CLI::App* status =
      add_action(*group, flags, exit_code, "status", "show how far a queue is, and who has what", show_status);
  status->footer("Example:  passnet queue status queue\n1: items are left.");
  add_action(*group, flags, exit_code, "retry", "let failed items be tried again, and end draining", retry_failed)
      ->footer("Example:  passnet queue retry queue");
  add_action(*group, flags, exit_code, "drain", "let workers end after the items that they have", drain)
      ->footer("Example:  passnet queue drain queue");
}

}  // namespace passnet::cli
