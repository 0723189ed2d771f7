// passnet help TERM: a word of the glossary.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/strings.h"
#include "commands.h"
#include "glossary.h"
#include "print.h"

namespace passnet::cli {

namespace {

/// A line of the glossary: "- **Candidate**: the graph with passes applied …".
struct Entry {
  std::vector<std::string> terms;  // in lower case, those in brackets too
  std::string text;                // without marks of Markdown
};

std::string plain(std::string text) {
  text = std::regex_replace(text, std::regex(R"( \(\[[^\]]*\]\([^)]*\)\))"), "");
  text = std::regex_replace(text, std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
  return std::regex_replace(text, std::regex(R"(\*+)"), "");
}

std::vector<Entry> entries() {
  static const std::regex kTerm(R"(\*\*([^*]+)\*\*(?: \(([^)]*)\))?)");
  std::vector<Entry> all;
  for (const std::string_view line : split(kGlossary, '\n')) {
    if (!line.starts_with("- **")) continue;
    Entry entry{{}, plain(std::string(line.substr(2)))};
    const std::string head(line.substr(0, line.find(": ")));
    for (std::sregex_iterator term(head.begin(), head.end(), kTerm), end; term != end; ++term) {
      entry.terms.push_back(CLI::detail::to_lower((*term)[1].str()));
      const std::string others = (*term)[2].str();
      for (const std::string_view other : split(others, ',')) {
        if (!trim(other).empty()) entry.terms.push_back(CLI::detail::to_lower(std::string(trim(other))));
      }
    }
    all.push_back(std::move(entry));
  }
  return all;
}

void explain(const std::string& given) {
  const std::string wanted = CLI::detail::to_lower(given);
  const std::vector<Entry> all = entries();
  std::vector<std::string_view> terms;
  std::string found;
  for (const Entry& entry : all) {
    terms.insert(terms.end(), entry.terms.begin(), entry.terms.end());
    if (std::ranges::find(entry.terms, wanted) != entry.terms.end()) found += entry.text + "\n";
  }
  if (found.empty()) {
    const std::string near(nearest_name(wanted, terms));
    throw CLI::ValidationError(
        "TERM", quoted(given, 100) + " is not in the glossary" +
                    (near.empty() ? "; 'passnet help' lists its terms" : ", did you mean '" + near + "'?"));
  }
  print_result(found);
}

void list_terms() {
  std::string text = "Terms of 'passnet help TERM':\n";
  for (const Entry& entry : entries()) text += "  " + entry.terms.front() + "\n";
  print_result(text + "'passnet COMMAND --help' explains a command.\n");
}

}  // namespace

void add_help(CLI::App& app, int& exit_code) {
  auto term = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "explain a term of the glossary");
  command->add_option("TERM", *term, "the term, such as \"a/a control\"; default: list all terms");
  command->footer("Example:  passnet help declined");
  command->callback([term, &exit_code] {
    exit_code = kOk;
    term->empty() ? list_terms() : explain(join(*term, " "));
  });
}

}  // namespace passnet::cli
