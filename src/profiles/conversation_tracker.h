/// What was said so far, pieced together from what the screen showed: nothing twice, nothing lost to scrolling.
///
///     heard:  U1 A1 U2 A2          what ended turns said; never looked at again
///     turn:   U3 A3a A3b           this turn so far; parts may have scrolled off already
///     screen:    A2 U3 A3a A3b A3c    the end of `heard` is found on it, so what follows is the turn
///
/// Paragraphs are told apart by their text without blanks, so a redraw or another width changes nothing. Equal texts
/// are equal only at the same place: the second "done" of an agent is new because it stands after the first.
/// Threading: one thread. Memory: the turn and the newest kMaxHeard paragraphs.
#pragma once

#include <deque>
#include <vector>

#include "profiles/compiled_profile.h"

namespace relay::profiles {

class ConversationTracker {
 public:
  static constexpr std::size_t kMaxHeard = 400;
  static constexpr std::size_t kMaxTurn = 4'000;

  enum class Turn : std::uint8_t { Open, Over };

  /// The conversation as it is on the screen now. The turn is open from the first sign of work until `end_turn`.
  void see(const std::vector<Paragraph>& view, Turn turn);

  /// The turn is over: what was said in it, and from now on it counts as heard.
  std::vector<Paragraph> end_turn();

  /// Changes whenever the turn's text does.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  [[nodiscard]] bool lies_inside(const std::vector<Paragraph>& view) const;
  [[nodiscard]] std::size_t heard_rows(const std::vector<Paragraph>& view) const;
  void lay_over(const std::vector<Paragraph>& view, std::size_t from);
  void start_over(const std::vector<Paragraph>& view);
  void set_turn(std::vector<Paragraph> turn);

  std::deque<Paragraph> heard_;
  std::vector<Paragraph> turn_;
  std::uint64_t revision_ = 0;
};

}  // namespace relay::profiles
