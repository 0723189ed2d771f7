// Structs as JSON objects: one list of a struct's fields serves for writing and for reading.
// Heavy: include it in .cpp files only.
#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_fields.h"
#include "base/json/json_indirect.h"
#include "base/result.h"
#include "base/text/strings.h"

namespace passnet {

/// How a struct stands in JSON; a specialisation for each struct:
///   static constexpr std::string_view kName = "load";              // what messages call it
///   static void visit(auto& field, auto& it) {                     // its fields in the order they are written in
///     PASSNET_FIELDS(known, pairs)                                 // members that are always there, by their names
///     PASSNET_FIELDS_IF_SET(note)                                  // members that are left out where they are T{}
///     field("at", it.place);                                       // the same under another name
///     field.if_set("by", it.author);
///     field.may_lack("unit", it.unit);                             // always written, and may be lacking
///     field.or_null("why", it.why);                                // null where it is T{}; may be lacking
///     field.constant("format", "load");                            // written, and not read
///   }
template <class T>
struct JsonFields;
/// The specialisation of a struct that needs lists of members alone, within namespace passnet:
///   PASSNET_JSON_FIELDS(record::Load, "load", PASSNET_FIELDS(known, pairs) PASSNET_FIELDS_IF_SET(note))
#define PASSNET_JSON_FIELDS(Struct, name, ...)               \
  template <>                                                \
  struct JsonFields<Struct> {                                \
    static constexpr std::string_view kName = name;          \
    static void visit(auto& field, auto& it) { __VA_ARGS__ } \
  };
#define PASSNET_FIELDS(...) PASSNET_EXPAND(PASSNET_EACH(field, __VA_ARGS__))
#define PASSNET_FIELDS_IF_SET(...) PASSNET_EXPAND(PASSNET_EACH(field.if_set, __VA_ARGS__))
#define PASSNET_FIELDS_MAY_LACK(...) PASSNET_EXPAND(PASSNET_EACH(field.may_lack, __VA_ARGS__))
// A member under another name, and all fields of a member.
#define PASSNET_FIELD_AS(name, member) field(name, it.member);
#define PASSNET_FIELD_AS_IF_SET(name, member) field.if_set(name, it.member);
#define PASSNET_FIELDS_OF(member) JsonFields<std::remove_cvref_t<decltype(it.member)>>::visit(field, it.member);

// One call for each member: a macro that names itself by way of another one expands once in each rescan, 85 times here.
#define PASSNET_EACH(call, member, ...) \
  call(#member, it.member);             \
  __VA_OPT__(PASSNET_EACH_AGAIN PASSNET_PARENTHESES(call, __VA_ARGS__))
#define PASSNET_EACH_AGAIN() PASSNET_EACH
#define PASSNET_PARENTHESES ()
#define PASSNET_EXPAND(...) PASSNET_EXPAND_3(PASSNET_EXPAND_3(PASSNET_EXPAND_3(PASSNET_EXPAND_3(__VA_ARGS__))))
#define PASSNET_EXPAND_3(...) PASSNET_EXPAND_2(PASSNET_EXPAND_2(PASSNET_EXPAND_2(PASSNET_EXPAND_2(__VA_ARGS__))))
#define PASSNET_EXPAND_2(...) PASSNET_EXPAND_1(PASSNET_EXPAND_1(PASSNET_EXPAND_1(PASSNET_EXPAND_1(__VA_ARGS__))))
#define PASSNET_EXPAND_1(...) __VA_ARGS__

template <class T>
concept JsonStruct = requires {
  JsonFields<T>::kName;
};

/// How a value that is no struct stands in JSON: kExpected ("an integer"), kSeveral ("integers"), write, read (false:
/// another type, or it does not fit).
template <class T>
struct JsonForm;

template <>
struct JsonForm<std::string> {
  static constexpr std::string_view kExpected = "a string", kSeveral = "strings";
  static Json write(const std::string& value) { return valid_utf8(value); }
  static bool read(const Json& json, std::string& out) {
    return json.is_string() && (out = json.get<std::string>(), true);
  }
};

template <>
struct JsonForm<bool> {
  static constexpr std::string_view kExpected = "true or false", kSeveral = "truth values";
  static Json write(bool value) { return value; }
  static bool read(const Json& json, bool& out) { return json.is_boolean() && (out = json.get<bool>(), true); }
};

template <>
struct JsonForm<uint64_t> {
  static constexpr std::string_view kExpected = "an integer >= 0", kSeveral = "integers >= 0";
  static Json write(uint64_t value) { return value; }
  static bool read(const Json& json, uint64_t& out) {
    return json.is_number_unsigned() && (out = json.get<uint64_t>(), true);
  }
};

template <std::integral T>
struct JsonForm<T> {
  static constexpr std::string_view kExpected = "an integer", kSeveral = "integers";
  static Json write(T value) { return value; }
  static bool read(const Json& json, T& out) {
    if (!json.is_number_integer()) return false;
    const bool fits =
        json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>()) : std::in_range<T>(json.get<int64_t>());
    if (fits) out = json.get<T>();
    return fits;
  }
};

template <>
struct JsonForm<double> {
  static constexpr std::string_view kExpected = "a number", kSeveral = "numbers";
  static Json write(double value) { return number_json(value); }
  static bool read(const Json& json, double& out) {
    const std::optional<double> number = read_number(json);
    return number && (out = *number, true);
  }
};

/// A value with a format of its own, which its reader checks.
template <>
struct JsonForm<IndirectJson> {
  static constexpr std::string_view kExpected = "a value";
  static Json write(const IndirectJson& value) { return *value; }
  static bool read(const Json& json, IndirectJson& out) { return (out = json, true); }
};

template <class T>
struct JsonForm<std::map<std::string, T>> {
  static inline const std::string kExpected = fmt::format("an object of {}", JsonForm<T>::kSeveral);
  static Json write(const std::map<std::string, T>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[valid_utf8(name)] = JsonForm<T>::write(value);
    return json;
  }
  static bool read(const Json& json, std::map<std::string, T>& out) {
    if (!json.is_object()) return false;
    for (const auto& [name, value] : json.items()) {
      if (!JsonForm<T>::read(value, out[name])) return false;
    }
    return true;
  }
};

template <class T>
struct JsonForm<std::vector<T>> {
  static constexpr std::string_view kSeveral = "arrays";
  static inline const std::string kExpected = fmt::format("an array of {}", JsonForm<T>::kSeveral);
  static Json write(const std::vector<T>& values) {
    Json json = Json::array();
    for (const T& value : values) json.push_back(JsonForm<T>::write(value));
    return json;
  }
  static bool read(const Json& json, std::vector<T>& out) {
    if (!json.is_array()) return false;
    out.resize(json.size());
    for (size_t i = 0; i < json.size(); ++i) {
      if (!JsonForm<T>::read(json[i], out[i])) return false;
    }
    return true;
  }
};

template <JsonStruct T>
Json to_json_object(const T& value);
/// Errors: BadInput naming the struct, the field, what it holds and what was expected.
template <JsonStruct T>
Result<T> from_json_object(const Json& json);

template <JsonStruct T>
struct JsonForm<T> {
  static constexpr std::string_view kExpected = "an object", kSeveral = "objects";
  static Json write(const T& value) { return to_json_object(value); }
  static bool read(const Json& json, T& out) {
    Result<T> value = from_json_object<T>(json);
    return value && (out = std::move(*value), true);
  }
};

class FieldWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    object[key] = JsonForm<T>::write(value);
  }
  template <class T>
  void if_set(const char* key, const T& value) {
    if (value != T{}) (*this)(key, value);
  }
  template <class T>
  void if_set(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void may_lack(const char* key, const T& value) {
    (*this)(key, value);
  }
  template <class T>
  void or_null(const char* key, const T& value) {
    object[key] = value == T{} ? Json() : JsonForm<T>::write(value);
  }
  void constant(const char* key, const char* value) { object[key] = value; }

  Json object = Json::object();
};

/// Keeps the first error, after which reads do nothing.
class FieldReader {
 public:
  FieldReader(const Json& json, std::string_view what) : json_(json), what_(what) {
    if (!json.is_object()) error = bad_input(fmt::format("{}: expected an object, found {}", what_, describe(json)));
  }

  template <class T>
  void operator()(const char* key, T& out) {
    if (error) return;
    const auto found = json_.find(key);
    if (found != json_.end()) return read(key, *found, out);
    error = bad_input(fmt::format("{}: field '{}' is missing, expected {}", what_, key, JsonForm<T>::kExpected));
  }
  template <class T>
  void if_set(const char* key, T& out) {
    if (!error && json_.contains(key)) read(key, json_.at(key), out);
  }
  template <class T>
  void if_set(const char* key, std::optional<T>& out) {
    if (!error && json_.contains(key)) read(key, json_.at(key), out.emplace());
  }
  template <class T>
  void may_lack(const char* key, T& out) {
    if_set(key, out);
  }
  template <class T>
  void or_null(const char* key, T& out) {
    if (!error && json_.contains(key) && !json_.at(key).is_null()) read(key, json_.at(key), out);
  }
  void constant(const char*, const char*) {}

  /// "number '7'"
  static std::string describe(const Json& json) {
    return fmt::format("{} {}", json.type_name(), quoted(passnet::dump(json), 40));
  }

  std::optional<Error> error;

 private:
  template <class T>
  void refuse(const char* key, const Json& json) {
    error = bad_input(
        fmt::format("{}: field '{}': expected {}, found {}", what_, key, JsonForm<T>::kExpected, describe(json)));
  }
  template <class T>
  void read(const char* key, const Json& json, T& out) {
    if constexpr (JsonStruct<T>)
      take(from_json_object<T>(json), out);
    else if (!JsonForm<T>::read(json, out))
      refuse<T>(key, json);
  }
  template <JsonStruct T>
  void read(const char* key, const Json& json, std::vector<T>& out) {
    if (!json.is_array()) return refuse<std::vector<T>>(key, json);
    for (const Json& item : json) take(from_json_object<T>(item), out.emplace_back());
  }
  template <class T>
  void take(Result<T> read, T& out) {
    if (read)
      out = std::move(*read);
    else if (!error)
      error = std::move(read).error();
  }

  const Json& json_;
  std::string_view what_;
};

template <JsonStruct T>
Json to_json_object(const T& value) {
  FieldWriter field;
  JsonFields<T>::visit(field, value);
  return std::move(field.object);
}

template <JsonStruct T>
Result<T> from_json_object(const Json& json) {
  T value;
  FieldReader field(json, JsonFields<T>::kName);
  JsonFields<T>::visit(field, value);
  if (field.error) return std::move(*field.error);
  return value;
}

PASSNET_JSON_FIELDS(SourceLoc, "place", PASSNET_FIELDS(file, line, column))

/// An array of such objects. what: what messages call it.
template <JsonStruct T>
Result<std::vector<T>> from_json_list(const Json& json, std::string_view what) {
  if (!json.is_array())
    return bad_input(fmt::format("{}: expected an array of objects, found {}", what, FieldReader::describe(json)));
  std::vector<T> list;
  for (const Json& item : json) {
    PASSNET_TRY(list.emplace_back(), from_json_object<T>(item));
  }
  return list;
}

}  // namespace passnet
