/// Orders the chunks of messages that Claude Code reports by its MessageDisplay hook.
///
/// Why: the hook runs as a process that the agent does not wait for, so a later chunk may arrive first.
/// Invariants: each chunk is returned once, after all chunks before it. At most kMaxMessages messages and kMaxHeld chunks
///   are kept; a message with a larger gap yields no more chunks (its transcript has the whole).
/// Threading: none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace relay::adapters {

class DisplayOrder {
 public:
  static constexpr std::size_t kMaxMessages = 8;
  static constexpr std::size_t kMaxHeld = 64;  // of one message

  /// The chunks that are due now: none, this one, or this one with earlier ones.
  std::vector<std::string> take(std::string_view message, std::int64_t index, std::string text);

 private:
  struct Message {
    std::string id;
    std::int64_t next = 0;
    std::map<std::int64_t, std::string> held = {};
  };
  std::deque<Message> messages_;  // newest last
};

}  // namespace relay::adapters
