/// A text that the agent reports as input of its model (adapters::Listener::on_model_input), used as evidence of
/// deliveries.
///
/// A delivery is shown where its text begins a line, or directly behind another delivery that is shown; in the middle
/// of a line it is quoted. Agents write angle brackets as entities in what a hook adds (Gemini CLI all of them, Claude
/// Code those of its own tags), so an entity matches its character.
/// Invariant: each position shows one delivery, however many have that text.
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

  /// True when it shows the text at a position that has not shown another delivery.
  bool matches(std::string_view delivery);

 private:
  [[nodiscard]] bool begins_at(std::size_t place) const;

  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> used_;  // from, to
};

}  // namespace relay::host
