// Every mode, type of session, state of the recipient and fault: the contract, the broker and the page must agree.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "broker/testing/delivery_table.h"
#include "broker/testing/scenario.h"

namespace relay::broker::testing {
namespace {

using protocol::DeliveryMode;

/// What the contract demands, rule by rule, independent of the broker.
class DeliveryContract {
 public:
  explicit DeliveryContract(const DeliveryCase& situation)
      : case_{situation}, rule_{rule_of(situation)}, working_{case_.state == RecipientState::Working} {}

  Strings trail() {
    if (case_.fault == Fault::Refused) return {"NACK REFUSED"};
    if (case_.fault == Fault::NotStored) add({"⊘"});
    const bool immediately = enqueue();
    if (case_.fault == Fault::Expires) {
      if (immediately) deliver();
      return add({"[time]", "E"});
    }
    if (case_.fault == Fault::Restart && !immediately) restart();
    if (case_.state == RecipientState::Offline) reconnect();
    if (case_.state == RecipientState::Paused) add({"[unpause]"});
    if (case_.fault == Fault::Held) flush();
    if (rule_ == LaneRule::Never) return add({"…"});
    await_moment();
    deliver();
    return finish();
  }

 private:
  /// When a lane is open. A session with a queue holds manual deliveries itself; for others the broker holds them.
  enum class LaneRule : std::uint8_t { Open, Never, HeldInQueue, WhenIdle, AtBoundary, AfterFlush };

  static LaneRule rule_of(const DeliveryCase& situation) {
    using enum LaneRule;
    //  immediate, next-message, next-tool-call, on-idle, manual
    constexpr std::array<std::array<LaneRule, 5>, 5> kRules = {{
        {Open, Never, Never, Open, HeldInQueue},               // PTY host
        {Open, Open, Open, Open, HeldInQueue},                 // native host
        {Open, AtBoundary, AtBoundary, WhenIdle, AfterFlush},  // callback session
        {Open, Open, Open, Open, Open},                        // pull session: it fetches
        {Open, Never, Never, Open, AfterFlush},                // published client
    }};
    return kRules.at(static_cast<std::size_t>(situation.session)).at(static_cast<std::size_t>(situation.mode));
  }
  [[nodiscard]] bool closed() const {
    return rule_ == LaneRule::Never || rule_ == LaneRule::AtBoundary || rule_ == LaneRule::AfterFlush ||
           (rule_ == LaneRule::WhenIdle && working_);
  }

  /// True if DELIVER follows at once; otherwise an entry has the reason if the recipient is connected.
  bool enqueue() {
    if (case_.fault == Fault::Held) {
      add({"h"});
      return false;
    }
    add({"q"});
    if (case_.state == RecipientState::Offline) return false;
    const bool paused = case_.state == RecipientState::Paused;
    if (paused || closed()) add({rule_ == LaneRule::Never ? "du" : "d"});
    return !paused && !closed();
  }
  /// An unsupported mode is reported as soon as the session joins.
  void reconnect() {
    add({"[back]"});
    if (rule_ == LaneRule::Never && case_.fault != Fault::Held) add({"du"});
  }
  void flush() {
    add({"[flush]", "q"});
    if (rule_ == LaneRule::Never) add({"du"});
    if (rule_ == LaneRule::HeldInQueue) rule_ = LaneRule::Open;
    if (rule_ == LaneRule::AfterFlush)
      rule_ = case_.session == SessionType::Callback ? LaneRule::WhenIdle : LaneRule::Open;
  }
  /// The broker does not know the state of a session until the session reports it again.
  void restart() {
    add({"⟲"});
    fault_done_ = true;
    if (rule_ == LaneRule::WhenIdle) working_ = false;
  }
  void await_moment() {
    if (rule_ == LaneRule::AfterFlush) flush();
    if (rule_ == LaneRule::WhenIdle && std::exchange(working_, false)) add({"[idle]"});
    if (rule_ == LaneRule::AtBoundary) add({"[boundary]"});
  }
  void deliver() {
    add({"⇒"});
    if (case_.fault == Fault::NotRecorded && !std::exchange(fault_done_, true)) add({"⊘"});
    if (has_queue(case_.session) && !std::exchange(accepted_, true)) add({"a"});
  }

  Strings finish() {
    if (case_.fault == Fault::Disconnect) add({"↯", "⇒"});
    if (case_.fault == Fault::Restart && !fault_done_) {
      restart();
      await_moment();
      add({"⇒"});
    }
    if (rule_ == LaneRule::HeldInQueue) {
      flush();
      deliver();
    }
    if (case_.fault == Fault::Fails) return add({"F"});
    if (case_.fault == Fault::InDoubt && has_queue(case_.session)) return add({"w", "↯", "⇒", "?"});
    const int failures = case_.fault == Fault::FailsOnce ? 1 : case_.fault == Fault::FailsAlways ? 8 : 0;
    for (int failure = 1; failure <= failures; ++failure) {
      if (failure == 8) return add({"†"});
      add({"t", "[later]", "q"});
      accepted_ = false;
      await_moment();
      deliver();
    }
    switch (case_.session) {
      case SessionType::Pty: return add({"w", "s"});
      case SessionType::Native: return add({"w", "s", "v"});
      case SessionType::Pull: return add({"v"});
      case SessionType::Callback:
      case SessionType::Published: return add({"c"});
    }
    std::unreachable();
  }

  Strings add(const Strings& signs) {
    trail_.insert(trail_.end(), signs.begin(), signs.end());
    return trail_;
  }

  DeliveryCase case_;
  LaneRule rule_;
  bool working_ = false, accepted_ = false, fault_done_ = false;
  Strings trail_;
};

/// The sender requests every step: each entry has a receipt, except `queued`.
Strings responses_to(const Strings& trail, const DeliveryCase& situation) {
  if (trail.front().starts_with("NACK")) return trail;
  const std::string answer = situation.state == RecipientState::Offline ? "ACK queued" : "ACK";
  const std::map<std::string, std::string> receipts = {{"a", "accepted/accepted"},
                                                       {"w", "accepted/written"},
                                                       {"s", "delivered/submitted"},
                                                       {"v", "delivered/seen"},
                                                       {"c", "delivered/accepted"},
                                                       {"d", "deferred"},
                                                       {"du", "deferred UNSUPPORTED"},
                                                       {"h", "deferred"},
                                                       {"t", "deferred retryable"},
                                                       {"F", "failed"},
                                                       {"E", "failed EXPIRED"},
                                                       {"†", "failed"},
                                                       {"?", "in_doubt"}};
  Strings responses;
  bool stored = false;
  for (const auto& sign : trail) {
    if (sign == "⟲") break;  // the connection that requested receipts is lost
    if (sign == "⊘" && !stored) responses.emplace_back("NACK STORAGE");
    if ((sign == "q" || sign == "h") && !std::exchange(stored, true)) responses.push_back(answer);
    if (const auto receipt = receipts.find(sign); receipt != receipts.end()) responses.push_back(receipt->second);
  }
  return responses;
}

std::string join_signs(const Strings& signs) {
  std::string text;
  for (const auto& sign : signs) text += (text.empty() ? "" : " ") + sign;
  return text;
}

TEST(DeliveryTable, EveryCaseMatchesContractAndPage) {
  DeliveryTable table;
  for (const Fault fault : kFaults) {
    for (const SessionType session : kSessionTypes) {
      for (const RecipientState state : kRecipientStates) {
        for (const DeliveryMode mode : protocol::kDeliveryModes) {
          const DeliveryCase situation{session, state, mode, fault};
          const Strings expected = DeliveryContract{situation}.trail();
          ScenarioResult result = Scenario{situation}.run();
          if (result.trail.empty()) result.trail = result.responses;  // refused: there is only the NACK
          const std::string where = describe(situation);
          EXPECT_EQ(join_signs(result.trail), join_signs(expected)) << where;
          EXPECT_EQ(join_signs(result.responses), join_signs(responses_to(expected, situation))) << where;
          EXPECT_EQ(join_signs(result.errors), "") << where;
          table.add(situation, result.trail);
        }
      }
    }
  }
  const std::string text = table.markdown();
  if (std::getenv("RELAY_WRITE_DOCS") != nullptr) std::ofstream{RELAY_DELIVERY_TABLE} << text;
  std::ifstream file{RELAY_DELIVERY_TABLE};
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_TRUE(stored.str() == text)
      << "docs/delivery-table.md is out of date; check what changed, then regenerate it with: "
         "RELAY_WRITE_DOCS=1 build/dev/src/broker/broker_test "
         "--gtest_filter='DeliveryTable.*'";
}

}  // namespace
}  // namespace relay::broker::testing
