// Structs from JSON text without a tree of values in between: several times faster than json_object.h, for text as that
// header writes it. Heavy: include it in .cpp files only.
#pragma once

#include <charconv>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_object.h"

namespace passnet {

/// Walks over compact JSON whose objects have their fields in the order of JsonFields. Whatever else it meets ends it,
/// also what JSON allows: who uses it then reads the text again by from_json_object(), which says what is wrong.
class DirectReader {
 public:
  explicit DirectReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// nullopt: the text is not as described.
  template <JsonStruct T>
  static std::optional<T> read(std::string_view text) {
    DirectReader reader(text);
    T value;
    reader.take(value);
    if (!reader.fine_ || reader.at_ != reader.end_) return std::nullopt;
    return value;
  }

  template <class T>
  void operator()(const char* key, T& out) {
    if (!take_key(key)) return fail();
    take(out);
  }
  template <class T>
  void if_set(const char* key, T& out) {
    if (take_key(key)) take(out);
  }
  template <class T>
  void if_set(const char* key, std::optional<T>& out) {
    if (take_key(key)) take(out.emplace());
  }
  void constant(const char* key, const char*) {
    std::string ignored;
    (*this)(key, ignored);
  }

 private:
  void fail() { fine_ = false, at_ = end_; }
  bool next_is(char c) const { return at_ != end_ && *at_ == c; }
  bool accept(char c) { return next_is(c) && (++at_, true); }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  bool accept(std::string_view word) {
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  /// `"key":`, behind a comma but for the first of an object.
  bool take_key(std::string_view key) {
    const char* const begin = at_;
    if ((first_ || accept(',')) && accept('"') && accept(key) && accept("\":")) {
      first_ = false;
      return true;
    }
    at_ = begin;
    return false;
  }

  template <JsonStruct T>
  void take(T& out) {
    expect('{');
    first_ = true;
    JsonFields<T>::visit(*this, out);
    expect('}');
    first_ = false;
  }

  template <class T>
  void take(std::vector<T>& out) {
    expect('[');
    if (accept(']')) return;
    do {
      take(out.emplace_back());
    } while (accept(','));
    expect(']');
  }

  template <class T>
  void take(std::map<std::string, T>& out) {
    expect('{');
    if (accept('}')) return;
    do {
      std::string name;
      take(name);
      expect(':');
      if (!fine_ || out.contains(name)) return fail();
      take(out[name]);
    } while (accept(','));
    expect('}');
  }

  void take(std::string& out) {
    expect('"');
    const char* const begin = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && *at_ >= ' ') ++at_;  // bytes of other characters are negative
    if (accept('"')) {
      out.assign(begin, at_ - 1);
    } else {
      take_unusual(begin, out);
    }
  }

  /// With escapes and characters beyond ASCII: as the library reads it.
  void take_unusual(const char* begin, std::string& out) {
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ == '\\' && ++at_ == end_) return fail();
    }
    if (!accept('"')) return fail();
    const Json read = try_parse_json({begin - 1, static_cast<size_t>(at_ - begin + 1)});
    if (!JsonForm<std::string>::read(read, out)) fail();
  }

  void take(bool& out) {
    out = accept("true");
    if (!out && !accept("false")) fail();
  }

  template <std::integral T>
  void take(T& out) {
    const char* const begin = at_;
    take_digits_after_sign();
    if (fine_) convert(begin, out);
  }

  void take(double& out) {
    if (next_is('"')) return take_form(out);
    const char* const begin = at_;
    take_digits_after_sign();
    if (accept('.')) take_digits();
    if (accept('e') || accept('E')) {
      if (!accept('-')) accept('+');
      take_digits();
    }
    if (fine_) convert(begin, out);
  }

  template <class Number>
  void convert(const char* begin, Number& out) {
    const auto [end, problem] = std::from_chars(begin, at_, out);
    if (end != at_ || problem != std::errc()) fail();
  }

  void take_digits_after_sign() {
    accept('-');
    if (!accept('0')) take_digits();
  }
  void take_digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    if (at_ == begin) fail();
  }

  /// Reads a value of another type that JSON holds as text, by its JsonForm.
  template <class T>
  void take_form(T& out) {
    std::string text;
    take(text);
    if (fine_ && !JsonForm<T>::read(Json(text), out)) fail();
  }
  template <class T>
  requires std::is_enum_v<T>
  void take(T& out) { take_form(out); }

  const char* at_;
  const char* end_;
  bool first_ = false;
  bool fine_ = true;
};

}  // namespace passnet
