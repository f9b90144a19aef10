// Any outbox file: reading never fails, and ids found in it are never reused.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/outbox_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay::client;
  const std::string_view file{reinterpret_cast<const char*>(data), size};
  const auto image = parse_outbox(file);
  RELAY_ASSERT(image.torn_bytes + image.damaged_bytes <= size);
  std::uint64_t last = 0;
  for (const auto& entry : image.unanswered) {
    RELAY_ASSERT(entry.number > last && entry.number < image.next);
    RELAY_ASSERT(entry.lost || !entry.message.payload.empty());
    last = entry.number;
  }

  // A rewritten file reads the same, without damage.
  if (image.epoch.empty()) return 0;
  std::string again;
  const auto first = image.unanswered.empty() ? image.next : image.unanswered.front().number;
  append_first_record(again, image.epoch, first);
  auto expected = first;
  std::size_t written = 0;
  for (const auto& entry : image.unanswered) {
    if (entry.number != expected) break;
    append_message_record(again, image.epoch, entry);
    ++expected;
    ++written;
  }
  const auto second = parse_outbox(again);
  RELAY_ASSERT(second.damaged_bytes == 0 && second.torn_bytes == 0);
  RELAY_ASSERT(second.epoch == image.epoch && second.unanswered.size() == written && second.next == expected);
  for (std::size_t i = 0; i < written; ++i) {
    RELAY_ASSERT(second.unanswered[i].message.payload == image.unanswered[i].message.payload);
    RELAY_ASSERT(second.unanswered[i].message.to == image.unanswered[i].message.to);
  }
  return 0;
}
