/// A text that was put before the agent's model, as the agent tells it (adapters::Listener::on_given), taken as evidence.
///
/// A letter is shown where its text begins a line, or stands right behind another letter that is shown; quoted in the
/// middle of a line it is somebody's words about it. Agents write angle brackets as entities in what a hook adds (Gemini
/// all of them, Claude those of its own tags), so an entity and its letter are the same here.
/// Invariant: each place shows one letter, however many have that text.
/// Pure. Threading: one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relay::host {

class EvidenceMatcher {
 public:
  explicit EvidenceMatcher(std::string_view text);

  /// Does it show this one, where it has not shown another?
  bool matches(std::string_view letter);

 private:
  [[nodiscard]] bool begins_at(std::size_t place) const;

  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> used_;  // from, to
};

}  // namespace relay::host
