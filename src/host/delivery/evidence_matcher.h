/// A text that the agent reports as model input (adapters::DeliveryListener::on_model_input), as evidence of deliveries.
///
/// A delivery matches where its text starts a line, or directly after another matched delivery; within a line it is a
/// quotation. Agents write angle brackets of hook output as entities (Gemini CLI all of them, Claude Code those of its
/// own tags), so an entity matches its character.
/// Invariant: each position matches one delivery, even if several have that text.
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

  /// True when the text is found at a position that no other delivery has matched.
  bool matches(std::string_view delivery);

 private:
  [[nodiscard]] bool can_start_at(std::size_t position) const;

  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> used_;  // from, to
};

}  // namespace relay::host
