#include "protocol/message_type.h"

#include <array>

namespace relay::protocol {
namespace {

struct Row {
  std::string_view name;
  Direction direction;
};

constexpr std::array kTable = {
#define RELAY_ROW(name, enumerator, direction) Row{#name, Direction::direction},
    RELAY_MESSAGE_TYPES(RELAY_ROW)
#undef RELAY_ROW
};

constexpr bool names_are_unique() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kTable[i].name == kTable[j].name) return false;
    }
  }
  return true;
}
static_assert(names_are_unique());
static_assert(kTable.size() <= 256, "MessageType is one byte");

}  // namespace

std::string_view name_of(MessageType type) { return kTable[static_cast<std::size_t>(type)].name; }

Direction direction_of(MessageType type) { return kTable[static_cast<std::size_t>(type)].direction; }

std::optional<MessageType> parse_message_type(std::string_view name) {
  // The frequent types come first in the table, so that the search is short for them.
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].name == name) return static_cast<MessageType>(i);
  }
  return std::nullopt;
}

}  // namespace relay::protocol
