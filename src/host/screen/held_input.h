/// The user's keys, held while an injected message is in the composer, so that both never become one prompt, and while a
/// dialog is open that was drawn after the keys were pressed.
///
/// Invariants: bytes leave in order; replies of the terminal are held only behind held keys; an Enter that was typed
///   apart from the keys before it leaves kEnterGap after them, because programs read an Enter directly after other keys
///   as a line break.
/// Bounds: AgentInput stops reading at kMaxHeldBytes and releases everything after kMaxHeld, unless a dialog is open or
///   a frame is being drawn.
/// Threading: one thread, no clock.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "terminal/input_splitter.h"

namespace relay::host {

inline constexpr std::size_t kMaxHeldBytes = 64 * 1024;
inline constexpr Millis kMaxHeld{4'000};
inline constexpr Millis kEnterGap{150};

class HeldInput {
 public:
  HeldInput() = default;

  void add(std::string_view bytes, SteadyTime now);
  /// More bytes of the sequence or paste that was added last.
  void extend(std::string_view bytes);
  /// Held keys count as pressed now.
  void restart(SteadyTime now) { since_ = now; }
  /// Input events recognized in the added bytes.
  void classify(const std::vector<terminal::InputEvent>& pieces);

  /// True for an Enter directly after keys that were held, although nothing is held now.
  [[nodiscard]] bool must_delay(std::string_view bytes, SteadyTime now) const;
  /// Removes the bytes that may be written now, in order.
  std::string take(SteadyTime now);
  /// A piece of input and its time.
  struct Piece {
    std::string bytes;
    SteadyTime at{};
  };
  /// Removes everything, in order.
  std::vector<Piece> drain();
  /// The time of the last piece; zero when nothing is held.
  [[nodiscard]] SteadyTime newest() const { return chunks_.empty() ? SteadyTime{} : chunks_.back().at; }
  /// When the remaining bytes may be written; none when nothing is held.
  [[nodiscard]] std::optional<SteadyTime> due() const;

  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The time of the first key; none while only replies of the terminal are held.
  [[nodiscard]] std::optional<SteadyTime> keys_since() const { return edits_ || enters_ ? since_ : std::nullopt; }
  [[nodiscard]] bool has_edits() const { return edits_; }
  [[nodiscard]] bool has_enter() const { return enters_; }
  /// Escape, Ctrl-C or Ctrl-D: the user cancels something.
  [[nodiscard]] bool has_cancel() const { return cancels_; }

 private:
  explicit HeldInput(std::optional<SteadyTime> taken) : taken_{taken} {}

  struct Chunk {
    std::string bytes;
    SteadyTime at{};
    bool enter_apart = false;
  };

  std::deque<Chunk> chunks_;
  std::size_t bytes_ = 0;
  std::optional<SteadyTime> since_;
  std::optional<SteadyTime> taken_;  // the last chunk
  bool edits_ = false, enters_ = false, cancels_ = false;
};

}  // namespace relay::host
