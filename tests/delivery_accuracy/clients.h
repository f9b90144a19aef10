/// The links that send messages to the agents and query the delivery histories.
///
/// A message counts as stored when the daemon has acknowledged it. After a crash the link resends it, and the daemon
/// stores it once. Queries fail while the daemon is down; the caller retries.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "client/link.h"
#include "confusion_matrix.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"
#include "plan.h"

namespace relay::accuracy {

/// The delivery history of one message.
struct DeliveryRecord {
  std::string id;
  std::int64_t key = 0;
  Outcome outcome = Outcome::Pending;
  std::string reason;  // of the last history entry; only after `trace`
};

class Clients {
 public:
  Clients(net::AsioLoop& loop, const std::string& socket, std::size_t senders);
  ~Clients();

  Result<void> send(Number number, const PlannedMessage& message);
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t stored() const { return stored_; }
  /// The reason of the last NACK.
  [[nodiscard]] const std::optional<std::string>& nack_reason() const { return nack_reason_; }

  /// Whether the daemon lists every agent.
  void check_agents(std::vector<std::string> names, std::move_only_function<void(bool)> on_result);
  /// Reads the daemon's messages from the first one that is not final.
  void update_records(std::move_only_function<void(Result<void>)> done);
  /// Queries the trace of each message: its proof and its last reason.
  void trace_all(std::move_only_function<void(Result<void>)> done);
  /// By message number; from a page or a trace.
  [[nodiscard]] const std::map<Number, DeliveryRecord>& records() const { return records_; }
  /// Messages stored under two ids.
  [[nodiscard]] std::uint64_t stored_twice() const { return stored_twice_; }

 private:
  class Sender;
  void request(protocol::MessageType type, const json::object& payload,
               std::move_only_function<void(Result<json::object>)> on_response);
  void read_page(std::int64_t after, std::move_only_function<void(Result<void>)> done);
  void trace_from(std::map<Number, DeliveryRecord>::iterator next);

  net::AsioLoop& loop_;
  net::UnixNetwork network_;
  SystemRandom random_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::uint64_t sent_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t stored_twice_ = 0;
  std::optional<std::string> nack_reason_;
  std::map<Number, DeliveryRecord> records_;
  std::move_only_function<void(Result<void>)> on_traced_;
};

}  // namespace relay::accuracy
