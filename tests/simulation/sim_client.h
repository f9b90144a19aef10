/// A program of the simulated world: the real Link and Outbox, a disk of its own, and a will to talk.
///
/// Durable programs keep an outbox file and, in the same breath as each message they receive, their stream positions;
/// they must see everything exactly once whatever dies. The others keep nothing and see everything exactly once per
/// life. `crash` ends a life without a word; `start` begins the next.
///
/// A plain program acknowledges. A callback session declares modes, tells its state and reports. A host brings letters
/// to an agent, step by step, as a real one does: taken, noted on disk before the first byte (the product's own Intent),
/// put before the agent, written, submitted, seen; it may die between any two, and its note decides what its successor
/// says. What came before the agent is known to the ledger, which outlives everybody.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/link.h"
#include "client/testing/memory_directory.h"
#include "host/delivery/intent_log.h"
#include "tests/simulation/history_checker.h"

namespace relay::simulation {

inline constexpr const char* kSocketPath = "/home/relay.sock";
inline constexpr const char* kSystemToken = "the token of the simulated home";  // shown by the person's programs

enum class Role { Plain, Callback, Host };

struct ProgramPlan {
  std::string name;
  Role role = Role::Plain;
  std::optional<protocol::DeliveryModes> modes = {};  // a plain one tells none
  bool tells_state = false;
  bool wants_steps = false;  // a RECEIPT for every change
  bool durable = true;
  bool claims_name = true;
  bool acknowledges_late = false;
  bool subscribes = false;
  client::Numbering numbering = client::Numbering::Epoch;  // of programs that are not durable
  client::SyncOn sync = client::SyncOn::EachAdd;
  std::uint32_t max_inflight = 256;
  std::size_t outbox_entries = 1000;
};

class SimClient final : private client::LinkListener {
 public:
  SimClient(ProgramPlan plan, VirtualLoop& loop, net::Network& network, Random& random, const FaultPlan& weather,
            Trace& trace, HistoryChecker& ledger);
  ~SimClient() override;

  void start();
  enum class Death { Killed, PowerCut };
  void crash(Death death);

  void say(const std::string& to, const std::string& topic, std::size_t padding);
  /// Something changes in its session: a state, a boundary, what it can do.
  void stir();
  /// In a healed world: it is idle, can do everything, and is at both boundaries.
  void calm();

  [[nodiscard]] const ProgramPlan& plan() const { return plan_; }
  [[nodiscard]] bool running() const { return life_ != nullptr; }
  [[nodiscard]] bool keeps_positions() const { return plan_.durable && plan_.role == Role::Plain; }
  [[nodiscard]] bool ready() const;
  /// Running, connected, nothing unanswered, nothing in hand.
  [[nodiscard]] bool at_rest() const;
  [[nodiscard]] std::string describe() const;

 private:
  /// What a host has in hand.
  struct Letter {
    client::DeliveryRef place;
    enum class Step { Waits, Noted, Surfaced, Written } step = Step::Waits;
  };
  struct Life {
    std::unique_ptr<client::Outbox> outbox;
    std::unique_ptr<host::IntentLog> intent;  // of a host
    std::unique_ptr<client::Link> link;       // after the outbox it borrows
    std::map<std::string, Letter> letters;    // of a host, by delivery
    bool paused = false;
    std::set<std::string> unsettled;  // handed up, answered later
    std::size_t counted = 0;          // those of them that came on this connection and cannot have expired
    int connection = 0;
    int number = 0;
  };

  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override;
  void on_moved(const client::DeliveryRef& place, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& order) override;
  void on_pause(const protocol::PauseCommand& order) override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope& envelope) override;
  void remember(const client::DeliveryRef& place);
  void report(const client::DeliveryRef& place, const protocol::Receipt& receipt);
  void tell(const std::string& state, std::optional<protocol::DeliveryModes> modes,
            std::optional<protocol::DeliveryMode> boundary);
  /// Something other than taking it; nothing on most days.
  std::optional<protocol::Receipt> draw_trouble();

  // A callback session.
  client::AckMode answer(const client::DeliveryRef& place);

  // A host.
  client::AckMode take_letter(const client::DeliveryRef& place);
  void go_on(const std::string& id, Nanos longest);
  void next_step(const std::string& id);
  void finish(const Letter& letter, const protocol::Receipt& receipt);
  static std::string note_of(const client::DeliveryRef& place);

  void die_soon();
  [[nodiscard]] bool chance(std::size_t in_thousand) { return in_thousand > 0 && random_.below(1000) < in_thousand; }

  ProgramPlan plan_;
  VirtualLoop& loop_;
  net::Network& network_;
  Random& random_;
  const FaultPlan& weather_;
  Trace& trace_;
  HistoryChecker& ledger_;

  // Its disk.
  client::testing::MemoryDirectory disk_;
  client::StreamPositions kept_positions_;
  std::string kept_token_;
  std::string kept_store_;           // whose numbers the positions are
  std::vector<std::string> wishes_;  // idempotency keys it used

  int lives_ = 0;
  std::shared_ptr<Life> life_;  // shared only so that late timers can ask whether it is over
};

}  // namespace relay::simulation
