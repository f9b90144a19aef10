#include "store/message_store.h"

#include <algorithm>
#include <utility>

namespace relay::store {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::Damaged: return "the message store is damaged";
    case Errc::Full: return "the disk is full";
    case Errc::ReadOnly: return "the message store cannot be written";
    case Errc::Newer: return "the message store belongs to a newer version";
    case Errc::Failed: return "the message store failed";
    case Errc::BadChange: return "the change contradicts what is stored";
  }
  std::unreachable();
}

std::uint32_t messages_in(const records::Changes& changes) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      changes, [](const records::Change& change) { return std::holds_alternative<records::AddMessage>(change); }));
}

Result<Damage> MessageStore::keep_refused(const records::Change& change) {
  Damage damage;
  damage.findings.emplace_back("acknowledged changes contradict the message store and are lost");
  damage.lost_messages = messages_in({change});
  return damage;
}

}  // namespace relay::store
