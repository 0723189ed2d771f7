#include "pass/kernel/ptx_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/strings.h"

namespace passnet::pass {
namespace {

/// Instructions, by their name before the first dot.
constexpr std::string_view kInstructions[] = {"alloca", "brkpt", "griddepcontrol", "nanosleep", "pmevent", "trap"};
/// Registers, by how their names begin.
constexpr std::string_view kRegisters[] = {"%clock", "%globaltimer", "%pm", "%envreg"};

bool word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

/// One word after the other; comments, strings and punctuation are passed over.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    while (at_ < text_.size() && !word_part(text_[at_])) skip();
    const size_t start = at_;
    while (at_ < text_.size() && word_part(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// Passes over "(…)", the result of a function.
  void skip_result() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ < text_.size() && text_[at_] == '(') at_ = std::min(text_.find(')', at_), text_.size());
  }

 private:
  void skip() {
    if (text_.substr(at_).starts_with("//"))
      at_ = text_.find('\n', at_);
    else if (text_.substr(at_).starts_with("/*"))
      at_ = text_.find("*/", at_ + 2);
    else if (text_[at_] == '"')
      at_ = text_.find('"', at_ + 1);
    at_ = at_ >= text_.size() ? text_.size() : at_ + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
};

Error refuse(const std::string& kernel, const char* what, std::string_view name) {
  return bad_pass(fmt::format("kernel '{}' {} {}, which kernels do not have", kernel, what, quoted(name, 60)))
      .with_hint("kernels compute on their arguments; passnet/kernel.h gives what they need for that");
}

}  // namespace

Result<void> check_ptx(std::string_view ptx, const std::string& kernel) {
  Words words(ptx);
  bool external = false;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (external && word == ".func") {
      words.skip_result();
      return refuse(kernel, "calls", words.next());
    }
    external = word == ".extern";
    const auto starts = [&](std::string_view name) { return word.starts_with(name); };
    if (std::any_of(std::begin(kRegisters), std::end(kRegisters), starts)) return refuse(kernel, "reads", word);
    const std::string_view name = word.substr(0, word.find('.'));
    if (std::find(std::begin(kInstructions), std::end(kInstructions), name) != std::end(kInstructions))
      return refuse(kernel, "holds the instruction", name);
  }
  return {};
}

}  // namespace passnet::pass
