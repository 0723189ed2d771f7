// passnet dataset capture: hands over to the Python package that turns models into graphs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "command.h"
#include "dataset_commands/dataset.h"
#include "run/worker/pytorch.h"

namespace passnet::cli {

namespace {

namespace fs = std::filesystem;

// Returns only when it could not hand over.
Result<void> hand_over(const std::vector<std::string>& arguments) {
  PASSNET_TRY(const fs::path found,
              run::find_in_checkout("python/passnet_capture", "the Python package passnet_capture"));
  const fs::path package = found.parent_path();
  const char* path = std::getenv("PYTHONPATH");
  ::setenv("PYTHONPATH", path != nullptr && *path != 0 ? (package.string() + ":" + path).c_str() : package.c_str(), 1);
  ::setenv("PASSNET_COMMAND", "passnet dataset capture", 1);  // what its help and its messages show
  std::vector<std::string> words{run::find_python(), "-m", "passnet_capture"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return io_error("start", words[0], errno);
}

}  // namespace

void add_dataset_capture(CLI::App& group, int& exit_code) {
  CLI::App* command = group.add_subcommand(
      "capture", "models of timm, torchvision, transformers or a file into whole graphs (needs Python with PyTorch)");
  command->prefix_command();
  command->set_help_flag();  // --help is answered by what it hands over to
  command->footer("Example:  passnet dataset capture --from timm --match 'resnet*' --out full --jobs 2 --resume");
  command->callback([command, &exit_code] { exit_code = finish(hand_over(command->remaining())); });
}

}  // namespace passnet::cli
