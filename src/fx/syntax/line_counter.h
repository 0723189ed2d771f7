// Positions of a text that is read forward: lines are counted once, not from the start for each position.
// Internal to fx/.
#pragma once

#include <string>

#include "base/result.h"

namespace passnet::fx {

class LineCounter {
 public:
  /// start: the first byte of the text, or the one behind its byte order mark.
  LineCounter(const std::string& file, const char* start) : file_(file), counted_(start), line_start_(start) {}

  /// REQUIRES: `at` lies at or behind the place asked for last.
  SourceLoc locate(const char* at) {
    for (; counted_ < at; ++counted_) {
      if (*counted_ != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return {file_, line_, static_cast<uint32_t>(at - line_start_ + 1)};
  }

 private:
  const std::string& file_;
  const char* counted_;
  const char* line_start_;
  uint32_t line_ = 1;
};

}  // namespace passnet::fx
