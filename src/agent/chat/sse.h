// Server-sent events: what a streamed answer is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace passnet::agent {

/// Takes a stream in pieces that are cut anywhere, and gives the data of each event that has become whole. Names and
/// ids of events are passed over, comments too; lines end as they like.
class EventReader {
 public:
  std::vector<std::string> add(std::string_view piece);
  /// The stream has ended: the event that no empty line followed.
  std::vector<std::string> finish() { return add("\n\n"); }

 private:
  void end_line(std::vector<std::string>& events);
  std::string line_, data_;
  bool has_data_ = false;
  bool is_first_line_ = true;
  bool after_return_ = false;  // a '\n' now belongs to the '\r' before it
};

}  // namespace passnet::agent
