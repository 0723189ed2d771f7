// Errors as values. `Result<T>` holds a value or an `Error`; dropping one is a compiler warning.
// An Error says who must act (Kind), where (SourceLoc), what was found and what was expected (message),
// and what to do about it (hint). What a request to a worker gives instead of its answer is an Error too, with a name
// of its own for records (failure). Our own broken invariants are not Errors: see base/check.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace passnet {

/// A place in a text the user gave us. line and column count from 1; 0 means "the whole file".
struct SourceLoc {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;  // in bytes
  bool operator==(const SourceLoc&) const = default;
};

struct Error {
  /// Who must act.
  enum class Kind {
    BadInput,     // the user: a graph, meta, list or flag is wrong
    BadPass,      // the pass author: pattern, plan or kernel is wrong
    Unsupported,  // us: a known gap
    Resource,     // the machine: memory, disk, time, a missing tool
    Io,           // the machine: a file cannot be read or written
  };

  Kind kind = Kind::BadInput;
  std::string message;             // lower case, no full stop: "expected X, found 'Y'"
  std::optional<SourceLoc> at;     // where in the input
  std::string hint;                // what to do; may be empty
  std::vector<std::string> notes;  // outer context, innermost first: "while loading pass 'x'"
  std::string failure;       // what records call it where `kind` does not say enough: "crash", "timeout", "no-match"
  bool worker_lost = false;  // the worker that was asked is gone
  bool retry = false;        // in fresh workers the same may succeed: the GPU's memory was full, or a call to it failed
  /// The code of a CPU kernel: bytes from where the object of that launch was loaded.
  struct Code {
    size_t list = 0, launch = 0;
    uint64_t offset = 0;
  };
  std::optional<Code> code;  // where it happened

  // By value: `error = std::move(error).with_hint(…)` must not assign an error to itself.
  Error with_note(std::string note) && {
    notes.push_back(std::move(note));
    return std::move(*this);
  }
  Error with_hint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
  }
  Error with_failure(std::string name) && {
    failure = std::move(name);
    return std::move(*this);
  }
};

Error bad_input(std::string message, std::optional<SourceLoc> at = std::nullopt);
Error bad_pass(std::string message, std::optional<SourceLoc> at = std::nullopt);
Error unsupported(std::string message, std::optional<SourceLoc> at = std::nullopt);
Error resource_error(std::string message);
/// "cannot open 'path': No such file or directory" from errno.
Error io_error(const std::string& what, const std::string& path, int errno_value);

/// "bad-input", "bad-pass", "unsupported", "resource", "io".
const char* to_string(Error::Kind kind);
/// `failure`, or else the name of its kind: error_kind of records.
std::string failure_kind(const Error& error);
/// `file:line:col: error: message` / `hint: …` / `note: …`, one line each, no final newline.
std::string to_string(const Error& error);

template <class T>
struct [[nodiscard]] Result : tl::expected<T, Error> {
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: implicit on purpose
};

/// Evaluates `expr` (a Result), returns its error from the enclosing function, else assigns its value to `decl`.
#define PASSNET_TRY(decl, expr) PASSNET_TRY_IMPL_(decl, expr, PASSNET_CAT_(passnet_result_, __LINE__))
#define PASSNET_TRY_IMPL_(decl, expr, tmp) \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp).error(); \
  decl = std::move(*tmp)
#define PASSNET_CAT_(a, b) PASSNET_CAT2_(a, b)
#define PASSNET_CAT2_(a, b) a##b
/// The same for Result<void>.
#define PASSNET_TRY_VOID(expr)                                                                   \
  do {                                                                                           \
    if (auto passnet_status = (expr); !passnet_status) return std::move(passnet_status).error(); \
  } while (false)

}  // namespace passnet
