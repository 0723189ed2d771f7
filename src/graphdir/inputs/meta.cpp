#include "graphdir/inputs/meta.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text/strings.h"
#include "fx/print.h"
#include "fx/syntax/lexer.h"
#include "fx/syntax/line_counter.h"

namespace passnet::graphdir {

int64_t TensorMeta::numel() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

namespace {

using ir::Arg;
using ir::ArgKind;

enum Attribute : uint32_t { kName, kOriginalName, kShape, kDType, kDevice, kMean, kStd, kData, kMinVal, kMaxVal };
constexpr std::string_view kAttributes[] = {"name", "original_name", "shape", "dtype",   "device",
                                            "mean", "std",           "data",  "min_val", "max_val"};
// So that sizes in bytes and strides never overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

class MetaReader {
 public:
  MetaReader(fx::Lexer& lexer, const std::string& file) : lexer_(lexer), lines_(file, lexer.at()) {}
  std::vector<TensorMeta> read();

 private:
  void record(TensorMeta& meta);
  void attribute(TensorMeta& meta);
  void assign(TensorMeta& meta, Attribute which);
  void finish(TensorMeta& meta, const char* at);
  void take_data(TensorMeta& meta);
  ir::DType dtype();
  std::vector<int64_t> sizes();
  std::optional<double> number_or_none();
  Arg scalar();
  Arg named_scalar(std::string_view name);
  void list();
  template <class Element>
  void items(std::string_view what, const Element& element);

  fx::Lexer& lexer_;
  fx::LineCounter lines_;
  std::set<std::string, std::less<>> classes_;
  // Of the record being read:
  uint32_t seen_ = 0;  // a bit per Attribute
  bool has_data_ = false;
  std::vector<Arg> data_;  // Bool, Int or Float
  std::vector<const char*> data_at_;
  const char* data_start_ = nullptr;
};

// file := class*
std::vector<TensorMeta> MetaReader::read() {
  std::vector<TensorMeta> records;
  for (;;) {
    const uint32_t column = lexer_.next_line();
    if (lexer_.at_end()) return records;
    if (column > 0)
      lexer_.fail(lexer_.at(), fmt::format("unexpected indentation: found column {}, expected 1", column + 1));
    else
      record(records.emplace_back());
  }
}

// class := "class" NAME ["(" ")"] ":" NEWLINE (INDENT attribute NEWLINE)+
void MetaReader::record(TensorMeta& meta) {
  seen_ = 0;
  has_data_ = false;
  if (!lexer_.accept_word("class")) return lexer_.expected("'class'");
  const char* at = lexer_.at();
  meta.class_name = lexer_.name();
  if (meta.class_name.empty()) return lexer_.expected("the name of a class");
  meta.at = lines_.locate(at);
  if (!classes_.insert(meta.class_name).second) {
    return lexer_.fail(at, fmt::format("class {} stands here a second time", quoted(meta.class_name, 200)));
  }
  lexer_.skip();
  if (lexer_.accept('(') && !lexer_.expect(')', "')'")) return;
  if (!lexer_.expect(':', "':'")) return;
  if (!lexer_.at_statement_end()) return lexer_.expected("the end of the line");
  const uint32_t column = lexer_.next_line();
  if (column == 0) return lexer_.expected("an indented attribute, as name = \"x\"");
  for (;;) {
    attribute(meta);
    if (lexer_.failed()) return;
    if (!lexer_.at_statement_end()) return lexer_.expected("the end of the line");
    if (lexer_.peek() == ';') {
      lexer_.take(1);
      continue;
    }
    const char* line_end = lexer_.at();
    const uint32_t next = lexer_.next_line();
    if (next == 0) {
      finish(meta, at);
      if (!lexer_.failed()) lexer_.jump(line_end);
      return;
    }
    if (next != column) {
      return lexer_.fail(lexer_.at(),
                         fmt::format("unexpected indentation: found column {}, expected {}", next + 1, column + 1));
    }
  }
}

// items := "[" [element ("," element)* [","]] "]" | "(" … ")"; formatters put a long list in brackets
template <class Element>
void MetaReader::items(std::string_view what, const Element& element) {
  const char open = lexer_.peek();
  if (open != '[' && open != '(') return lexer_.expected(what);
  const fx::Lexer::Nest nest(lexer_);
  lexer_.open_bracket();
  if (open == '[' || lexer_.peek() != '[') return lexer_.list(open == '[' ? ']' : ')', element);
  items(what, element);
  lexer_.close_bracket(')');
}

// attribute := NAME "=" value; formatters put long values in brackets
void MetaReader::attribute(TensorMeta& meta) {
  const char* at = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name.empty()) return lexer_.expected("the name of an attribute");
  const auto* row = std::ranges::find(kAttributes, name);
  if (row == std::end(kAttributes)) {
    const std::string_view nearest = name.size() > 64 ? "" : nearest_name(name, kAttributes);
    return lexer_.fail(
        at, fmt::format("unknown attribute {}, expected one of {}", quoted(name), fmt::join(kAttributes, ", ")),
        nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest)));
  }
  const auto which = static_cast<Attribute>(row - std::begin(kAttributes));
  if (seen_ & (1u << which)) return lexer_.fail(at, fmt::format("attribute {} is given twice", quoted(name)));
  seen_ |= 1u << which;
  lexer_.skip();
  if (!lexer_.expect('=', "'='")) return;
  const bool bracket = lexer_.peek() == '(' && which != kShape && which != kData;
  if (bracket) lexer_.open_bracket();
  assign(meta, which);
  if (bracket) lexer_.close_bracket(')');
}

void MetaReader::assign(TensorMeta& meta, Attribute which) {
  switch (which) {
    case kName: meta.name = lexer_.expect_string(); return;
    case kOriginalName: meta.original_name = lexer_.expect_string(); return;
    case kShape: meta.shape = sizes(); return;
    case kDType: meta.dtype = dtype(); return;
    case kDevice: meta.device = lexer_.expect_string(); return;
    case kMean:
      meta.has_mean = true;
      meta.mean = number_or_none();
      return;
    case kStd:
      meta.has_std = true;
      meta.stddev = number_or_none();
      return;
    case kData:
      if (!lexer_.accept_word("None")) list();
      return;
    case kMinVal: meta.min_value = number_or_none(); return;
    case kMaxVal: meta.max_value = number_or_none(); return;
  }
}

void MetaReader::finish(TensorMeta& meta, const char* at) {
  for (Attribute needed : {kName, kShape, kDType}) {
    if (seen_ & (1u << needed)) continue;
    return lexer_.fail(
        at, fmt::format("class {} has no attribute '{}'", quoted(meta.class_name, 200), kAttributes[needed]));
  }
  if (has_data_) take_data(meta);
}

// `data` once shape and dtype are known, whatever their order in the file.
void MetaReader::take_data(TensorMeta& meta) {
  int64_t expected = 1;
  for (int64_t size : meta.shape) expected *= size;
  if (expected != static_cast<int64_t>(data_.size())) {
    return lexer_.fail(data_start_, fmt::format("data holds {} values, expected {} for shape [{}]", data_.size(),
                                                expected, fmt::join(meta.shape, ", ")));
  }
  if (ir::is_floating(meta.dtype)) {
    auto& values = meta.float_data.emplace();
    for (const Arg& value : data_) {
      values.push_back(value.kind == ArgKind::Float  ? value.real
                       : value.kind == ArgKind::Bool ? static_cast<double>(value.boolean)
                                                     : static_cast<double>(value.integer));
    }
    return;
  }
  if (!ir::is_integral(meta.dtype) && meta.dtype != ir::DType::Bool) {
    return lexer_.fail(data_start_, fmt::format("data of dtype torch.{} cannot be read", ir::name(meta.dtype)), {},
                       Error::Kind::Unsupported);
  }
  auto& values = meta.int_data.emplace();
  for (size_t i = 0; i < data_.size(); ++i) {
    if (data_[i].kind == ArgKind::Float) {
      return lexer_.fail(data_at_[i], fmt::format("found the float {} in data, expected values of dtype torch.{}",
                                                  fx::print_float(data_[i].real), ir::name(meta.dtype)));
    }
    const int64_t value = data_[i].kind == ArgKind::Bool ? data_[i].boolean : data_[i].integer;
    values.push_back(meta.dtype == ir::DType::Bool ? value != 0 : value);
  }
}

ir::DType MetaReader::dtype() {
  const char* at = lexer_.at();
  const std::string name = lexer_.expect_string();
  if (lexer_.failed()) return {};
  if (const auto found = ir::parse_dtype(name)) return *found;
  static constexpr std::string_view kKnown[] = {
      "torch.float32", "torch.float64", "torch.float16", "torch.bfloat16", "torch.int8",      "torch.int16",
      "torch.int32",   "torch.int64",   "torch.uint8",   "torch.bool",     "torch.complex64", "torch.complex128"};
  const std::string_view nearest = name.size() > 64 ? "" : nearest_name(name, kKnown);
  lexer_.fail(at, fmt::format("unknown dtype {}, expected one of {}", quoted(name), fmt::join(kKnown, ", ")),
              nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest)));
  return {};
}

// sizes := items of ints, none negative
std::vector<int64_t> MetaReader::sizes() {
  std::vector<int64_t> shape;
  const char* start = lexer_.at();
  int64_t elements = 1;
  items("a list of sizes", [&] {
    const char* at = lexer_.at();
    const Arg size = scalar();
    if (lexer_.failed()) return;
    if (size.kind != ArgKind::Int || size.integer < 0) {
      const std::string_view found = trim({at, static_cast<size_t>(lexer_.at() - at)});
      return lexer_.fail(at, fmt::format("found {}, expected a size: an int of 0 or more", quoted(found)));
    }
    if (size.integer > 0 && elements > kMaxElements / size.integer) {
      return lexer_.fail(start, fmt::format("the shape has too many elements, expected at most {}", kMaxElements));
    }
    elements *= std::max<int64_t>(size.integer, 1);
    shape.push_back(size.integer);
  });
  return shape;
}

std::optional<double> MetaReader::number_or_none() {
  if (lexer_.accept_word("None")) return std::nullopt;
  const char* at = lexer_.at();
  const Arg value = scalar();
  if (value.kind == ArgKind::Float) return value.real;
  if (value.kind == ArgKind::Bool) lexer_.fail(at, "found a bool, expected a number or None");
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value.integer < -kExact || value.integer > kExact) {
    lexer_.fail(at, fmt::format("found {}, expected a magnitude of at most 2**53", value.integer));
  }
  return static_cast<double>(value.integer);
}

// scalar := ["-"] (int | float | "inf" | "nan" | "float" "(" string ")") | "True" | "False"
Arg MetaReader::scalar() {
  const bool negative = lexer_.accept('-');
  if (lexer_.at_number()) return lexer_.number(negative);
  const char* at = lexer_.at();
  const std::string_view name = lexer_.name();
  const Arg value = named_scalar(name);
  if (value.kind == ArgKind::None || (negative && value.kind == ArgKind::Bool)) {
    lexer_.jump(at);
    lexer_.expected("a number");
    return value;
  }
  lexer_.skip();
  return negative ? Arg::of_float(-value.real) : value;
}

// None when the name is no scalar.
Arg MetaReader::named_scalar(std::string_view name) {
  if (name == "True" || name == "False") return Arg::of_bool(name == "True");
  if (name == "inf") return Arg::of_float(std::numeric_limits<double>::infinity());
  if (name == "nan") return Arg::of_float(std::numeric_limits<double>::quiet_NaN());
  if (name != "float" || !lexer_.accept('(') || !lexer_.at_quote()) return {};
  const std::string word = lexer_.expect_string();
  if (!lexer_.expect(')', "')'")) return {};
  if (word == "nan") return Arg::of_float(std::numeric_limits<double>::quiet_NaN());
  if (word == "inf") return Arg::of_float(std::numeric_limits<double>::infinity());
  if (word == "-inf") return Arg::of_float(-std::numeric_limits<double>::infinity());
  return {};
}

// list := items of scalars
void MetaReader::list() {
  has_data_ = true;
  data_.clear();
  data_at_.clear();
  data_start_ = lexer_.at();
  items("a list or None", [&] {
    data_at_.push_back(lexer_.at());
    data_.push_back(scalar());
  });
}

std::string number_text(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return fx::print_float(value);
}

std::string optional_text(const std::optional<double>& value) { return value ? number_text(*value) : "None"; }

std::string data_text(const TensorMeta& meta) {
  std::vector<std::string> parts;
  if (meta.float_data) {
    for (double value : *meta.float_data) parts.push_back(number_text(value));
  } else if (meta.dtype == ir::DType::Bool) {
    for (int64_t value : *meta.int_data) parts.emplace_back(value ? "True" : "False");
  } else {
    for (int64_t value : *meta.int_data) parts.push_back(std::to_string(value));
  }
  return fmt::format("[{}]", join(parts, ", "));
}

// Bounds of integer tensors are written as ints, as the extractor does.
std::string bound_text(const TensorMeta& meta, double value) {
  const bool whole = !ir::is_floating(meta.dtype) && std::abs(value) <= 0x1p53 && std::trunc(value) == value &&
                     !(value == 0 && std::signbit(value));
  return whole ? std::to_string(static_cast<int64_t>(value)) : number_text(value);
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_number(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || same_number(*a, *b));
}

}  // namespace

bool equal(const TensorMeta& a, const TensorMeta& b) {
  const bool same_data = a.int_data == b.int_data && a.float_data.has_value() == b.float_data.has_value() &&
                         (!a.float_data || std::ranges::equal(*a.float_data, *b.float_data,
                                                              [](double x, double y) { return same_number(x, y); }));
  return same_data && a.class_name == b.class_name && a.name == b.name && a.original_name == b.original_name &&
         a.shape == b.shape && a.dtype == b.dtype && a.device == b.device && a.has_mean == b.has_mean &&
         a.has_std == b.has_std && same_number(a.mean, b.mean) && same_number(a.stddev, b.stddev) &&
         same_number(a.min_value, b.min_value) && same_number(a.max_value, b.max_value);
}

Result<std::vector<TensorMeta>> parse_meta(const std::string& file, std::string_view text) {
  const std::string copy(text);
  fx::Lexer lexer(file, copy, copy.starts_with("\xef\xbb\xbf") ? 3 : 0);
  std::vector<TensorMeta> records;
  if (!lexer.failed()) records = MetaReader(lexer, file).read();
  if (lexer.failed()) return lexer.take_error();
  return records;
}

std::string print_meta(const std::vector<TensorMeta>& records) {
  std::string out;
  const auto line = [&](std::string_view name, std::string_view value) {
    out += fmt::format("    {} = {}\n", name, value);
  };
  for (const TensorMeta& meta : records) {
    out += fmt::format("{}class {}:\n", out.empty() ? "" : "\n\n", meta.class_name);
    line("name", fx::print_string(meta.name));
    if (!meta.original_name.empty()) line("original_name", fx::print_string(meta.original_name));
    line("shape", fmt::format("[{}]", fmt::join(meta.shape, ", ")));
    line("dtype", fmt::format("\"torch.{}\"", ir::name(meta.dtype)));
    if (!meta.device.empty()) line("device", fx::print_string(meta.device));
    if (meta.has_mean) line("mean", optional_text(meta.mean));
    if (meta.has_std) line("std", optional_text(meta.stddev));
    if (meta.int_data || meta.float_data) line("data", data_text(meta));
    if (meta.max_value) line("max_val", bound_text(meta, *meta.max_value));
    if (meta.min_value) line("min_val", bound_text(meta, *meta.min_value));
  }
  return out;
}

}  // namespace passnet::graphdir
