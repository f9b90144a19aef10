#include "profiles/conversation_tracker.h"

#include <algorithm>

namespace relay::profiles {
namespace {

/// True for the same paragraph; the topmost of a view may have lost its start at the screen's edge.
bool same(const Paragraph& recorded, const Paragraph& drawn, bool topmost) {
  if (recorded.kind != drawn.kind) return false;
  return recorded.key == drawn.key ||
         (topmost && recorded.key.size() > drawn.key.size() && recorded.key.ends_with(drawn.key));
}

bool same_text(const std::vector<Paragraph>& a, const std::vector<Paragraph>& b) {
  return std::ranges::equal(a, b, [](const Paragraph& x, const Paragraph& y) { return same(x, y, false); });
}

}  // namespace

/// Number of paragraphs at the top of the view that are finished; 0 if none is.
std::size_t ConversationTracker::known_prefix(const std::vector<Paragraph>& view) const {
  std::size_t best = 0, best_run = 0;
  for (std::size_t end = std::min(view.size(), finished_.size()); end > 0; --end) {
    // Is the part of the view before `end` the end of the finished paragraphs?
    std::size_t run = 0;
    while (run < end && same(finished_[finished_.size() - 1 - run], view[end - 1 - run], end - 1 - run == 0)) ++run;
    // All of it fits, or all but a heading that stays at the screen's top.
    if (run > 0 && run + 1 >= end && run > best_run) {
      best = end;
      best_run = run;
    }
  }
  return best;
}

/// True if all of the view is finished text above its end. The view's last paragraph may be cut by the screen's edge.
bool ConversationTracker::lies_inside(const std::vector<Paragraph>& view) const {
  for (std::size_t from = 0; from + view.size() <= finished_.size(); ++from) {
    std::size_t run = 0;
    while (run < view.size() && (same(finished_[from + run], view[run], run == 0) ||
                                 (run + 1 == view.size() && finished_[from + run].kind == view[run].kind &&
                                  finished_[from + run].key.starts_with(view[run].key))))
      ++run;
    if (run == view.size()) return true;
  }
  return false;
}

void ConversationTracker::set_turn(std::vector<Paragraph> turn) {
  if (turn.size() > kMaxTurn) turn.erase(turn.begin(), turn.end() - kMaxTurn);
  if (!same_text(turn_, turn)) ++revision_;
  turn_ = std::move(turn);
}

/// The view shows the turn from its paragraph `from`: earlier paragraphs stay, the rest is replaced.
void ConversationTracker::merge(const std::vector<Paragraph>& view, std::size_t from) {
  std::vector<Paragraph> turn{turn_.begin(), turn_.begin() + static_cast<std::ptrdiff_t>(from)};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool cut_off = i == 0 && from < turn_.size() && same(turn_[from], view[0], true);
    turn.push_back(cut_off ? turn_[from] : view[i]);
  }
  set_turn(std::move(turn));
}

/// Where the view starts in the turn: where the rest of the turn is on it, or where most of the view is in the turn. The
/// latter outweighs a shorter match at the turn's end: the turn's end may be from a frame that was drawn in part.
std::optional<std::size_t> ConversationTracker::find_overlap(const std::vector<Paragraph>& view) const {
  std::optional<std::size_t> to_end, longest;
  std::size_t end_run = 0, longest_run = 0;
  for (std::size_t from = 0; from < turn_.size(); ++from) {
    const std::size_t overlap = std::min(view.size(), turn_.size() - from);
    std::size_t run = 0;
    while (run < overlap && same(turn_[from + run], view[run], run == 0)) ++run;
    if (!to_end && (run == overlap || (run + 1 >= overlap && run > 0))) to_end = from, end_run = run;
    if (run >= longest_run) longest = from, longest_run = run;
  }
  const bool is_certain = longest_run >= kMinCertainRun && 2 * longest_run >= view.size();
  return is_certain && longest_run > end_run ? longest : to_end;
}

void ConversationTracker::start_over(const std::vector<Paragraph>& view) {
  // The screen was cleared or fully redrawn: this turn's text is behind the user's last input.
  const auto last_user =
      std::ranges::find(view.rbegin(), view.rend(), RowKind::User, [](const Paragraph& each) { return each.kind; });
  const auto finished_rows = static_cast<std::size_t>(view.rend() - last_user);
  finished_.insert(finished_.end(), view.begin(), view.begin() + static_cast<std::ptrdiff_t>(finished_rows));
  while (finished_.size() > kMaxFinished) finished_.pop_front();
  set_turn({view.begin() + static_cast<std::ptrdiff_t>(finished_rows), view.end()});
}

void ConversationTracker::update(const std::vector<Paragraph>& view, Turn turn) {
  if (view.empty()) return;
  const auto finished_rows = known_prefix(view);
  if (finished_rows == 0 && lies_inside(view)) return;  // scrolled back
  if (turn == Turn::Ended) {  // between turns every change is a redraw, or the user's next input
    finished_.insert(finished_.end(), view.begin() + static_cast<std::ptrdiff_t>(finished_rows), view.end());
    while (finished_.size() > kMaxFinished) finished_.pop_front();
    set_turn({});
    return;
  }
  if (finished_rows > 0 || finished_.empty()) {
    // Everything below the finished paragraphs is the turn, as it is drawn now.
    if (finished_rows > 0 || (!turn_.empty() && same(turn_[0], view[0], false))) {
      std::vector<Paragraph> rest{view.begin() + static_cast<std::ptrdiff_t>(finished_rows), view.end()};
      if (!(rest.empty() && !turn_.empty())) set_turn(std::move(rest));
      return;
    }
  }
  // The finished paragraphs have scrolled off: the view overlaps the turn itself. The turn's last paragraph may have grown.
  for (std::size_t skip : {std::size_t{0}, std::size_t{1}}) {  // 1: a heading stays at the screen's top
    if (skip >= view.size()) break;
    const std::vector<Paragraph> rest{view.begin() + static_cast<std::ptrdiff_t>(skip), view.end()};
    if (const auto from = find_overlap(rest)) return merge(rest, *from);
  }
  start_over(view);
}

std::vector<Paragraph> ConversationTracker::end_turn() {
  for (const auto& paragraph : turn_) finished_.push_back(paragraph);
  while (finished_.size() > kMaxFinished) finished_.pop_front();
  return std::exchange(turn_, {});
}

}  // namespace relay::profiles
