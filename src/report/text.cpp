#include "report/text.h"

namespace passnet::report {

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : visible(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string breakable(std::string_view name) {
  std::string out;
  for (const char c : escape_html(name)) {
    out += c;
    if (c == '/' || c == '_') out += "<wbr>";
  }
  return out;
}

}  // namespace passnet::report
