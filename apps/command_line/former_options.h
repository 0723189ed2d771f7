// Options of earlier versions. Those that still can be said in another way are, so that scripts keep working.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace passnet::cli {

/// The arguments after the program's name, with options of earlier versions as they are written now. Each replacement is
/// said once on stderr.
std::vector<std::string> renew_options(CLI::App& app, int argc, const char* const* argv);

/// Returns the words that replace an option of an earlier version in this command; empty: there was no such option.
std::string_view replacement_of(const CLI::App& command, std::string_view option);

}  // namespace passnet::cli
