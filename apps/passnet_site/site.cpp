// passnet site: runs as static pages.
#include "site/site.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/processors.h"
#include "base/text/strings.h"
#include "command.h"
#include "commands.h"
#include "external_commands.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct SiteFlags {
  std::vector<std::string> runs;
  site::SiteRequest request;
  std::string store;
  bool json = false;
};

Result<void> site_command(SiteFlags& flags) {
  flags.request.threads = available_processors().size();
  flags.request.store = flags.store;
  PASSNET_TRY(flags.request.runs, site::runs_in(flags.runs));
  PASSNET_TRY(const site::Written written, site::write_site(flags.request));
  const std::string index = (flags.request.out / "index.html").string();
  if (flags.json)
    print_result(dump(Json{{"index", index},
                           {"entries", written.entries},
                           {"tasks", written.tasks},
                           {"records", written.records},
                           {"pages", written.pages}}) +
                 "\n");
  else
    say("{} of {} in {}\n{}\n", counted(written.records, "record"), counted(written.tasks, "task"),
        counted(written.pages, "page"), index);
  return {};
}

}  // namespace

void add_site(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SiteFlags>();
  CLI::App* command = add_command(app, kSite);
  command
      ->add_option("RUN", flags->runs,
                   "an entry: a run, NAME=RUN, or a directory of runs (--out of 'passnet leaderboard score')")
      ->required();
  add_out_option(*command, flags->request.out, "directory for the pages; what is there is written over")->required();
  command->add_option("--store", flags->store, "a store, for a page of its history");
  command->add_option("--selftest", flags->request.selftest,
                      "JUDGE=FILE, or a file of 'passnet selftest --json', for a page of attacks");
  add_json_flag(*command, flags->json);
  command->footer(
      "The pages work from any static host and from a disk, and ask for nothing elsewhere.\n\n"
      "Example:  passnet site board -o site");
  command->callback([flags, &exit_code] { exit_code = finish(site_command(*flags)); });
}

}  // namespace passnet::cli
