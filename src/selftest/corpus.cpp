#include "selftest/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "record/verdict.h"
#include "selftest/expectation.h"
#include "selftest/family_file.h"
#include "selftest/graphs_file.h"

namespace passnet::selftest {

namespace {

constexpr const char *kExpectFile = "expect.json", *kPassDir = "pass_dir", *kModelFile = "model.py";
constexpr const char *kGraphs = "graphs", *kGraphsFile = "graphs.txt", *kFamilyExtension = ".txt";
constexpr const char *kControls = "controls/", *kGpu = "gpu/";

bool is_corpus(const fs::path& directory) {
  return file_exists(directory / kGraphsFile) || directory_exists(directory / kGraphs);
}

/// A corpus, read and not yet looked into.
struct Contents {
  fs::path directory;
  std::map<std::string, BundleText> bundles;            // pass_dir is empty of those that are directories
  std::map<std::string, std::vector<FileText>> graphs;  // of graphs.txt
};

Result<void> add_bundle(BundleText bundle, Contents& contents) {
  const std::string name = bundle.name;
  const SourceLoc at = bundle.expected.at;
  const auto [same, is_new] = contents.bundles.try_emplace(name, std::move(bundle));
  if (is_new) return {};
  const SourceLoc& first = same->second.expected.at;
  return bad_input(
      fmt::format("a second bundle is called {}, the first is in {}", quoted(name), quoted(first.file, 200)), at);
}

Result<void> read_text_file(const fs::path& file, Contents& contents) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Graph));
  if (file.stem().string().starts_with(kGraphs)) {
    PASSNET_TRY(std::vector<GraphText> graphs, parse_graphs(text, file.string()));
    for (GraphText& graph : graphs) contents.graphs[graph.name] = std::move(graph.files);
    return {};
  }
  PASSNET_TRY(std::vector<BundleText> bundles, parse_family(text, file.string()));
  for (BundleText& bundle : bundles) PASSNET_TRY_VOID(add_bundle(std::move(bundle), contents));
  return {};
}

Result<void> read_directory(const std::string& below, Contents& contents) {
  PASSNET_TRY(const std::vector<fs::path> entries, list_directory(contents.directory / below));
  for (const fs::path& entry : entries) {
    if (below.empty() && entry.extension() == kFamilyExtension) PASSNET_TRY_VOID(read_text_file(entry, contents));
    const fs::path file = entry / kExpectFile;
    if (!path_exists(file)) continue;
    PASSNET_TRY(const std::string text, read_file(file, FileKind::Graph));
    PASSNET_TRY(Expectation expected, parse_expectation(text, file.string()));
    PASSNET_TRY_VOID(add_bundle({below + entry.filename().string(), std::move(expected), {}}, contents));
  }
  return {};
}

Result<Contents> read_corpus(const fs::path& corpus) {
  Contents contents;
  contents.directory = corpus;
  for (const std::string& below :
       {std::string(), std::string(kGpu), std::string(kControls), kControls + std::string(kGpu)}) {
    if (below.empty() || path_exists(corpus / below)) PASSNET_TRY_VOID(read_directory(below, contents));
  }
  return contents;
}

/// Everything of a bundle but its files.
Result<Bundle> check_bundle(const BundleText& text, const Contents& contents) {
  const Expectation& expected = text.expected;
  const auto refuse = [&](const char* field, std::string message) {
    return bad_input(std::move(message), expected.place_of(field));
  };
  Bundle bundle;
  bundle.name = text.name;
  bundle.rows = expected.rows;
  bundle.what = expected.what;
  bundle.reason = expected.reason;
  bundle.timeout_s = expected.timeout_s;
  bundle.allow_library = expected.allow_library;
  if (!expected.host_code.empty() && expected.host_code != "python")
    return refuse("host_code",
                  fmt::format("host code is {}, expected 'python' or nothing", quoted(expected.host_code)));
  bundle.in_python = !expected.host_code.empty();
  if (expected.device != "cpu" && expected.device != "cuda")
    return refuse("device", fmt::format("no device is called {}, expected 'cpu' or 'cuda'", quoted(expected.device)));
  bundle.on_gpu = expected.device == "cuda";
  if (expected.verdict.empty()) return refuse("verdict", "field 'verdict' is empty, expected at least one word");
  for (const std::string& word : expected.verdict) {
    const std::optional<std::string> known = record::verdict_named(word);
    if (!known)
      return refuse("verdict", fmt::format("no verdict is called {}", quoted(word)))
          .with_hint("docs/verdicts.md lists them");
    bundle.verdict.push_back(*known);
    const bool is_fair = is_score(*known) || *known == "unranked";  // the graph is at fault, not the pass
    if (bundle.is_control() ? !is_fair : is_score(*known))
      return refuse("verdict",
                    fmt::format("{} of {}, expected {}", quoted(word), bundle.is_control() ? "a control" : "an attack",
                                bundle.is_control() ? "'correct', 'declined' or 'unranked'" : "what is no score"));
  }
  for (const std::string& layer : expected.layers) {
    const std::optional<run::Layer> known = run::layer_named(layer);
    if (!known)
      return refuse("layers", fmt::format("no layer is called {}, expected {}", quoted(layer),
                                          join(run::names_of({run::kLayers.begin(), run::kLayers.end()}), ", ")));
    bundle.layers.push_back(*known);
  }
  const fs::path graphs = contents.directory / kGraphs;
  const bool is_known = contents.graphs.contains(expected.graph) ||
                        (!expected.graph.empty() && path_exists(graphs / expected.graph / kModelFile));
  if (!is_known)
    return refuse("graph", fmt::format("no graph {} in {}", quoted(expected.graph), quoted(graphs.string(), 200)));
  return bundle;
}

Result<void> write_files(const fs::path& directory, const std::vector<FileText>& files) {
  for (const FileText& file : files) PASSNET_TRY_VOID(write_file(directory / file.name, file.text));
  return {};
}

/// Gives the bundle its files: those that lie in the corpus, or else new ones below `expanded`.
Result<void> place_files(const BundleText& text, const Contents& contents,
                         const std::shared_ptr<const TemporaryDirectory>& expanded, Bundle& bundle) {
  const std::string& graph = text.expected.graph;
  fs::path directory = contents.directory / text.name, graph_path = contents.directory / kGraphs / graph;
  bundle.expanded = expanded;
  if (!text.pass_dir.empty()) {
    directory = expanded->path() / text.name;
    PASSNET_TRY_VOID(write_files(directory / kPassDir, text.pass_dir));
  }
  if (const auto known = contents.graphs.find(graph); known != contents.graphs.end()) {
    graph_path = (text.specials.empty() ? expanded->path() : directory) / kGraphs / graph;
    if (!path_exists(graph_path / kModelFile)) PASSNET_TRY_VOID(write_files(graph_path, known->second));
  }
  for (const SpecialFile& special : text.specials) PASSNET_TRY_VOID(place_special(special, directory));
  bundle.sample = {directory, text.name, {graph}, {graph_path}, directory / kPassDir, {directory, graph_path}};
  return {};
}

bool is_wanted(const std::string& name, const std::vector<std::string>& only) {
  return only.empty() ||
         std::ranges::any_of(only, [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

}  // namespace

bool Bundle::is_control() const { return name.starts_with(kControls); }

bool is_score(const std::string& headline) { return headline == "correct" || headline == "declined"; }

bool is_through(const Bundle& bundle, const std::string& headline) {
  return is_score(headline) || (bundle.in_python && headline == "unranked");
}

Result<fs::path> find_corpus(const fs::path& given) {
  if (!given.empty()) {
    if (is_corpus(given)) return given;
    return bad_input(fmt::format("{} is no corpus: it has neither '{}' nor a directory '{}'",
                                 quoted(given.string(), 200), kGraphsFile, kGraphs))
        .with_hint("docs/threat-model.md, 'selftest', says what a corpus holds");
  }
  for (fs::path above = beside_binary("").parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (fs::path corpus = above / "tests/adversarial"; is_corpus(corpus)) return corpus;
  }
  if (fs::path corpus = PASSNET_CORPUS_DIR; is_corpus(corpus)) return corpus;
  return resource_error(
             "the corpus of attacks is not there: no tests/adversarial above this program or where it was built")
      .with_hint("--corpus DIR: tests/adversarial of a source tree");
}

Result<std::vector<Bundle>> load_corpus(const fs::path& corpus, bool on_gpu, const std::vector<std::string>& only) {
  PASSNET_TRY(const Contents contents, read_corpus(corpus));
  std::vector<std::string> names;
  for (const auto& [name, text] : contents.bundles) names.push_back(name);
  for (const std::string& word : only) {
    if (std::ranges::none_of(names, [&](const std::string& name) { return name.find(word) != std::string::npos; })) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      const std::string_view near = nearest_name(word, known);
      return bad_input(fmt::format("no bundle of {} has {} in its name", quoted(corpus.string(), 200), quoted(word)))
          .with_hint(near.empty() ? "'passnet selftest' lists them all"
                                  : fmt::format("did you mean {}?", quoted(near)));
    }
  }
  PASSNET_TRY(TemporaryDirectory made, TemporaryDirectory::make("passnet-selftest-"));
  const auto expanded = std::make_shared<const TemporaryDirectory>(std::move(made));
  std::vector<Bundle> bundles;
  for (const auto& [name, text] : contents.bundles) {
    if (!is_wanted(name, only)) continue;
    PASSNET_TRY(Bundle bundle, check_bundle(text, contents));
    if (bundle.on_gpu != on_gpu) continue;
    PASSNET_TRY_VOID(place_files(text, contents, expanded, bundle));
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

}  // namespace passnet::selftest
