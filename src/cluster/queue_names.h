// Names in a queue: of items, of their states, of workers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace passnet::cluster {

/// Tells whether a text can name a key or a worker: letters, digits, '.', '-', '_', at most 200, no '.' in front.
bool is_plain_name(std::string_view name);

/// "KEY~2" or "KEY~2@WORKER", the name of an item in a state.
struct StateName {
  std::string key, worker;
  int number = 1;
};
/// none: another name.
std::optional<StateName> parse_state_name(const std::string& name);

/// A name for this worker: the machine's, its process, and a random part.
std::string new_worker_name();

/// A key for a text: its last path component, with other characters as '_', cut to 200.
std::string key_of(std::string_view text);
/// A key for a name, all of which counts: "3/500" gives "3_500".
std::string key_of_name(std::string_view name);

}  // namespace passnet::cluster
