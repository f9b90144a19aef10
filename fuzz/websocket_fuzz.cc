/// WebSocket frames of a client: the same messages for every split; text is UTF-8 within the limit; an error has a
/// close code.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/format.h"
#include "check.h"
#include "check_splits.h"
#include "net/websocket_reader.h"
#include "text/utf8.h"

namespace {

using namespace relay::net;

constexpr std::size_t kLimit = 300;

std::string read_in_parts(std::string_view text, std::size_t part) {
  WebSocketReader reader{kLimit};
  std::string seen;
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) {
    reader.add(text.substr(0, part));
    while (true) {
      const auto next = reader.next();
      if (!next) {
        const auto code = next.error().code().value();
        FUZZ_CHECK(is_close_code(static_cast<std::uint16_t>(code)) && !next.error().message().empty());
        return seen + relay::format("! {}", code);
      }
      if (!*next) break;
      const auto& [kind, payload, code] = **next;
      FUZZ_CHECK(payload.size() <= (kind == Opcode::Text ? kLimit : WebSocketReader::kMaxControlBytes));
      FUZZ_CHECK((kind != Opcode::Text && kind != Opcode::Close) || relay::text::is_utf8(payload));
      seen += relay::format("{}:{}:{}", static_cast<int>(kind), code, payload);
      const auto last = close_frame(1000, payload);
      FUZZ_CHECK(last.size() <= 2 + WebSocketReader::kMaxControlBytes);
      FUZZ_CHECK(!relay::text::is_utf8(payload) || relay::text::is_utf8(std::string_view{last}.substr(4)));
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  relay::fuzz::check_splits({reinterpret_cast<const char*>(bytes), size}, 32, read_in_parts);
  return 0;
}
