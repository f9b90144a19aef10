/// Reconstructs the conversation from successive screens: no text twice, none lost by scrolling.
///
///     finished:  U1 A1 U2 A2                    text of finished turns; final
///     turn:                  U3 A3a A3b         the current turn; parts may have scrolled off
///     screen:             A2 U3 A3a A3b A3c     the end of `finished` is found on it, so the rest is the turn
///
/// Paragraphs are compared by their text without blanks, so a redraw or another width changes nothing. Equal texts are
/// the same only at the same position: the second "done" of an agent is new because it comes after the first.
/// Threading: one thread. Memory: the turn and the newest kMaxFinished paragraphs.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "profiles/compiled_profile.h"

namespace relay::profiles {

class ConversationTracker {
 public:
  static constexpr std::size_t kMaxFinished = 400;
  static constexpr std::size_t kMaxTurn = 4'000;
  static constexpr std::size_t kMinCertainRun = 3;  // paragraphs in a row that repeat by chance only rarely

  enum class Turn : std::uint8_t { Open, Ended };

  /// Updates with the conversation on the screen. The turn is open from the first sign of work until `end_turn`.
  void update(const std::vector<Paragraph>& view, Turn turn);

  /// Ends the turn and returns its text.
  std::vector<Paragraph> end_turn();

  /// Changes with the turn's text.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  [[nodiscard]] bool lies_inside(const std::vector<Paragraph>& view) const;
  [[nodiscard]] std::size_t known_prefix(const std::vector<Paragraph>& view) const;
  [[nodiscard]] std::optional<std::size_t> find_overlap(const std::vector<Paragraph>& view) const;
  void merge(const std::vector<Paragraph>& view, std::size_t from);
  void start_over(const std::vector<Paragraph>& view);
  void set_turn(std::vector<Paragraph> turn);

  std::deque<Paragraph> finished_;
  std::vector<Paragraph> turn_;
  std::uint64_t revision_ = 0;
};

}  // namespace relay::profiles
