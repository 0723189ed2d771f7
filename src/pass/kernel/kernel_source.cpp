#include "pass/kernel/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/text/strings.h"

namespace passnet::pass {
namespace {

constexpr std::array<std::string_view, 7> kIncludes = {
    "<passnet/kernel.h>", "\"passnet/kernel.h\"", "<stdint.h>", "<stddef.h>", "<cstdint>", "<cstddef>", "<stdbool.h>"};
constexpr std::array<std::string_view, 13> kDirectives = {
    "define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "error", "warning", ""};
constexpr std::array<std::string_view, 5> kPragmas = {"once", "GCC ivdep", "GCC unroll", "omp simd", "unroll"};
constexpr std::array<std::string_view, 3> kAssembly = {"asm", "__asm", "__asm__"};
constexpr std::array<std::string_view, 4> kRefusedWords = {"_Pragma", "__has_include", "__has_include_next",
                                                           "__has_embed"};

/// Template of the header that calls the kernels of a pass.
constexpr std::string_view kLauncher = "Launcher";
constexpr std::string_view kBlanks = " \t\n";

/// The time at which a kernel is compiled: it would be another one each time. NVRTC does not let them be defined anew.
constexpr std::array<std::string_view, 3> kTimes = {"__DATE__", "__TIME__", "__TIMESTAMP__"};

template <size_t n>
bool contains(const std::array<std::string_view, n>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}
bool word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

constexpr std::array<std::string_view, 5> kRawPrefixes = {"R", "LR", "uR", "UR", "u8R"};
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr size_t kLongestDelimiter = 16;  // of a raw string

/// Walks over comments, literals, words and directives, as the preprocessor does after joining continued
/// lines. What compilers read in different ways, or only by rules that kernels have no use for, is refused: control
/// characters, raw strings with continued lines, suffixes of strings, letters beyond ASCII in names.
class Scanner {
 public:
  Scanner(const std::string& file, std::string text) : file_(file), original_(std::move(text)) {
    if (original_.starts_with(kByteOrderMark)) original_.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');
    for (size_t i = 0; i < original_.size(); ++i) {
      if (const size_t end = continued_line(i); end > i) {
        i = end - 1;
      } else {
        text_ += original_[i];
        origin_.push_back(i);
      }
    }
  }

  Result<KernelSource> scan() {
    PASSNET_TRY_VOID(check_characters());
    joins_words_ = text_.find("##") != std::string::npos || text_.find("%:%:") != std::string::npos;
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (skip_comment()) {
      } else if (line_start && (c == '#' || text_.compare(at_, 2, "%:") == 0)) {
        PASSNET_TRY_VOID(directive());
      } else {
        line_start = false;
        note_brace(c);
        PASSNET_TRY_VOID(token());
      }
    }
    result_.text = std::move(original_);
    return std::move(result_);
  }

 private:
  /// Behind the backslash at `i` and the end of its line, where g++ lets blanks stand between them; else `i`.
  size_t continued_line(size_t i) const {
    if (original_[i] != '\\') return i;
    const size_t end = original_.find_first_not_of(" \t\r", i + 1);
    return end != std::string::npos && original_[end] == '\n' ? end + 1 : i;
  }

  Result<void> check_characters() const {
    for (size_t i = 0; i < original_.size(); ++i) {
      const auto c = static_cast<unsigned char>(original_[i]);
      if (c == '\n' || c == '\t' || (c >= ' ' && c != 0x7f)) continue;
      if (c == '\r' && i + 1 < original_.size() && original_[i + 1] == '\n') continue;
      return bad_pass(fmt::format("control character {:#04x} is not allowed in a kernel", c),
                      locate(file_, original_, i));
    }
    return {};
  }

  SourceLoc here(size_t at) const {
    return locate(file_, original_, at < origin_.size() ? origin_[at] : original_.size());
  }

  bool skip_comment() {
    if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string::npos ? text_.size() : end + 2;
    } else {
      return false;
    }
    return true;
  }

  Result<void> skip_literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_, text_.size());
    if (at_ == text_.size() || text_[at_] == '\n') return {};  // unterminated: the next line may be a directive
    ++at_;
    return check_suffix();
  }

  Result<void> skip_raw_string(size_t start) {  // at_: at the quote of R"delimiter(…)delimiter"; start: of its prefix
    const size_t open = text_.find_first_of("()\\ \t\n\"", at_ + 1);
    if (open == std::string::npos || text_[open] != '(' || open - at_ - 1 > kLongestDelimiter)
      return bad_pass("a raw string without a delimiter and '('", here(start));
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const size_t found = text_.find(close, open);
    if (found == std::string::npos) return bad_pass("a raw string without its end", here(start));
    at_ = found + close.size();
    const bool whole = origin_[at_ - 1] - origin_[start] == at_ - 1 - start;
    if (!whole || (in_directive_ && text_.substr(start, at_ - start).find('\n') != std::string::npos))
      return bad_pass("a raw string may not hold a continued line, nor stand in a directive of several lines",
                      here(start));
    return check_suffix();
  }

  /// Whether what follows a literal belongs to it depends on the macros that are defined.
  Result<void> check_suffix() const {
    if (at_ >= text_.size() || !word_part(text_[at_])) return {};
    return bad_pass("a string or character may not be followed by a letter, a digit or '_'", here(at_))
        .with_hint("put a blank between them");
  }

  void skip_number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_], next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
      const bool sign =
          (c == '+' || c == '-') && std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      if (!word_part(c) && c != '.' && !sign && !(c == '\'' && word_part(next))) break;
    }
  }

  std::string_view word() {
    const size_t start = at_;
    while (at_ < text_.size() && word_part(text_[at_])) ++at_;
    return std::string_view(text_).substr(start, at_ - start);
  }

  Result<void> token() {
    const char c = text_[at_];
    const bool fraction =
        c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]));
    if (c == '"' || c == '\'') {
      return skip_literal(c);
    } else if (fraction || std::isdigit(static_cast<unsigned char>(c))) {
      skip_number();
    } else if (word_start(c)) {
      const size_t start = at_;
      return check_word(word(), start);
    } else if (c == '$') {
      // Only names that the compiler makes hold one; see cubin_check.cpp.
      return bad_pass("'$' is not allowed in a kernel", here(at_));
    } else if (c == '\\' || static_cast<unsigned char>(c) >= 0x80) {
      // Letters of names, written as they are or as \u00e9: R"( behind one begins no raw string.
      return bad_pass("outside of strings and comments a kernel is written in ASCII, without '\\'", here(at_));
    } else {
      // The head of a template or a namespace ends here.
      if (c == '{' || c == ';' || c == '(') specializes_ = opens_namespace_ = false;
      ++at_;
    }
    return {};
  }

  Result<void> check_word(std::string_view text, size_t start) {
    if (at_ < text_.size() && text_[at_] == '"' && contains(kRawPrefixes, text)) return skip_raw_string(start);
    if (contains(kAssembly, text)) {
      return bad_pass(fmt::format("{} is not allowed in a kernel", quoted(text)), here(start))
          .with_hint("passnet::vec compiles to the vector instructions of the machine");
    }
    if (contains(kRefusedWords, text))
      return bad_pass(fmt::format("{} is not allowed in a kernel", quoted(text)), here(start));
    PASSNET_TRY_VOID(check_time(text, start));
    PASSNET_TRY_VOID(check_owner(text, start));
    if (after_kernel_word_) {
      result_.kernels.push_back({std::string(text), here(start), 0, 0});
      in_kernel_ = true;
      depth_ = 0;
    }
    after_kernel_word_ = text == "PASSNET_KERNEL";
    if (after_kernel_word_) kernel_begin_ = origin_[start];
    return {};
  }

  /// Refuses to reopen the namespace of passnet/kernel.h, whose variables the check of the compiled kernel trusts, and to
  /// specialize its templates, which call the kernel. Macros are not expanded here, so words that would need that are
  /// refused in them.
  Result<void> check_owner(std::string_view text, size_t start) {
    const auto belongs = [&](std::string_view what) {
      return bad_pass(fmt::format("{} belongs to passnet/kernel.h", what), here(start)).with_hint("use another name");
    };
    if (text == kLauncher || (joins_words_ && kLauncher.starts_with(text)))
      return belongs(fmt::format("the name '{}'", kLauncher));
    const bool is_own = text == "passnet";
    if (opens_namespace_ && (is_own || macros_.contains(text)))
      return belongs(is_own ? "namespace 'passnet'"
                            : fmt::format("a namespace named by the macro '{}' may be one that", text));
    if (text == "detail" && qualified_) return belongs("namespace 'passnet::detail'");
    if (is_own && names_class_) return belongs("a class of namespace 'passnet'");
    if (specializes_ && qualified_ && (is_next("<") || is_next("(")))
      return belongs(fmt::format("'passnet::{}'", text));
    if (text == "template") specializes_ = is_next("<") && is_next(">", text_.find('<', at_) + 1);
    if (in_directive_ && (text == "namespace" || (text == "template" && specializes_)))
      return bad_pass(fmt::format("'{}' is not allowed in a macro of a kernel", text), here(start));
    if (text == "namespace") opens_namespace_ = !after_using_;
    after_using_ = text == "using";
    names_class_ = text == "struct" || text == "class" || text == "union";
    qualified_ = (is_own || qualified_) && is_next("::");
    return {};
  }

  /// Tells whether the text follows, after blanks.
  bool is_next(std::string_view text) const { return is_next(text, at_); }
  bool is_next(std::string_view text, size_t at) const {
    const size_t next = text_.find_first_not_of(kBlanks, at);
    return next != std::string::npos && text_.compare(next, text.size(), text) == 0;
  }

  /// Macros that join words make a name of its first letters and what follows.
  Result<void> check_time(std::string_view text, size_t start) const {
    for (const std::string_view time : kTimes) {
      if (text == time)
        return bad_pass(fmt::format("{} is not allowed in a kernel: it is another one in each build", quoted(text)),
                        here(start));
      if (joins_words_ && time.starts_with(text))
        return bad_pass(fmt::format("{} in a text with '##' could become '{}', which is not allowed in a kernel",
                                    quoted(text), time),
                        here(start))
            .with_hint("give it another name");
    }
    return {};
  }

  /// Follows a kernel's braces to the end of its body.
  void note_brace(char c) {
    if (!in_kernel_) return;
    if (text_.compare(at_, 2, "<%") == 0 || text_.compare(at_, 2, "%>") == 0) in_kernel_ = false;
    depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c != '}' || depth_ != 0) return;
    in_kernel_ = false;
    result_.kernels.back().begin = kernel_begin_;
    result_.kernels.back().end = origin_[at_] + 1;
  }

  Result<void> directive() {
    const size_t start = at_;
    at_ += text_[at_] == '#' ? 1 : 2;
    skip_blanks();
    const std::string name(word());
    if (name == "include") return include(start);
    if (name == "pragma") return pragma(start);
    in_kernel_ = false;  // what a condition leaves out, or a macro adds, may hold braces
    if (!contains(kDirectives, name)) {
      return bad_pass(fmt::format("'#{}' is not allowed in a kernel", name), here(start));
    }
    in_directive_ = true;
    skip_blanks();
    if (name == "define") {
      const size_t end =
          std::find_if_not(text_.begin() + static_cast<ptrdiff_t>(at_), text_.end(), word_part) - text_.begin();
      macros_.insert(text_.substr(at_, end - at_));
    }
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else if (!skip_comment())
        PASSNET_TRY_VOID(token());
    }
    in_directive_ = false;
    after_kernel_word_ = false;
    return {};
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_.compare(at_, 2, "/*") == 0)) {
      if (!skip_comment()) ++at_;
    }
  }

  /// The rest of the line without a comment.
  std::string rest() {
    skip_blanks();
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '\n' && text_.compare(at_, 2, "//") != 0 &&
           text_.compare(at_, 2, "/*") != 0)
      ++at_;
    return std::string(trim(std::string_view(text_).substr(start, at_ - start)));
  }

  Result<void> include(size_t start) {
    const std::string target = rest();
    if (!contains(kIncludes, target)) {
      return bad_pass(fmt::format("{} cannot be included in a kernel, only <passnet/kernel.h>", quoted(target)),
                      here(start))
          .with_hint(
              "passnet/kernel.h gives integer and half types, vectors, exp, tanh, gelu and more, and row "
              "reductions");
    }
    for (size_t i = origin_[start]; i <= origin_[at_ - 1]; ++i) {
      if (original_[i] != '\n') original_[i] = ' ';
    }
    return {};
  }

  Result<void> pragma(size_t start) {
    const std::string text = rest();
    const bool known =
        text.find_first_of("\"'\\") == std::string::npos &&
        std::any_of(kPragmas.begin(), kPragmas.end(), [&](std::string_view p) { return text.starts_with(p); });
    if (known) return {};
    return bad_pass(fmt::format("'#pragma {}' is not allowed in a kernel", text), here(start))
        .with_hint("allowed: once, GCC ivdep, GCC unroll, omp simd, unroll");
  }

  const std::string& file_;
  std::string original_;
  std::string text_;            // continued lines joined
  std::vector<size_t> origin_;  // of each byte of text_ in original_
  size_t at_ = 0;
  bool joins_words_ = false;
  bool in_directive_ = false;
  bool in_kernel_ = false;
  size_t kernel_begin_ = 0;  // in original_
  int depth_ = 0;            // of its braces
  bool after_kernel_word_ = false;
  bool after_using_ = false;
  bool opens_namespace_ = false;  // in the head of one
  bool specializes_ = false;      // in the head of a template without parameters, before its own
  bool names_class_ = false;      // after `struct`, `class`, `union`
  bool qualified_ = false;        // after `passnet::`, and names that follow it
  std::set<std::string, std::less<>> macros_;
  KernelSource result_;
};

/// Works in every compiler of kernels: NVRTC has no __builtin_nan.
std::string literal(double value) {
  if (std::isnan(value)) return "__builtin_bit_cast(double, 0x7ff8000000000000ull)";
  if (std::isinf(value))
    return value > 0 ? "__builtin_bit_cast(double, 0x7ff0000000000000ull)"
                     : "__builtin_bit_cast(double, 0xfff0000000000000ull)";
  return fmt::format("{:a}", value);
}

struct ConstantText {
  const std::string& name;
  std::string operator()(int64_t value) const {
    if (value == std::numeric_limits<int64_t>::min())
      return fmt::format("constexpr int64_t {} = -9223372036854775807 - 1;\n", name);
    return fmt::format("constexpr int64_t {} = {};\n", name, value);
  }
  std::string operator()(double value) const {
    return fmt::format("constexpr double {} = {};\n", name, literal(value));
  }
  std::string operator()(bool value) const { return fmt::format("constexpr bool {} = {};\n", name, value); }
  std::string operator()(ir::DType value) const { return fmt::format("using {} = {};\n", name, element_type(value)); }
  std::string operator()(const auto&) const { return {}; }  // refused before
};

std::string cpu_exports(const std::string& kernel) {
  return fmt::format(
      "using passnet_launcher = passnet::detail::Launcher<&{0}>;\n"
      "__attribute__((section(\".passnet.parameters\"), used)) static constexpr auto passnet_parameter_text "
      "= passnet_launcher::parameters();\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const char* passnet_parameters_{0}() {{ return "
      "passnet_parameter_text.text; }}\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void passnet_run_{0}(const passnet_launch* "
      "launch, int64_t first, int64_t last) {{\n"
      "  passnet_launcher::run(launch, first, last);\n}}\n",
      kernel);
}

std::string gpu_exports(const std::string& kernel) {
  return fmt::format(
      "__device__ const passnet::detail::ParameterText passnet_parameters_{0} =\n"
      "    passnet::detail::parameter_text(static_cast<decltype({0})*>(nullptr));\n",
      kernel);
}

/// The text with blanks for all kernels but one; lines stay where they are.
std::string without_others(const KernelSource& source, const std::string& kernel) {
  std::string text = source.text;
  for (const KernelDefinition& other : source.kernels) {
    if (other.name == kernel) continue;
    for (size_t i = other.begin; i < other.end; ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  }
  return text;
}

bool is_constant_name(std::string_view name) {
  return is_identifier(name) && !name.starts_with("passnet") && !name.starts_with("__");
}

}  // namespace

std::string_view element_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::Float32: return "float";
    case ir::DType::Float64: return "double";
    case ir::DType::Float16: return "passnet::float16";
    case ir::DType::BFloat16: return "passnet::bfloat16";
    case ir::DType::Int8: return "int8_t";
    case ir::DType::Int16: return "int16_t";
    case ir::DType::Int32: return "int32_t";
    case ir::DType::Int64: return "int64_t";
    case ir::DType::UInt8: return "uint8_t";
    case ir::DType::Bool: return "bool";
    default: return "";
  }
}

Result<KernelSource> parse_kernel_source(const std::string& file, std::string text) {
  return Scanner(file, std::move(text)).scan();
}

Result<std::string> render_unit(const std::string& file, const KernelSource& source, const std::string& kernel,
                                const std::vector<NamedConstant>& constants, Target target) {
  // A word made by pasting tokens escapes the scanner, but not these macros.
  std::string unit = fmt::format(
      "#include <passnet/kernel.h>\n#define asm passnet_refuses_asm\n#define __asm asm\n"
      "#define __asm__ asm\n#line 1 \"{}\"\n",
      kLauncherFile);
  for (const NamedConstant& constant : constants) {
    if (!is_constant_name(constant.name)) {
      return bad_pass(fmt::format("{} cannot be the name of a constant of kernel '{}'", quoted(constant.name), kernel),
                      SourceLoc{file, 0, 0});
    }
    if (std::holds_alternative<std::string>(constant.value) || std::holds_alternative<std::monostate>(constant.value)) {
      return bad_pass(
          fmt::format("constant '{}' of kernel '{}': expected an int, float, bool or dtype", constant.name, kernel),
          SourceLoc{file, 0, 0});
    }
    if (const auto* dtype = std::get_if<ir::DType>(&constant.value); dtype && element_type(*dtype).empty()) {
      return bad_pass(fmt::format("constant '{}' of kernel '{}' is torch.{}, which kernels do not have", constant.name,
                                  kernel, ir::name(*dtype)),
                      SourceLoc{file, 0, 0});
    }
    unit += std::visit(ConstantText{constant.name}, constant.value);
  }
  unit +=
      fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"{}\"\n", kKernelFile, without_others(source, kernel), kLauncherFile);
  unit += target == Target::Gpu ? gpu_exports(kernel) : cpu_exports(kernel);
  return unit;
}

}  // namespace passnet::pass
