#include "listen.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet::cli {

namespace {

// "0.0.0.0:8765", "[::1]:8765", "8765"
std::optional<std::pair<std::string, int>> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  std::string host = "127.0.0.1";
  if (colon != std::string_view::npos) host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::optional<int> port = parse_number<int>(digits);
  if (!port || *port < 0 || *port > 65535 || host.empty()) return std::nullopt;
  return std::pair(std::move(host), *port);
}

}  // namespace

CLI::Option* add_listen_options(CLI::App& command, std::string& host, int& port, std::string& token_file,
                                const std::string& what) {
  CLI::Option* const address =
      command
          .add_option_function<std::string>(
              "--listen", [&host, &port](const std::string& text) { std::tie(host, port) = *parse_address(text); },
              what)
          ->type_name("[HOST:]PORT")
          ->check([](const std::string& text) {
            return parse_address(text) ? "" : fmt::format("expected HOST:PORT or PORT, found {}", quoted(text));
          });
  command
      .add_option("--token-file", token_file,
                  "lines NAME TOKEN: clients that may ask from other machines; none: this machine alone")
      ->needs(address);
  return address;
}

}  // namespace passnet::cli
