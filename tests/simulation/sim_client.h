/// A client of the simulation: the real Link and Outbox, its own disk, and random messages to send.
///
/// Durable clients keep an outbox file and, together with each message they receive, their stream positions; they must
/// get everything exactly once in spite of all crashes. The others keep nothing and get everything exactly once per process.
/// `crash` kills the process; `start` starts the next one.
///
/// A plain client acknowledges. A callback session declares modes, reports its state and sends receipts. A host
/// delivers messages to an agent step by step, as a real one does: accepted, logged before the first byte (the
/// product's own IntentLog), injected, written, submitted, seen; it may die between any two steps, and its log decides
/// what its successor reports. The HistoryChecker records what was injected, across all processes.
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
inline constexpr const char* kSystemToken = "the token of the simulated home";  // presented by the operator

enum class Role { Plain, Callback, Host };

struct ClientPlan {
  std::string name;
  Role role = Role::Plain;
  std::optional<protocol::DeliveryModes> modes = {};  // empty for a plain client
  bool reports_state = false;
  bool requests_steps = false;  // a RECEIPT for every change
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
  SimClient(ClientPlan plan, VirtualLoop& loop, net::Network& network, Random& random, const FaultPlan& faults,
            Trace& trace, HistoryChecker& checker);
  ~SimClient() override;

  void start();
  enum class Death { Killed, PowerCut };
  void crash(Death death);

  /// `padding` and `filler`: bytes of data beside the body, and of the body after its number.
  void send_message(const std::string& to, const std::string& topic, std::size_t padding, std::size_t filler = 0);
  /// Something changes in its session: a state, a boundary, what it can do.
  void act();
  /// For the end of a run: the session is idle, supports every mode, and is at both boundaries.
  void recover();

  [[nodiscard]] const ClientPlan& plan() const { return plan_; }
  [[nodiscard]] bool running() const { return process_ != nullptr; }
  [[nodiscard]] bool stores_positions() const { return plan_.durable && plan_.role == Role::Plain; }
  [[nodiscard]] bool ready() const;
  /// Running, connected, nothing unanswered, nothing unsettled.
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::string describe() const;

 private:
  /// An unsettled delivery of a host.
  struct HostDelivery {
    client::DeliveryRef ref;
    enum class Step { Pending, Logged, Injected, Written } step = Step::Pending;
  };
  struct Process {
    std::unique_ptr<client::Outbox> outbox;
    std::unique_ptr<host::IntentLog> intent;         // of a host
    std::unique_ptr<client::Link> link;              // after the outbox it borrows
    std::map<std::string, HostDelivery> deliveries;  // of a host, by delivery
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
  void on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) override;
  bool on_cancel(const protocol::CancelCommand& order) override;
  void on_pause(const protocol::PauseCommand& order) override;
  void on_sent(const std::string& id) override;
  void on_refused(const std::string& id, const protocol::Nack& why) override;
  void on_frame(const protocol::Envelope& envelope) override;
  void remember(const client::DeliveryRef& ref);
  void report(const client::DeliveryRef& ref, const protocol::Receipt& receipt);
  void report_state(const std::string& state, std::optional<protocol::DeliveryModes> modes,
                    std::optional<protocol::DeliveryMode> boundary);
  /// Something other than taking it; nothing on most days.
  std::optional<protocol::Receipt> draw_abnormal_receipt();

  // A callback session.
  client::AckMode answer(const client::DeliveryRef& ref);

  // A host.
  client::AckMode take_delivery(const client::DeliveryRef& ref);
  void schedule_step(const std::string& id, Nanos max_delay);
  void next_step(const std::string& id);
  void finish(const HostDelivery& delivery, const protocol::Receipt& receipt);
  static std::string intent_key(const client::DeliveryRef& ref);

  void crash_soon();
  [[nodiscard]] bool chance(std::size_t in_thousand) { return in_thousand > 0 && random_.below(1000) < in_thousand; }

  ClientPlan plan_;
  VirtualLoop& loop_;
  net::Network& network_;
  Random& random_;
  const FaultPlan& faults_;
  Trace& trace_;
  HistoryChecker& checker_;

  // Its disk.
  client::testing::MemoryDirectory disk_;
  client::StreamPositions stored_positions_;
  std::string stored_token_;
  std::string stored_store_id_;    // whose numbers the positions are
  std::vector<std::string> keys_;  // idempotency keys it used

  int process_count_ = 0;
  std::shared_ptr<Process> process_;  // shared only so that late timers can check whether it has ended
};

}  // namespace relay::simulation
