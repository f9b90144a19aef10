/// What is done to every byte: of an agent's output, of what it says, of a payload.
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

constexpr std::size_t kPieceBytes = 4096;  // what one read of a pseudo-terminal brings
constexpr std::size_t kTurns = 30;
constexpr std::size_t kPayloadBytes = 8 * 1024;
constexpr int kPayloads = 100;

terminal::testing::Recording recording(std::string_view name) {
  auto read = terminal::testing::read_recording(format("{}/{}.cast.gz", RELAY_AGENTS, name));
  RELAY_ASSERT(read);
  return *std::move(read);
}

void in_pieces(std::string_view bytes, const auto& take) {
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) take(bytes.substr(at, kPieceBytes));
}

/// The words on a screen after everything was drawn, as lines.
std::string text_of(const terminal::testing::Recording& recording) {
  terminal::Screen screen{recording.size};
  screen.feed(recording.output());
  std::string text;
  for (const auto& line : terminal::logical_lines(screen.scrollback(), screen.grid())) text += line.text + '\n';
  return text;
}

}  // namespace

Workload prepare_terminal() {
  const auto tape = recording("opencode/recordings/default/many_turns");
  return [size = tape.size, bytes = tape.output()] {
    terminal::Screen screen{size};
    in_pieces(bytes, [&](std::string_view piece) {
      screen.feed(piece);
      (void)screen.take_reports();
    });
    RELAY_ASSERT(screen.revision() > 0);
    return bytes.size();
  };
}

Workload prepare_speech() {
  return [text = text_of(recording("aider/recordings/default/many_lines")) +
                 text_of(recording("aider/recordings/default/multi"))] {
    commands::Extractor extractor;
    std::size_t heard = 0;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      in_pieces(text, [&](std::string_view piece) { heard += extractor.feed(piece).size(); });
      heard += extractor.finish().size();
    }
    RELAY_ASSERT(heard >= kTurns);
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
