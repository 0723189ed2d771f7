#include "base/result.h"

#include <fmt/format.h>

#include <cstring>

#include "base/place.h"

namespace passnet {

namespace {
Error make(Error::Kind kind, std::string message, std::optional<SourceLoc> at = std::nullopt) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  error.at = std::move(at);
  return error;
}
}  // namespace

Error bad_input(std::string message, std::optional<SourceLoc> at) {
  return make(Error::Kind::BadInput, std::move(message), std::move(at));
}
Error bad_pass(std::string message, std::optional<SourceLoc> at) {
  return make(Error::Kind::BadPass, std::move(message), std::move(at));
}
Error unsupported(std::string message, std::optional<SourceLoc> at) {
  return make(Error::Kind::Unsupported, std::move(message), std::move(at));
}
Error resource_error(std::string message) { return make(Error::Kind::Resource, std::move(message)); }

Error io_error(const std::string& what, const std::string& path, int errno_value) {
  return make(Error::Kind::Io, fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno_value)));
}

const char* to_string(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::BadInput: return "bad-input";
    case Error::Kind::BadPass: return "bad-pass";
    case Error::Kind::Unsupported: return "unsupported";
    case Error::Kind::Resource: return "resource";
    case Error::Kind::Io: return "io";
  }
  return "unknown";
}

std::string failure_kind(const Error& error) { return error.failure.empty() ? to_string(error.kind) : error.failure; }

std::string to_string(const SourceLoc& at) {
  return at.line == 0 ? at.file : fmt::format("{}:{}:{}", at.file, at.line, at.column);
}

std::string to_string(const Error& error) {
  std::string text = error.at ? to_string(*error.at) + ": " : "";
  text += "error: " + error.message;
  if (!error.hint.empty()) text += "\nhint: " + error.hint;
  for (const std::string& note : error.notes) text += "\nnote: " + note;
  return text;
}

}  // namespace passnet
