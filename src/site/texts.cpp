#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/strings.h"
#include "report/text.h"
#include "site/code.h"
#include "site/drawing.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

namespace {

/// Drawings of a page at most: graphs of a task differ mostly in sizes.
constexpr size_t kMostDrawings = 4;
/// Bytes of code on a page at most.
constexpr size_t kMostCode = size_t{1} << 20;

/// Texts in the order of their first use, each with all that use it.
class Texts {
 public:
  void add(const std::string& text, const std::string& use) {
    if (text.empty()) return;
    const auto found = std::ranges::find(shown_, text, &Shown::text);
    if (found == shown_.end())
      shown_.push_back({text, {use}});
    else
      found->uses.push_back(use);
  }
  struct Shown {
    std::string text;
    std::vector<std::string> uses;
    /// "a, b and 3 more"
    std::string named() const {
      constexpr size_t kNames = 3;
      std::vector<std::string> first(uses.begin(),
                                     uses.begin() + static_cast<std::ptrdiff_t>(std::min(uses.size(), kNames)));
      std::string text_of = join(first, ", ");
      if (uses.size() > kNames) text_of += fmt::format(" and {} more", uses.size() - kNames);
      return text_of;
    }
  };
  const std::vector<Shown>& shown() const { return shown_; }

 private:
  std::vector<Shown> shown_;
};

std::string render_code(const Texts& texts, Language language, size_t& left, const char* prefix = "") {
  std::string out;
  for (const Texts::Shown& one : texts.shown()) {
    const std::string title = prefix + one.named();
    if (one.text.size() > left) {
      out += fmt::format("<p class=\"quiet\">{}: in the files beside the records</p>\n", escape_html(title));
      continue;
    }
    left -= one.text.size();
    out += fmt::format("<details class=\"text\"><summary>{}</summary><pre>{}</pre></details>\n", escape_html(title),
                       highlight(one.text, language));
  }
  return out;
}

/// The graph of each name as it was evaluated, from the first entry that kept it.
Texts models_of(const Task& task, const std::map<size_t, report::SampleSources>& sources) {
  Texts models;
  for (const Graph& graph : task.graphs) {
    for (const auto& [entry, of_entry] : sources) {
      const auto found = of_entry.graphs.find(graph.name);
      if (found == of_entry.graphs.end() || found->second.before.empty()) continue;
      models.add(found->second.before, graph.name);
      break;
    }
  }
  return models;
}

std::string render_drawings(const Texts& models) {
  Texts drawings;
  for (const Texts::Shown& one : models.shown()) {
    if (drawings.shown().size() > kMostDrawings) break;
    drawings.add(render_drawing(one.text), one.named());
  }
  std::string out;
  for (const Texts::Shown& one : drawings.shown()) {
    out += fmt::format(
        "<figure><div class=\"drawing\" tabindex=\"0\" role=\"group\" aria-label=\"graph\">{}</div><figcaption>{}: "
        "inputs have round ends; weights are left "
        "out.</figcaption></figure>\n",
        one.text, escape_html(one.named()));
  }
  return out;
}

}  // namespace

std::string render_sources(const Board& board, const Task& task,
                           const std::map<size_t, report::SampleSources>& sources) {
  size_t left = kMostCode;
  const Texts models = models_of(task, sources);
  std::string out;
  if (!models.shown().empty())
    out += "<h2 id=\"graph\">Graph</h2>\n" + render_drawings(models) +
           render_code(models, Language::Python, left, "model.py of ");
  std::map<std::string, Texts> files;
  Texts after;
  for (const auto& [entry, of_entry] : sources) {
    const std::string& name = board.entries[entry].name;
    for (const report::PassFile& file : of_entry.passes) files[file.name].add(file.text, name);
    for (const auto& [graph, texts] : of_entry.graphs) after.add(texts.after, name + ": " + graph);
  }
  if (!files.empty()) out += "<h2 id=\"code\">Code</h2>\n<p class=\"quiet\">Equal texts are shown once.</p>\n";
  for (const auto& [file, texts] : files) out += render_code(texts, language_of(file), left, (file + ", by ").c_str());
  return out + render_code(after, Language::Python, left, "graph after passes, ");
}

}  // namespace passnet::site
