/// Any terminal input: every byte is passed on once and in order, and the held part is bounded.
///
/// The first byte seeds splits and pauses, the rest is the stream.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "check.h"
#include "terminal/input_splitter.h"
#include "terminal/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay;
  if (size == 0) return 0;
  const std::string_view stream{reinterpret_cast<const char*>(data) + 1, size - 1};
  SeededRandom random{data[0]};
  terminal::InputSplitter splitter;
  std::string seen;
  const auto take = [&](const std::vector<terminal::InputEvent>& pieces) {
    for (const auto& piece : pieces) {
      FUZZ_CHECK(!piece.bytes.empty());
      seen += piece.bytes;
    }
  };
  SteadyTime now{};
  for (auto rest = stream; !rest.empty();) {
    const std::size_t piece = 1 + random.below(std::min<std::size_t>(rest.size(), 30));
    take(splitter.feed(rest.substr(0, piece), now));
    rest.remove_prefix(piece);
    const std::size_t held = stream.size() - rest.size() - seen.size();
    FUZZ_CHECK(held <= terminal::kMaxStringBytes + 30);
    FUZZ_CHECK(splitter.deadline().has_value() == (held != 0));
    now += Millis{random.below(100)};
    take(splitter.expire(now));
  }
  take(splitter.expire(now + Millis{terminal::kReplyTimeoutMs + 100}));
  FUZZ_CHECK(seen == stream);
  FUZZ_CHECK(!splitter.deadline());
  return 0;
}
