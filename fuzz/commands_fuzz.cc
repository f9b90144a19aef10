/// Whatever an agent writes, and however it is cut: the same utterances, none of them broken, and bounded.
///
/// The first byte seeds the cuts and chooses the surface; the rest is the text, which is also tried as rows of a screen,
/// as an outbox file, as text to inject, and as rows for the detector.
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

void check(const Command& utterance) {
  if (const auto* command = std::get_if<SendCommand>(&utterance)) {
    FUZZ_CHECK(!command->to.empty());
    FUZZ_CHECK(command->body.size() <= kFuzzBlockBytes + kFuzzBodyBytes);
  } else if (const auto* spawn = std::get_if<SpawnCommand>(&utterance)) {
    FUZZ_CHECK(!spawn->name.empty() && !spawn->cli.empty());
  } else if (const auto* trigger = std::get_if<SendFileCommand>(&utterance)) {
    FUZZ_CHECK(!trigger->id.empty() && trigger->id.find('/') == std::string::npos && trigger->id[0] != '.');
  } else if (const auto* mistake = std::get_if<CommandError>(&utterance)) {
    FUZZ_CHECK(!mistake->reason.empty() && !mistake->usage.empty());
  }
}

std::vector<Command> heard_in_pieces(std::string_view text, const GrammarOptions& options, relay::Random& cuts) {
  Extractor extractor{options};
  std::vector<Command> heard;
  const auto keep = [&](std::vector<Command> more) {
    for (auto& utterance : more) heard.push_back(std::move(utterance));
  };
  const auto size = text.size();
  while (!text.empty()) {
    const auto piece = 1 + cuts.below(std::min<std::size_t>(text.size(), 24));
    keep(extractor.feed(text.substr(0, piece)));
    text.remove_prefix(piece);
  }
  keep(extractor.finish());
  FUZZ_CHECK(extractor.offset() == size);
  return heard;
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
  const auto shown = format_injected(message);
  FUZZ_CHECK(is_injected_line(shown));
  for (const char c : shown) FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  FUZZ_CHECK(extract(shown).empty() || shown.find("-file:") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto options = options_of(data[0]);
  relay::SeededRandom cuts{data[0]};
  const auto whole = extract(text, options);
  for (const auto& utterance : whole) check(utterance);
  FUZZ_CHECK(heard_in_pieces(text, options, cuts) == whole);

  const auto rows = rows_of(text);
  std::vector<ScreenLine> drawn;
  for (const auto& row : rows)
    drawn.push_back({.text = row, .indent = cuts.below(3), .width = 20 + cuts.below(60), .soft = cuts.below(8) == 0});
  for (const auto& utterance : extract_from_screen(drawn, options)) check(utterance);

  check(read_outbox_file(text.substr(0, kFuzzBlockBytes)));
  check_injection(text);
  static const auto detector = *relay::profiles::PatternDetector::compile(relay::profiles::default_patterns());
  (void)relay::profiles::detect(detector, rows);
  return 0;
}
