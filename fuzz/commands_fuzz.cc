/// Any agent output, split anywhere: the same commands, all valid and bounded.
///
/// The first byte seeds the splits and chooses the surface. The rest is the text; it is also tried as screen rows, as
/// an outgoing file, as text to inject, and as rows for the detector.
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "commands/extractor.h"
#include "commands/injected_message.h"
#include "commands/outbox_file.h"
#include "commands/screen_extractor.h"
#include "profiles/default_patterns.h"
#include "profiles/screen_findings.h"

namespace {

using namespace relay::commands;

constexpr std::size_t kFuzzBodyBytes = 512;  // small, so that the limits are within reach
constexpr std::size_t kFuzzBlockBytes = 1024;

GrammarOptions options_of(std::uint8_t seed) {
  GrammarOptions options;
  options.surface = (seed & 1) != 0 ? Surface::Screen : Surface::Markdown;
  options.max_body_bytes = kFuzzBodyBytes;
  options.max_block_bytes = kFuzzBlockBytes;
  return options;
}

void check(const Command& command) {
  if (const auto* send = std::get_if<SendCommand>(&command)) {
    FUZZ_CHECK(!send->to.empty());
    FUZZ_CHECK(send->body.size() <= kFuzzBlockBytes + kFuzzBodyBytes);
  } else if (const auto* spawn = std::get_if<SpawnCommand>(&command)) {
    FUZZ_CHECK(!spawn->name.empty() && !spawn->cli.empty());
  } else if (const auto* file = std::get_if<SendFileCommand>(&command)) {
    FUZZ_CHECK(!file->id.empty() && file->id.find('/') == std::string::npos && file->id[0] != '.');
  } else if (const auto* error = std::get_if<CommandError>(&command)) {
    FUZZ_CHECK(!error->reason.empty() && !error->usage.empty());
  }
}

std::vector<Command> extract_in_pieces(std::string_view text, const GrammarOptions& options, relay::Random& cuts) {
  Extractor extractor{options};
  std::vector<Command> commands;
  const auto keep = [&](std::vector<Command> more) {
    for (auto& command : more) commands.push_back(std::move(command));
  };
  const auto size = text.size();
  while (!text.empty()) {
    const auto piece = 1 + cuts.below(std::min<std::size_t>(text.size(), 24));
    keep(extractor.feed(text.substr(0, piece)));
    text.remove_prefix(piece);
  }
  keep(extractor.finish());
  FUZZ_CHECK(extractor.offset() == size);
  return commands;
}

std::vector<std::string> rows_of(std::string_view text) {
  std::vector<std::string> rows{""};
  for (const char c : text)
    if (c == '\n')
      rows.emplace_back();
    else
      rows.back() += c;
  return rows;
}

void check_injection(std::string_view text) {
  const InjectedMessage message{.from = std::string{text.substr(0, 16)},
                                .id = "abc12345",
                                .body = std::string{text},
                                .thread = std::string{text.substr(0, 8)}};
  const auto injected = format_injected(message);
  FUZZ_CHECK(is_injected_line(injected));
  for (const char c : injected) FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  FUZZ_CHECK(extract(injected).empty() || injected.find("-file:") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto options = options_of(data[0]);
  relay::SeededRandom cuts{data[0]};
  const auto whole = extract(text, options);
  for (const auto& command : whole) check(command);
  FUZZ_CHECK(extract_in_pieces(text, options, cuts) == whole);

  const auto rows = rows_of(text);
  std::vector<ScreenLine> drawn;
  for (const auto& row : rows)
    drawn.push_back({.text = row, .indent = cuts.below(3), .width = 20 + cuts.below(60), .soft = cuts.below(8) == 0});
  for (const auto& command : extract_from_screen(drawn, options)) check(command);

  check(read_outbox_file(text.substr(0, kFuzzBlockBytes)));
  check_injection(text);
  static const auto detector = *relay::profiles::PatternDetector::compile(relay::profiles::default_patterns());
  (void)relay::profiles::detect(detector, rows);
  return 0;
}
