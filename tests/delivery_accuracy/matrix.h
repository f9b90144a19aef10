/// The confusion matrix: the final state of a message by how often its agent received it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay::verdicts {

enum class Verdict : std::uint8_t {
  Seen,       // delivered, by the agent's own record
  Submitted,  // delivered, by what its screen showed
  Accepted,   // delivered, by a weaker proof
  InDoubt,
  Failed,
  Expired,
  Dead,
  Cancelled,
  Pending,  // no end after all that patience
  Missing,  // stored, says the daemon, but there is no such message or no delivery of it
};
inline constexpr std::size_t kVerdicts = 10;

std::string_view name_of(Verdict verdict);
/// The state and proof of a delivery in `trace`.
Verdict verdict_of(std::string_view state, std::string_view proof);
bool is_final(Verdict verdict);

/// This message may end undelivered: only if the run set a deadline or a policy for it, or cancelled it.
enum class Leave : std::uint8_t { None, ToEnd };

class Matrix {
 public:
  void add(Verdict verdict, std::size_t times_received, Leave leave = Leave::None);

  /// The number of messages received never, once, or more often (2).
  [[nodiscard]] std::uint64_t count(Verdict verdict, std::size_t times_received) const;
  [[nodiscard]] std::uint64_t all(Verdict verdict) const;
  [[nodiscard]] std::uint64_t all() const;

  [[nodiscard]] std::uint64_t false_delivered() const;  // delivered, it says, and nobody was given it
  /// Failed, expired, dead or cancelled, and never received: true, but a loss unless the run allowed it.
  [[nodiscard]] std::uint64_t undelivered() const;
  [[nodiscard]] std::uint64_t excused() const { return excused_; }
  [[nodiscard]] std::uint64_t lost() const;     // no end, no trace at all, or undelivered without leave
  [[nodiscard]] std::uint64_t doubled() const;  // given twice, whatever it says
  [[nodiscard]] std::uint64_t denied() const;   // failed, expired, dead or cancelled, it says, and it was given
  [[nodiscard]] std::uint64_t in_doubt() const { return all(Verdict::InDoubt); }
  /// Every state is true, and nothing was lost.
  [[nodiscard]] bool truthful() const { return false_delivered() + lost() + doubled() + denied() == 0; }

  /// Rows without a message are left out.
  [[nodiscard]] std::string table() const;

 private:
  static constexpr std::size_t kColumns = 3;
  std::array<std::array<std::uint64_t, kColumns>, kVerdicts> cells_{};
  std::uint64_t excused_ = 0;
};

}  // namespace relay::verdicts
