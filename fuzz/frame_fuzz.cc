/// The same frames and the same error for every split of a stream.
///
/// The first byte seeds the splits, the rest is the stream.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "protocol/errors.h"
#include "protocol/frame.h"

namespace {

using relay::protocol::FrameReader;
using relay::protocol::HeaderStyle;

constexpr std::size_t kFuzzFrameBytes = 4'096;  // small, so that oversize frames are within reach

struct Outcome {
  std::vector<std::string> frames;
  std::optional<std::string> error;
  HeaderStyle style{};
  std::size_t held = 0;

  bool operator==(const Outcome&) const = default;
};

/// Reads all complete frames; false after an error.
bool drain(FrameReader& reader, Outcome& outcome) {
  while (true) {
    const auto frame = reader.next();
    if (!frame) {
      outcome.error = frame.error().message();
      const auto again = reader.next();
      FUZZ_CHECK(!again && again.error().message() == *outcome.error);
      return false;
    }
    if (!*frame) return true;
    FUZZ_CHECK(!(*frame)->empty() && (*frame)->size() <= kFuzzFrameBytes);
    outcome.frames.emplace_back(**frame);
  }
}

Outcome read(std::string_view stream, relay::Random* cuts) {
  FrameReader reader{kFuzzFrameBytes};
  Outcome outcome;
  while (!stream.empty()) {
    const std::size_t piece =
        cuts == nullptr ? stream.size() : 1 + cuts->below(std::min<std::size_t>(stream.size(), 40));
    reader.push(stream.substr(0, piece));
    stream.remove_prefix(piece);
    if (!drain(reader, outcome)) break;
  }
  outcome.style = reader.style();
  if (!outcome.error) outcome.held = reader.bytes_held();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream{reinterpret_cast<const char*>(data) + 1, size - 1};
  relay::SeededRandom cuts{data[0]};
  const Outcome whole = read(stream, nullptr);
  FUZZ_CHECK(read(stream, &cuts) == whole);

  // Every frame survives writing with either header and reading.
  for (const HeaderStyle style : {HeaderStyle::Four, HeaderStyle::Five}) {
    std::string again;
    for (const auto& frame : whole.frames) relay::protocol::append_frame(again, style, frame);
    const bool decides = !whole.frames.empty() && whole.frames.front().starts_with("{") &&
                         !whole.frames.front().starts_with("{{") && whole.frames.front().size() > 1;
    if (decides) FUZZ_CHECK(read(again, nullptr).frames == whole.frames);
  }
  return 0;
}
