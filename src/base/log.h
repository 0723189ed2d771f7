// Logging to stderr; stdout carries results only. Libraries log, they never print.
// Levels: error = a human must act; warn = the result holds but is weaker; info = one line per sample;
// debug = one line per stage. PASSNET_LOG=debug|info|warn|error|off; the default is info.
#pragma once

#include <string_view>

namespace passnet::log {

void error(std::string_view text);
void warn(std::string_view text);
void info(std::string_view text);
void debug(std::string_view text);

}  // namespace passnet::log
