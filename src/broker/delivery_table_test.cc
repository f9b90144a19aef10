// Every mode, kind of session, standing and fault: what the contract asks for, what the broker does, what the page says.
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
using Words = std::vector<std::string>;

/// What the contract asks for, rule by rule. Nothing here looks at the broker.
class Rules {
 public:
  explicit Rules(const Case& situation)
      : case_{situation}, way_{way_of(situation)}, working_{case_.standing == Standing::Working} {}

  Words trail() {
    if (case_.fault == Fault::Refused) return {"NACK REFUSED"};
    if (case_.fault == Fault::NotStored) add({"⊘"});
    const bool at_once = arrive();
    if (case_.fault == Fault::Expires) {
      if (at_once) hand_over();
      return add({"[time]", "E"});
    }
    if (case_.fault == Fault::Restart && !at_once) restart();
    if (case_.standing == Standing::Offline) come_back();
    if (case_.standing == Standing::Paused) add({"[unpause]"});
    if (case_.fault == Fault::Held) flush();
    if (way_ == Way::Never) return add({"…"});
    wait_for_the_moment();
    hand_over();
    return go_on();
  }

 private:
  /// When a lane is open. Who has a queue keeps what waits for a word; else it is kept for him.
  enum class Way : std::uint8_t { Open, Never, Kept, WhenIdle, AtBoundary, AfterFlush };

  static Way way_of(const Case& situation) {
    using enum Way;
    //  immediate, next-message, next-tool-call, on-idle, manual
    constexpr std::array<std::array<Way, 5>, 5> kWays = {{
        {Open, Never, Never, Open, Kept},                      // PTY host
        {Open, Open, Open, Open, Kept},                        // native host
        {Open, AtBoundary, AtBoundary, WhenIdle, AfterFlush},  // callback session
        {Open, Open, Open, Open, Open},                        // pull session: fetching is the word
        {Open, Never, Never, Open, AfterFlush},                // published client
    }};
    return kWays.at(static_cast<std::size_t>(situation.kind)).at(static_cast<std::size_t>(situation.mode));
  }
  [[nodiscard]] bool shut() const {
    return way_ == Way::Never || way_ == Way::AtBoundary || way_ == Way::AfterFlush ||
           (way_ == Way::WhenIdle && working_);
  }

  /// True when it can go at once; a line says why not when somebody is there who cannot have it yet.
  bool arrive() {
    if (case_.fault == Fault::Held) {
      add({"h"});
      return false;
    }
    add({"q"});
    if (case_.standing == Standing::Offline) return false;
    const bool paused = case_.standing == Standing::Paused;
    if (paused || shut()) add({way_ == Way::Never ? "du" : "d"});
    return !paused && !shut();
  }
  /// What it cannot do is told as soon as it is there.
  void come_back() {
    add({"[back]"});
    if (way_ == Way::Never && case_.fault != Fault::Held) add({"du"});
  }
  void flush() {
    add({"[flush]", "q"});
    if (way_ == Way::Never) add({"du"});
    if (way_ == Way::Kept) way_ = Way::Open;
    if (way_ == Way::AfterFlush) way_ = case_.kind == Kind::Callback ? Way::WhenIdle : Way::Open;
  }
  /// The broker knows nothing of what a session does until the session tells it again.
  void restart() {
    add({"⟲"});
    struck_ = true;
    if (way_ == Way::WhenIdle) working_ = false;
  }
  void wait_for_the_moment() {
    if (way_ == Way::AfterFlush) flush();
    if (way_ == Way::WhenIdle && std::exchange(working_, false)) add({"[idle]"});
    if (way_ == Way::AtBoundary) add({"[boundary]"});
  }
  void hand_over() {
    add({"⇒"});
    if (case_.fault == Fault::NotRecorded && !std::exchange(struck_, true)) add({"⊘"});
    if (has_queue(case_.kind) && !std::exchange(accepted_, true)) add({"a"});
  }

  Words go_on() {
    if (case_.fault == Fault::Away) add({"↯", "⇒"});
    if (case_.fault == Fault::Restart && !struck_) {
      restart();
      wait_for_the_moment();
      add({"⇒"});
    }
    if (way_ == Way::Kept) {
      flush();
      hand_over();
    }
    if (case_.fault == Fault::Fails) return add({"F"});
    if (case_.fault == Fault::InDoubt && has_queue(case_.kind)) return add({"w", "↯", "⇒", "?"});
    const int failures = case_.fault == Fault::FailsOnce ? 1 : case_.fault == Fault::FailsAlways ? 8 : 0;
    for (int failure = 1; failure <= failures; ++failure) {
      if (failure == 8) return add({"†"});
      add({"t", "[later]", "q"});
      accepted_ = false;
      wait_for_the_moment();
      hand_over();
    }
    switch (case_.kind) {
      case Kind::Pty: return add({"w", "s"});
      case Kind::Native: return add({"w", "s", "v"});
      case Kind::Pull: return add({"v"});
      case Kind::Callback:
      case Kind::Published: return add({"c"});
    }
    std::unreachable();
  }

  Words add(const Words& words) {
    trail_.insert(trail_.end(), words.begin(), words.end());
    return trail_;
  }

  Case case_;
  Way way_;
  bool working_ = false, accepted_ = false, struck_ = false;
  Words trail_;
};

/// The sender asked for every step: each line is told, but for those that only put it into a queue again.
Words told_of(const Words& trail, const Case& situation) {
  if (trail.front().starts_with("NACK")) return trail;
  const std::string answer = situation.standing == Standing::Offline ? "ACK queued" : "ACK";
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
  Words told;
  bool stored = false;
  for (const auto& word : trail) {
    if (word == "⟲") break;  // what it asked for went with its connection
    if (word == "⊘" && !stored) told.emplace_back("NACK STORAGE");
    if ((word == "q" || word == "h") && !std::exchange(stored, true)) told.push_back(answer);
    if (const auto receipt = receipts.find(word); receipt != receipts.end()) told.push_back(receipt->second);
  }
  return told;
}

std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(DeliveryTable, EveryCaseMatchesContractAndPage) {
  DeliveryPage page;
  for (const Fault fault : kFaults) {
    for (const Kind kind : kKinds) {
      for (const Standing standing : kStandings) {
        for (const DeliveryMode mode : protocol::kDeliveryModes) {
          const Case situation{kind, standing, mode, fault};
          const Words expected = Rules{situation}.trail();
          Outcome outcome = Scenario{situation}.run();
          if (outcome.trail.empty()) outcome.trail = outcome.told;  // refused: there is only the answer
          const std::string where = describe(situation);
          EXPECT_EQ(joined(outcome.trail), joined(expected)) << where;
          EXPECT_EQ(joined(outcome.told), joined(told_of(expected, situation))) << where;
          EXPECT_EQ(joined(outcome.errors), "") << where;
          page.add(situation, outcome.trail);
        }
      }
    }
  }
  const std::string text = page.text();
  if (std::getenv("RELAY_WRITE_DOCS") != nullptr) std::ofstream{RELAY_DELIVERY_TABLE} << text;
  std::ifstream file{RELAY_DELIVERY_TABLE};
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_TRUE(stored.str() == text)
      << "docs/delivery-table.md is not what happens; see what changed, then renew it with: "
         "RELAY_WRITE_DOCS=1 build/dev/src/broker/broker_test "
         "--gtest_filter='DeliveryTable.*'";
}

}  // namespace
}  // namespace relay::broker::testing
