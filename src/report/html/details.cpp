#include "report/html/details.h"

#include <fmt/format.h>

#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

/// Times of what is not correct are no result, so they are not drawn.
std::string trials_html(const GraphEntry& entry) {
  const record::RunRecord& record = *entry.record;
  if (entry.speed == Speed::None && !entry.row.disturbed) return {};
  const TrialsDrawing drawing = render_trials_svg(record.reference, record.candidate);
  if (drawing.svg.empty()) return {};
  std::string caption = fmt::format(
      "Trials in the order taken, from 0 to {:.4g} us: <b class=\"before\">before</b> and <b "
      "class=\"after\">after</b>; each column "
      "is a pair of blocks that were timed beside each other.",
      drawing.top_us);
  if (drawing.beyond > 0)
    caption += fmt::format(" Marks at the upper edge: {} trial{} beyond it, the longest {:.4g} us.", drawing.beyond,
                           drawing.beyond == 1 ? "" : "s", drawing.longest_us);
  if (entry.row.disturbed) caption += " Disturbed: these times are no measurement.";
  return fmt::format("<figure{}>{}<figcaption>{}</figcaption></figure>\n",
                     entry.row.disturbed ? " class=\"disturbed\"" : "", drawing.svg, caption);
}

/// Ratios of the same calls timed in other ways, as facts.
void add_other_ratios(const GraphEntry& entry, Facts& facts) {
  if (entry.speed == Speed::None) return;
  for (const Row::OtherRatio& other : entry.row.others)
    facts.emplace_back(record::describe(other.track), ratio_text(other.ratio));
}

std::string links_html(const GraphEntry& entry, const SampleSources* sources, HtmlTexts& texts) {
  if (sources == nullptr) return {};
  std::string out;
  const auto add = [&](const std::string& label, const std::string& title, const std::string& text) {
    if (std::string link = texts.link(label, title, text); !link.empty()) out += link + " ";
  };
  for (const PassFile& file : sources->passes) add(file.name, entry.row.sample + ": " + file.name, file.text);
  if (const auto found = sources->graphs.find(entry.row.graph); found != sources->graphs.end()) {
    const std::string name = entry.row.sample + "/" + entry.row.graph;
    add("graph before", name + ": graph before", found->second.before);
    add("graph after", name + ": graph after", found->second.after);
    add("launches", name + ": launches", found->second.launches);
  }
  return out.empty() ? "" : "<p class=\"links\">" + out + "</p>\n";
}

/// What narrow screens leave out of the line, and the rest.
Facts facts_in_details(const GraphEntry& entry) {
  const Row& row = entry.row;
  Facts facts;
  if (entry.speed != Speed::None) facts.emplace_back("noise", fmt::format("{:.0f} %", 100 * row.noise));
  facts.emplace_back("right from t", rung_text(row));
  facts.emplace_back("max error", error_text(row));
  facts.emplace_back("sites replaced", sites_text(row));
  add_other_ratios(entry, facts);
  if (std::string load = load_text(entry.record->load); !load.empty()) facts.emplace_back("machine", std::move(load));
  facts.insert(facts.end(), entry.facts.begin(), entry.facts.end());
  return facts;
}

std::string problem_html(const std::string& problem) {
  return problem.empty() ? "" : fmt::format("<pre class=\"problem\">{}</pre>\n", escape_html(problem));
}

/// Passes that declined or missed in a graph that is right all the same.
std::string diagnoses_html(const GraphEntry& entry) {
  std::string out;
  for (const record::PassOutcome& pass : entry.record->passes) {
    if (pass.diagnosis.empty() || entry.row.problem.find(pass.diagnosis) != std::string::npos) continue;
    out += fmt::format("<pre>pass &#39;{}&#39;: {}</pre>\n", escape_html(pass.pass), escape_html(pass.diagnosis));
  }
  return out;
}

}  // namespace

std::string render_details(const GraphEntry& entry, const SampleSources* sources, HtmlTexts& texts) {
  return "<div class=\"more\">\n" + problem_html(entry.row.problem) + diagnoses_html(entry) + trials_html(entry) +
         links_html(entry, sources, texts) + render_facts(facts_in_details(entry)) + "</div>\n";
}

}  // namespace passnet::report
