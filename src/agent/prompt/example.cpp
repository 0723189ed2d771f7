#include "agent/prompt/example.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/visible.h"

namespace passnet::agent {

namespace {

// A prompt of more than this leaves no room for work; examples of some passes have 20 KB.

Result<ExampleText> load_example(const fs::path& file) {
  PASSNET_TRY(std::string text, read_file(file, FileKind::Kernel));
  const std::string line = text.substr(0, text.find('\n'));
  const std::string heading = kExampleHeading;
  if (!line.starts_with(heading) || line.size() == heading.size()) {
    return bad_input(fmt::format("found '{}', expected '{}' and the name of a sample", visible_line(line.substr(0, 80)),
                                 heading),
                     SourceLoc{file.string(), 1, 1})
        .with_hint("give a file that 'passnet author --export' wrote, or their directory");
  }
  return ExampleText{line.substr(heading.size()), std::move(text)};
}

}  // namespace

Result<std::vector<ExampleText>> load_examples(const fs::path& path) {
  std::vector<fs::path> files;
  if (directory_exists(path)) {
    PASSNET_TRY(files, list_directory(path));
    std::erase_if(files, [](const fs::path& file) { return file.extension() != ".md"; });
    if (files.empty()) {
      return bad_input(fmt::format("no worked example in '{}', expected files that end in .md", path.string()))
          .with_hint("'passnet author --export DIR' writes one for each sample with a pass");
    }
  } else {
    files.push_back(path);
  }
  std::vector<ExampleText> examples;
  for (const fs::path& file : files) {
    PASSNET_TRY(ExampleText one, load_example(file));
    examples.push_back(std::move(one));
  }
  return examples;
}

}  // namespace passnet::agent
