#include "agent/chat/sse.h"

#include <utility>

namespace passnet::agent {

std::vector<std::string> EventReader::add(std::string_view piece) {
  std::vector<std::string> events;
  for (const char c : piece) {
    const bool second_half = after_return_ && c == '\n';
    after_return_ = c == '\r';
    if (second_half) continue;
    if (c == '\r' || c == '\n')
      end_line(events);
    else
      line_ += c;
  }
  return events;
}

void EventReader::end_line(std::vector<std::string>& events) {
  std::string line = std::exchange(line_, {});
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (std::exchange(is_first_line_, false) && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.empty()) {
    if (std::exchange(has_data_, false)) events.push_back(std::exchange(data_, {}));
    return;
  }
  constexpr std::string_view kData = "data:";
  if (!line.starts_with(kData)) return;
  std::string_view value = std::string_view(line).substr(kData.size());
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

}  // namespace passnet::agent
