#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "report/html/rows.h"
#include "report/text.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

namespace {

std::string words_of(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list) words.push_back(word.get<std::string>());
  return join(words, ", ");
}

const char* tone_of_result(const std::string& result) {
  return result == "ok" ? "good" : result == "OTHER" ? "doubtful" : "bad";
}

/// A judge's verdict on a bundle; "-" where it did not run it.
std::string verdict_cell(const Json* bundle) {
  if (bundle == nullptr) return text_cell("-");
  const std::string result = bundle->at("result");
  return text_cell(fmt::format("<span class=\"verdict {}\">{}</span><small class=\"quiet\">{}</small>",
                               tone_of_result(result), escape_html(result == "ok" ? "caught" : result),
                               escape_html(bundle->at("found").at("verdict").get<std::string>())));
}

std::string accepted(std::string cell) {
  const size_t at = cell.find(">caught<");
  return at == std::string::npos ? cell : cell.replace(at, 8, ">accepted<");
}

std::string totals_of(const Json& selftest) {
  return fmt::format("{} of {} attacks caught, {} of {} controls accused", selftest.at("caught").get<int>(),
                     selftest.at("attacks").get<int>(), selftest.at("accused").get<int>(),
                     selftest.at("controls").get<int>());
}

std::string render_matrix(const std::vector<Attacks>& judges) {
  std::map<std::string, std::vector<const Json*>> found;
  for (size_t i = 0; i < judges.size(); ++i) {
    for (const Json& bundle : judges[i].selftest->at("bundles")) {
      auto& cells = found[bundle.at("bundle").get<std::string>()];
      cells.resize(judges.size());
      cells[i] = &bundle;
    }
  }
  report::Facts totals;
  std::string judge_heads;
  for (const Attacks& judge : judges) {
    totals.emplace_back(judge.judge, totals_of(*judge.selftest));
    judge_heads += fmt::format("<th scope=\"col\" class=\"text\" data-sort=\"text\">{}</th>", escape_html(judge.judge));
  }
  std::string rows;
  for (const auto& [name, cells] : found) {
    const Json& any = **std::ranges::find_if(cells, [](const Json* one) { return one != nullptr; });
    const bool control = any.at("control");
    rows += fmt::format("<tr id=\"{}\">", Slugs().of(name)) + text_cell(report::breakable(name), "entry") +
            text_cell(escape_html(any.value("what", "")), "reason") +
            text_cell(control ? "honest" : escape_html(words_of(any.at("expected")))) +
            text_cell(escape_html(words_of(any.value("layers", Json::array()))));
    for (const Json* cell : cells) rows += control ? accepted(verdict_cell(cell)) : verdict_cell(cell);
    rows += "</tr>\n";
  }
  return report::render_facts(totals) + render_search("bundle", found.size()) +
         "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\" class=\"text\" data-sort=\"text\">bundle</th><th "
         "scope=\"col\">what it does</th>"
         "<th scope=\"col\" class=\"text\" data-sort=\"text\">expected</th><th scope=\"col\" class=\"text\" "
         "data-sort=\"text\">layers</th>" +
         judge_heads + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

}  // namespace

Result<std::string> render_attacks(const std::vector<Attacks>& judges) {
  try {
    return "<h1>Attacks</h1>\n<p>Passes that try to get a score that they have not earned, honest ones beside them, "
           "and what each judge says.</p>\n" +
           render_matrix(judges) +
           "<h2>Try another judge</h2>\n<p><code>passnet selftest --out bundles</code> writes each bundle as a sample: "
           "a graph, a pass and its kernel. A judge that gives an attack a score lets it through. Its verdicts in the "
           "form of <code>passnet selftest --json</code> make a column here: <code>passnet site RUN --selftest "
           "NAME=FILE</code>.</p>\n";
  } catch (const Json::exception& problem) {
    return bad_input(fmt::format("found no result of 'passnet selftest --json', as {}", problem.what()));
  }
}

}  // namespace passnet::site
