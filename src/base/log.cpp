#include "base/log.h"

#include <cstdlib>
#include <string>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace passnet::log {

namespace {
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("passnet", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%^%l%$: %v");
    const char* level = std::getenv("PASSNET_LOG");
    made->set_level(level ? spdlog::level::from_str(level) : spdlog::level::info);
    return made;
  }();
  return *instance;
}
}  // namespace

void error(std::string_view text) { logger().error(text); }
void warn(std::string_view text) { logger().warn(text); }
void info(std::string_view text) { logger().info(text); }
void debug(std::string_view text) { logger().debug(text); }

}  // namespace passnet::log
