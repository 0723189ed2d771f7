#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "base/text/visible.h"

namespace passnet::log {

namespace {
spdlog::logger& logger() {
  static const auto instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    const char* no_color = std::getenv("NO_COLOR");  // no-color.org: set and not empty
    if (no_color != nullptr && *no_color != 0) sink->set_color_mode(spdlog::color_mode::never);
    auto made = std::make_shared<spdlog::logger>("passnet", std::move(sink));
    made->set_pattern("%^%l%$: %v");
    const char* level = std::getenv("PASSNET_LOG");
    made->set_level(level ? spdlog::level::from_str(level) : spdlog::level::info);
    return made;
  }();
  return *instance;
}
}  // namespace

void error(std::string_view text) { logger().error(visible(text)); }
void warn(std::string_view text) { logger().warn(visible(text)); }
void info(std::string_view text) { logger().info(visible(text)); }
void debug(std::string_view text) { logger().debug(visible(text)); }

}  // namespace passnet::log
