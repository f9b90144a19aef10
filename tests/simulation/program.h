/// A program of the simulated world: the real Link and Outbox, a disk of its own, and a will to talk.
///
/// Durable programs keep an outbox file and, in the same breath as each message they receive, their stream positions;
/// they must see everything exactly once whatever dies. The others keep nothing and see everything exactly once per
/// life. `crash` ends a life without a word; `start` begins the next.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/link.h"
#include "client/testing/memory_directory.h"
#include "tests/simulation/ledger.h"

namespace relay::simulation {

inline constexpr const char* kSocketPath = "/home/relay.sock";

struct ProgramPlan {
  std::string name;
  bool durable = true;
  bool claims_name = true;
  bool acknowledges_late = false;
  bool subscribes = false;
  client::Numbering numbering = client::Numbering::Epoch;  // of programs that are not durable
  client::SyncOn sync = client::SyncOn::EachAdd;
  std::uint32_t max_inflight = 256;
  std::size_t outbox_entries = 1000;
};

class Program final : private client::LinkListener {
 public:
  Program(ProgramPlan plan, VirtualLoop& loop, net::Network& network, Random& random, const Weather& weather,
          Trace& trace, Ledger& ledger);
  ~Program() override;

  void start();
  enum class Death { Killed, PowerCut };
  void crash(Death death);

  void say(const std::string& to, const std::string& topic, std::size_t padding);

  [[nodiscard]] const ProgramPlan& plan() const { return plan_; }
  [[nodiscard]] bool running() const { return life_ != nullptr; }
  [[nodiscard]] bool ready() const;
  /// Running, connected, nothing unanswered, nothing in hand.
  [[nodiscard]] bool at_rest() const;
  [[nodiscard]] std::string describe() const;

 private:
  struct Life {
    std::unique_ptr<client::Outbox> outbox;
    std::unique_ptr<client::Link> link;  // after the outbox it borrows
    std::size_t in_hand = 0;             // handed up, acknowledged later
    std::size_t counted = 0;             // those of them that cannot have expired
    int number = 0;
  };

  void on_ready(const client::Session& session) override;
  void on_lost(const std::string& reason, Millis retry_in) override;
  void on_stopped(const Error& why) override;
  client::Taken on_incoming(const client::Incoming& incoming) override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::NackView& why) override;
  void on_frame(const protocol::Envelope& envelope) override;
  void remember(const client::Place& place);

  ProgramPlan plan_;
  VirtualLoop& loop_;
  net::Network& network_;
  Random& random_;
  const Weather& weather_;
  Trace& trace_;
  Ledger& ledger_;

  // Its disk.
  client::testing::MemoryDirectory disk_;
  client::StreamPositions kept_positions_;
  std::string kept_token_;

  int lives_ = 0;
  std::shared_ptr<Life> life_;  // shared only so that late timers can ask whether it is over
};

}  // namespace relay::simulation
