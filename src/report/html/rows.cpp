#include "report/html/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/text/strings.h"
#include "report/html/details.h"
#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

const char* css_of(Tone tone) {
  return tone == Tone::Good ? "good" : tone == Tone::Doubtful ? "doubtful" : tone == Tone::Bad ? "bad" : "neutral";
}

/// A number to sort by; what has none comes last in ascending order.
std::string sort_key(double value, bool present) {
  return present && std::isfinite(value) ? fmt::format("{:.6g}", value) : "1e300";
}

std::string number_cell(const char* css, double key, bool present, const std::string& content) {
  return fmt::format("<span class=\"num {}\" data-k=\"{}\">{}</span>", css, sort_key(key, present),
                     present ? content : "-");
}

std::string times_cell(const char* css, const record::Stats& us, bool shown) {
  return number_cell(css, us.median, shown,
                     fmt::format("{:.4g}<small>{:.4g} to {:.4g}</small>", us.median, us.q1, us.q3));
}

/// What fits in the place of a speedup that there is none of.
std::string reason_of(const GraphEntry& entry) {
  if (!entry.row.problem.empty()) return first_line(entry.row.problem);
  if (entry.row.disturbed) return "disturbed by other processes, not measured";
  return entry.row.timed ? "" : "not timed";
}

std::string speed_cells(const GraphEntry& entry) {
  const Row& row = entry.row;
  if (entry.speed == Speed::None)
    return fmt::format("<span class=\"reason\" data-k=\"1e300\">{}</span>", escape_html(reason_of(entry)));
  return number_cell("ratio", row.ratio, true,
                     fmt::format("<b class=\"{}\">{}</b><small>{}</small>", css_of(entry.speed), speedup_text(row),
                                 interval_text(row))) +
         fmt::format("<span class=\"bar\">{}</span>", render_ratio_svg(row.ratio, row.interval, entry.speed)) +
         times_cell("before", row.reference_us, true) + times_cell("after", row.candidate_us, true);
}

/// The words that a filter by verdict offers: the verdict, and for what is right what was found of its speed.
std::vector<std::string> verdict_words(const GraphEntry& entry) {
  std::vector<std::string> words{entry.row.headline};
  if (entry.speed != Speed::None) words.emplace_back(to_string(entry.speed));
  if (entry.row.disturbed) words.emplace_back("disturbed");
  return words;
}

/// All that a search looks at, in small letters.
std::string searched_text(const GraphEntry& entry) {
  std::set<std::string> types;
  for (const record::OutputCheck& output : entry.record->outputs) types.insert(output.expected_dtype);
  std::string text = entry.row.sample + " " + entry.row.graph;
  for (const std::string& word : verdict_words(entry)) text += " " + word;
  for (const std::string& type : types) text += " " + type;
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

std::string render_entry(const GraphEntry& entry, size_t sample, const Sources& sources, HtmlTexts& texts) {
  const Row& row = entry.row;
  std::string out = fmt::format(
      "<details class=\"g\" id=\"{}\" data-t=\"{}\" data-v=\"|{}|\" data-s=\"{}\"><summary><span class=\"name\" "
      "data-k=\"{}\">"
      "<i>{}/</i>{}</span><span class=\"verdict {}\" data-k=\"{}\">{}{}</span>",
      entry.id, escape_html(searched_text(entry)), escape_html(join(verdict_words(entry), "|")), sample,
      escape_html(row.name), breakable(row.sample), breakable(row.graph), css_of(row.tone), escape_html(row.headline),
      escape_html(row.headline),
      entry.speed == Speed::Faster || entry.speed == Speed::Slower
          ? fmt::format("<small>{}</small>", to_string(entry.speed))
          : "");
  const bool timed = entry.speed != Speed::None;
  out += speed_cells(entry);
  out += number_cell("noise", row.noise, timed,
                     fmt::format("<span class=\"{}\">{:.0f} %</span>", row.noisy ? "doubtful" : "", 100 * row.noise));
  const std::string rung = rung_text(row);
  out += number_cell("rung", row.verdict.passes_from, rung != "-", rung);
  out += number_cell("error", row.max_abs_diff, row.compared, error_text(row));
  out += number_cell("sites", row.sites, true, sites_text(row));
  const auto found = sources.find(row.sample);
  return out + "</summary>\n" + render_details(entry, found == sources.end() ? nullptr : &found->second, texts) +
         "</details>\n";
}

std::string summary_of(const SampleGroup& group) {
  size_t correct = 0;
  std::map<Speed, size_t> speeds;
  for (const GraphEntry& entry : group.entries) {
    correct += entry.row.verdict.correct_at(record::kCorrectT);
    ++speeds[entry.speed];
  }
  std::string text = fmt::format("{} of {} correct", correct, group.entries.size());
  for (const Speed speed : {Speed::Faster, Speed::Same, Speed::Slower}) {
    if (speeds[speed] > 0) text += fmt::format(", {} {}", speeds[speed], to_string(speed));
  }
  return text;
}

std::string options_html(const std::map<std::string, size_t>& counts) {
  std::string out;
  for (const auto& [word, count] : counts)
    out += fmt::format("<option value=\"{0}\">{0} ({1})</option>", escape_html(word), count);
  return out;
}

/// Shown by the script alone: without it they would do nothing.
std::string render_filters(const std::vector<SampleGroup>& groups) {
  std::map<std::string, size_t> verdicts;
  std::string samples;
  size_t total = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    total += groups[i].entries.size();
    for (const GraphEntry& entry : groups[i].entries) {
      for (const std::string& word : verdict_words(entry)) ++verdicts[word];
    }
    samples += fmt::format("<option value=\"{}\">{}</option>", i, escape_html(groups[i].sample));
  }
  std::string out =
      "<form id=\"filters\" hidden><label>Search <input type=\"search\" name=\"text\" placeholder=\"name, float16, "
      "wrong …\"></label>"
      "<label>Verdict <select name=\"verdict\"><option value=\"\">all</option>" +
      options_html(verdicts) + "</select></label>";
  if (groups.size() > 1) {
    out +=
        "<label>Sample <select name=\"sample\"><option value=\"\">all</option>" + samples +
        "</select></label><label class=\"check\"><input type=\"checkbox\" name=\"grouped\" checked> by sample</label>";
  }
  return out + fmt::format("<output aria-live=\"polite\">{}</output></form>\n", counted(total, "graph"));
}

bool is_hash(const std::string& value) {
  return value.size() == 64 && value.find_first_not_of("0123456789abcdef") == std::string::npos;
}

constexpr const char* kHead =
    "<div class=\"head\"><span class=\"name\" data-sort=\"text\">graph</span><span class=\"verdict\" "
    "data-sort=\"text\">verdict</span>"
    "<span class=\"num ratio\" data-sort=\"number\">speedup</span><span class=\"bar\">1/8x to 8x</span>"
    "<span class=\"num before\" data-sort=\"number\">before us</span><span class=\"num after\" "
    "data-sort=\"number\">after us</span>"
    "<span class=\"num noise\" data-sort=\"number\" title=\"distance of the quartiles, of the median\">noise</span>"
    "<span class=\"num rung\" data-sort=\"number\" title=\"the strictest tolerance at which the graph is right\">from "
    "t</span>"
    "<span class=\"num error\" data-sort=\"number\">max error</span><span class=\"num sites\" "
    "data-sort=\"number\" title=\"replaced, of found where the plan declined some\">sites</span></div>\n";

}  // namespace

std::vector<SampleGroup> group_entries(std::vector<GraphEntry> entries) {
  std::vector<SampleGroup> groups;
  std::map<std::string, size_t> places;
  for (GraphEntry& entry : entries) {
    const auto [place, is_new] = places.try_emplace(entry.row.sample, groups.size());
    if (is_new) groups.push_back({entry.row.sample, {}});
    groups[place->second].entries.push_back(std::move(entry));
  }
  for (SampleGroup& group : groups)
    std::ranges::stable_sort(group.entries, {}, [](const GraphEntry& entry) { return place_of(entry.row); });
  const auto failed = [](const SampleGroup& group) { return place_of(group.entries.front().row).class_ == 0; };
  std::stable_partition(groups.begin(), groups.end(), failed);
  return groups;
}

std::string render_groups(const std::vector<SampleGroup>& groups, const Sources& sources, HtmlTexts& texts) {
  std::string out = render_filters(groups) + "<div id=\"graphs\">\n" + kHead;
  for (size_t i = 0; i < groups.size(); ++i) {
    out += "<section>";
    if (groups.size() > 1) {
      out += fmt::format("<h3>{} <small>{}</small></h3>", breakable(groups[i].sample), summary_of(groups[i]));
    }
    out += "\n";
    for (const GraphEntry& entry : groups[i].entries) out += render_entry(entry, i, sources, texts);
    out += "</section>\n";
  }
  return out + "</div>\n";
}

std::string render_facts(const Facts& facts) {
  std::string told, hashes;
  for (const auto& [name, value] : facts) {
    fmt::format_to(std::back_inserter(is_hash(value) ? hashes : told), "<dt>{}</dt><dd>{}</dd>", escape_html(name),
                   escape_html(value));
  }
  const auto list = [](const std::string& items) {
    return items.empty() ? "" : "<dl class=\"facts\">" + items + "</dl>\n";
  };
  if (hashes.empty()) return list(told);
  return list(told) + "<details class=\"text\"><summary>SHA-256 of files</summary>" + list(hashes) + "</details>\n";
}

}  // namespace passnet::report
