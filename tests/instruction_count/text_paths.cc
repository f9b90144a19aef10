/// The work per byte of terminal output, of output text, and of a payload.
#include "base/format.h"
#include "commands/extractor.h"
#include "paths.h"
#include "prose.h"
#include "terminal/logical_lines.h"
#include "terminal/screen.h"
#include "terminal/testing/recording.h"
#include "text/json_scanner.h"

namespace relay::cost {
namespace {

constexpr std::size_t kChunkBytes = 4096;  // of one read from a pseudo-terminal
constexpr std::size_t kTurns = 30;
constexpr std::size_t kPayloadBytes = 8 * 1024;
constexpr int kPayloads = 100;

terminal::testing::Recording recording(std::string_view name) {
  auto read = terminal::testing::read_recording(format("{}/{}.cast.gz", RELAY_AGENTS, name));
  RELAY_ASSERT(read);
  return *std::move(read);
}

void for_each_chunk(std::string_view bytes, const auto& on_chunk) {
  for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes) on_chunk(bytes.substr(at, kChunkBytes));
}

/// The final text of the screen and its scrollback, as lines.
std::string text_of(const terminal::testing::Recording& recording) {
  terminal::Screen screen{recording.size};
  screen.feed(recording.output());
  std::string text;
  for (const auto& line : terminal::logical_lines(screen.scrollback(), screen.grid())) text += line.text + '\n';
  return text;
}

}  // namespace

Workload prepare_terminal() {
  const auto recorded = recording("opencode/recordings/default/many_turns");
  return [size = recorded.size, bytes = recorded.output()] {
    terminal::Screen screen{size};
    for_each_chunk(bytes, [&](std::string_view chunk) {
      screen.feed(chunk);
      (void)screen.take_reports();
    });
    RELAY_ASSERT(screen.revision() > 0);
    return bytes.size();
  };
}

Workload prepare_commands() {
  return [text = text_of(recording("aider/recordings/default/many_lines")) +
                 text_of(recording("aider/recordings/default/multi"))] {
    commands::Extractor extractor;
    std::size_t extracted = 0;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      for_each_chunk(text, [&](std::string_view chunk) { extracted += extractor.feed(chunk).size(); });
      extracted += extractor.finish().size();
    }
    RELAY_ASSERT(extracted >= kTurns);
    return kTurns * text.size();
  };
}

Workload prepare_json() {
  std::string items;
  for (std::uint64_t item = 0; items.size() < kPayloadBytes; ++item)
    items +=
        format(R"({}{{"path":"src/module_{}/file.cc","line":{},"ratio":{}.5e-1,"open":true,"by":null,"text":"{}"}})",
               item == 0 ? "" : ",", item, 10 * item, item, prose(200, item));
  return [payload = R"({"kind":"message","data":{"items":[)" + items + "]}}"] {
    for (int i = 0; i < kPayloads; ++i) RELAY_ASSERT(text::check_object(payload, 1));
    return kPayloads * payload.size();
  };
}

}  // namespace relay::cost
