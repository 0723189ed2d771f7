// The one way to stdout and stderr. Arguments that are text are made fit to be shown here, on one line, so that nothing
// of a graph, a pass or a compiler can move the cursor, set colors or pass for a line of ours; Lines keep their ends.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text/visible.h"

namespace passnet::cli {

/// An argument of several lines.
struct Lines {
  std::string_view text;
};

template <class T>
auto shown(const T& value) {
  if constexpr (std::is_same_v<T, Lines>)
    return visible(value.text);
  else if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return visible_line(value);
  else
    return value;
  static_assert(
      std::is_same_v<T, Lines> || std::is_convertible_v<const T&, std::string_view> || std::is_arithmetic_v<T>,
      "what holds text that is not seen here (fmt::join) would go out as it is");
}
template <class... Args>
using ShownFormat = fmt::format_string<decltype(shown(std::declval<const Args&>()))...>;

/// Text that is fit to be shown. Errors: throws std::system_error where it cannot be written, which main() reports.
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);

template <class... Args>
void say(std::type_identity_t<ShownFormat<Args...>> format, const Args&... args) {
  write_stdout(fmt::format(format, shown(args)...));
}
template <class... Args>
void say_error(std::type_identity_t<ShownFormat<Args...>> format, const Args&... args) {
  write_stderr(fmt::format(format, shown(args)...));
}

/// What a text of ours may hold besides lines that are fit to be shown.
enum class Keeps { Nothing, Colors /* of a table: \x1b[…m */ };

/// Writes to stdout what is the last a command has to say: JSON, a table, a graph. A reader that has left (`| head`) is
/// no error here: the rest is dropped, so that the command still ends with its own code. (say throws, which main()
/// takes for the end.)
void print_result(std::string_view text, Keeps keeps = Keeps::Nothing);

}  // namespace passnet::cli
