#include "report/html/texts.h"

#include <fmt/format.h>

#include <iterator>

#include "report/text.h"

namespace passnet::report {

std::string HtmlTexts::link(const std::string& label, const std::string& title, const std::string& text) {
  if (text.empty()) return {};
  auto place = places_.find(text);
  if (place == places_.end()) {
    if (bytes_ + text.size() > kMostBytes)
      return fmt::format("<span class=\"quiet\">{}: in the files beside the records</span>", escape_html(label));
    bytes_ += text.size();
    place = places_.emplace(text, shown_.size()).first;
    shown_.push_back({title, text});
  }
  return fmt::format("<a href=\"#t{}\">{}</a>", place->second, escape_html(label));
}

std::string HtmlTexts::render() const {
  if (shown_.empty()) return {};
  std::string out =
      "<h2 id=\"sources\">Sources</h2>\n<p class=\"quiet\">As they were when the graphs were evaluated. Equal texts "
      "are shown once.</p>\n";
  for (size_t i = 0; i < shown_.size(); ++i) {
    fmt::format_to(std::back_inserter(out),
                   "<details class=\"text\"><summary>{}</summary><pre id=\"t{}\">{}</pre></details>\n",
                   escape_html(shown_[i].title), i, escape_html(shown_[i].text));
  }
  return out;
}

}  // namespace passnet::report
