#include "run/apply/graph_texts.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/file/file.h"
#include "base/hash.h"
#include "fx/print.h"
#include "pass/plan/launch_list.h"
#include "pass/source.h"

namespace passnet::run {

void add_rewritten(record::GraphTexts& texts, const Rewritten& rewritten) {
  if (rewritten.sites() == 0) return;
  texts.after = fx::print_model(rewritten.graph);
  for (const pass::LaunchList& list : rewritten.lists)
    texts.launches += (texts.launches.empty() ? "[" : ",\n ") + dump(pass::to_json(list));
  texts.launches += texts.launches.empty() ? "[]\n" : "]\n";
}

Result<record::Provenance::Hashes> save_graph_texts(const fs::path& sample_out, const std::string& graph,
                                                    const record::GraphTexts& texts) {
  const fs::path directory = record::graph_texts_directory(sample_out, graph);
  const std::pair<const char*, const std::string&> files[] = {
      {record::kBeforeFile, texts.before}, {record::kAfterFile, texts.after}, {record::kLaunchesFile, texts.launches}};
  record::Provenance::Hashes hashes;
  for (const auto& [name, text] : files) {
    std::error_code absent;
    if (text.empty()) {
      fs::remove(directory / name, absent);
      continue;
    }
    PASSNET_TRY_VOID(write_file(directory / name, text));
    hashes.emplace(name, sha256_hex(text));
  }
  return hashes;
}

Result<void> save_passes(const fs::path& sample_out, const SourceFiles& files, const std::vector<fs::path>& passes,
                         const char* kernel) {
  const fs::path directory = record::passes_directory(sample_out);
  std::error_code absent;
  fs::remove_all(directory, absent);
  std::set<fs::path> saved;
  const auto save = [&](const fs::path& file, FileKind kind) -> Result<void> {
    if (!saved.insert(file.filename()).second) return {};
    const Result<SourceFiles::Text> text = files.read(file, kind);
    return text ? write_file(directory / file.filename(), **text) : Result<void>();
  };
  for (const fs::path& pass : passes) {
    if (saved.contains(pass.filename())) continue;
    PASSNET_TRY_VOID(save(pass, FileKind::Graph));
    PASSNET_TRY_VOID(save(fs::path(pass).replace_extension(kernel), FileKind::Kernel));
    for (const fs::path& imported : pass::imported_files(files, pass))
      PASSNET_TRY_VOID(save(imported, FileKind::Graph));
  }
  return {};
}

}  // namespace passnet::run
