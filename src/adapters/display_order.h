/// The pieces of messages that Claude Code tells by its MessageDisplay hook, in their order.
///
/// Why: the hook runs as a process that the agent does not wait for, so a later piece may arrive first.
/// Invariants: a piece comes out once, behind all pieces before it. At most kMaxMessages messages and kMaxHeld pieces are
///   kept; a message with a gap beyond that yields no more pieces (its transcript has the whole).
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

  /// What can be told now: nothing, the piece, or the piece with others that came before it.
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
