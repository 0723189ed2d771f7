// The address that a command serves at, and who may ask.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace passnet::cli {

/// --listen, which sets host and port, and --token-file. what: the help of --listen, which is returned.
CLI::Option* add_listen_options(CLI::App& command, std::string& host, int& port, std::string& token_file,
                                const std::string& what);

}  // namespace passnet::cli
