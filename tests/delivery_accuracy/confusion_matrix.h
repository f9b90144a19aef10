/// The confusion matrix: the recorded outcome of a message by how often its agent received it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay::accuracy {

enum class Outcome : std::uint8_t {
  Seen,       // delivered; proof: transcript
  Submitted,  // delivered; proof: screen
  Accepted,   // delivered; a weaker proof
  InDoubt,
  Failed,
  Expired,
  Dead,
  Cancelled,
  Pending,  // not final when the run timed out
  Missing,  // acknowledged, but the daemon has no such message or no delivery of it
};
inline constexpr std::size_t kOutcomes = 10;

std::string_view name_of(Outcome outcome);
/// The state and proof of a delivery in `trace`.
Outcome parse_outcome(std::string_view state, std::string_view proof);
bool is_final(Outcome outcome);

/// Whether an undelivered message is a loss. The run allows one that has a deadline or a policy, or was cancelled.
enum class Undelivered : std::uint8_t { Loss, Allowed };

class ConfusionMatrix {
 public:
  void add(Outcome outcome, std::size_t times_received, Undelivered undelivered = Undelivered::Loss);

  /// The number of messages received never, once, or more often (2).
  [[nodiscard]] std::uint64_t count(Outcome outcome, std::size_t times_received) const;
  [[nodiscard]] std::uint64_t all(Outcome outcome) const;
  [[nodiscard]] std::uint64_t all() const;

  [[nodiscard]] std::uint64_t false_delivered() const;  // recorded as delivered, never received
  /// Failed, expired, dead or cancelled, and never received: accurate, but a loss unless the run allowed it.
  [[nodiscard]] std::uint64_t undelivered() const;
  [[nodiscard]] std::uint64_t allowed() const { return allowed_; }
  [[nodiscard]] std::uint64_t lost() const;               // pending, missing, or undelivered without permission
  [[nodiscard]] std::uint64_t duplicated() const;         // received more than once, in any state
  [[nodiscard]] std::uint64_t false_undelivered() const;  // failed, expired, dead or cancelled, but received
  [[nodiscard]] std::uint64_t in_doubt() const { return all(Outcome::InDoubt); }
  /// Every state is correct, and nothing was lost.
  [[nodiscard]] bool is_accurate() const {
    return false_delivered() + lost() + duplicated() + false_undelivered() == 0;
  }

  /// Omits empty rows.
  [[nodiscard]] std::string table() const;

 private:
  static constexpr std::size_t kColumns = 3;
  std::array<std::array<std::uint64_t, kColumns>, kOutcomes> cells_{};
  std::uint64_t allowed_ = 0;
};

}  // namespace relay::accuracy
