/// Server-sent events: the same events for every split of the stream, none larger than the limit. A written event is
/// read back unchanged.
#include <cstddef>
#include <cstdint>
#include <string>

#include "check.h"
#include "net/event_stream.h"

namespace {

using relay::net::EventStream;
using relay::net::ServerEvent;

constexpr std::size_t kLimit = 64;

void add(std::string& all, const std::vector<ServerEvent>& events) {
  for (const auto& event : events) {
    FUZZ_CHECK(event.data.size() <= kLimit && event.type.size() <= kLimit);
    all.append(1, '\x01').append(event.type).append(1, '\x02').append(event.data);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  std::string whole, cut, pieces;
  EventStream one{kLimit}, two{kLimit}, three{kLimit};
  const auto events = one.feed(text);
  add(whole, events);
  const auto at = size == 0 ? 0 : bytes[0] % size;
  add(cut, two.feed(text.substr(0, at)));
  add(cut, two.feed(text.substr(at)));
  for (const char byte : text) add(pieces, three.feed({&byte, 1}));
  FUZZ_CHECK(whole == cut && whole == pieces);
  FUZZ_CHECK(one.skipped() == two.skipped() && one.skipped() == three.skipped());

  for (const auto& event : events) {
    std::string wire = "event: " + event.type + "\ndata: ";
    for (const char c : event.data) wire.append(1, c).append(c == '\n' ? "data: " : "");
    EventStream again;
    const auto back = again.feed(wire + "\n\n");
    FUZZ_CHECK(back.size() == 1 && back[0].type == event.type && back[0].data == event.data);
  }
  return 0;
}
