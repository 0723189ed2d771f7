// The frame of each page, and parts that pages share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "report/speed.h"
#include "site/board.h"

namespace passnet::site {

/// A page: its path below the site, and its HTML.
struct Page {
  std::string path, html;
};

struct Frame {
  std::string path;                       // "tasks/gpt2_gelu.html"
  std::string title;                      // of the window; escaped here
  bool history = false, attacks = false;  // pages that not each site has
  uint64_t version = 0;                   // SiteRequest::version
};
/// The whole page around a body of HTML. Files of the site alone are named, so that it works from a disk and from any
/// host.
std::string render_page(const Frame& frame, const std::string& body);

/// "../" or "": from a page to the root of the site.
std::string root_of(const std::string& path);

/// "<b class=faster>2.31x</b><small>2.25 to 2.38</small>"; "-" for a ratio of 0.
std::string ratio_html(double ratio, const record::Interval& interval);
/// The class of the style sheet and the word for a ratio: "faster", "same", "slower".
const char* css_of(double ratio, const record::Interval& interval);
/// "41 %"; "-" for 0.
std::string percent_text(double share);
/// The title of the column "of limit".
inline constexpr const char* kLimitTitle =
    "share of the machine's limit: the larger of the least times to move and to compute what the graph must, "
    "of the time it takes";
/// "41 %<small>memory</small>"
std::string limit_html(double share, record::Bound bound);
/// "12.3"; "-" for 0.
std::string microseconds_text(double us);

struct Heading {
  const char* text;
  const char* title = "";  // shown when a pointer rests on it; empty: nothing
  bool is_number = true;
};
/// The head of a table whose columns are sorted by a click. Cells have their keys in data-k.
std::string render_head(const std::vector<Heading>& headings);
std::string number_cell(double key, bool present, const std::string& html);
std::string text_cell(const std::string& html, std::string_view css = "");

/// Data of a page for its script: an element of that id. Nothing in it can end the element.
std::string script_json(const char* id, const Json& json);
std::string counted_entries(const Board& board);
/// What an interval says of a speed.
report::Speed speed_of(const record::Interval& interval);

/// A search field for the rows of the table that follows. what: "task"
std::string render_search(const std::string& what, size_t count);

std::string_view site_style();
std::string_view site_script();

}  // namespace passnet::site
