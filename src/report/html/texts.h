// The sources at the end of the page: each text once, however many graphs share it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace passnet::report {

/// Collects texts while rows are rendered, then renders them.
class HtmlTexts {
 public:
  /// A link to a text, "<a href=…>label</a>"; the text itself comes with the first link to it. Texts that would make
  /// the page larger than a browser opens at once are named, not shown. title: of its first use. "" for an empty text.
  std::string link(const std::string& label, const std::string& title, const std::string& text);
  /// All texts that were linked, as a section; "" for none.
  std::string render() const;

  /// Of all texts together.
  static constexpr size_t kMostBytes = size_t{3} << 20;

 private:
  struct Shown {
    std::string title, text;
  };
  std::vector<Shown> shown_;
  std::unordered_map<std::string, size_t> places_;  // by text
  size_t bytes_ = 0;
};

}  // namespace passnet::report
