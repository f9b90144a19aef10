#include "host/screen/held_input.h"

#include <algorithm>

namespace relay::host {
namespace {

/// Plain, and as in the kitty protocol.
constexpr std::string_view kCancels[] = {"\x1b", "\x03", "\x04", "\x1b[27u", "\x1b[99;5u", "\x1b[100;5u"};

bool starts_with_enter(std::string_view bytes) { return bytes.starts_with('\r') || bytes.starts_with('\n'); }

}  // namespace

void HeldInput::add(std::string_view bytes, SteadyTime now) {
  if (bytes.empty()) return;
  if (!since_) since_ = now;
  bytes_ += bytes.size();
  const bool enter_apart = starts_with_enter(bytes) && (!chunks_.empty() || must_delay(bytes, now));
  chunks_.push_back({std::string{bytes}, now, enter_apart});
}

void HeldInput::extend(std::string_view bytes) {
  if (chunks_.empty()) return;
  bytes_ += bytes.size();
  chunks_.back().bytes += bytes;
}

bool HeldInput::must_delay(std::string_view bytes, SteadyTime now) const {
  return starts_with_enter(bytes) && taken_ && now < *taken_ + kEnterGap;
}

void HeldInput::classify(const std::vector<terminal::InputEvent>& pieces) {
  for (const auto& piece : pieces) {
    if (!terminal::is_typing(piece.kind)) continue;
    (piece.kind == terminal::InputKind::Enter ? enters_ : edits_) = true;
    const bool is_key = piece.kind == terminal::InputKind::Key;
    cancels_ = cancels_ || (is_key && std::ranges::find(kCancels, piece.bytes) != std::end(kCancels));
  }
}

std::string HeldInput::take(SteadyTime now) {
  std::string bytes;
  while (!chunks_.empty()) {
    auto& chunk = chunks_.front();
    if (chunk.enter_apart && (!bytes.empty() || now < taken_.value_or(now) + kEnterGap)) break;
    bytes += chunk.bytes;
    taken_ = now;
    chunks_.pop_front();
  }
  bytes_ -= bytes.size();
  if (chunks_.empty()) *this = HeldInput{taken_};
  return bytes;
}

std::vector<HeldInput::Piece> HeldInput::drain() {
  std::vector<Piece> all;
  for (auto& chunk : chunks_) all.push_back({std::move(chunk.bytes), chunk.at});
  *this = HeldInput{taken_};
  return all;
}

std::optional<SteadyTime> HeldInput::due() const {
  if (chunks_.empty() || !taken_) return std::nullopt;
  return *taken_ + kEnterGap;
}

}  // namespace relay::host
