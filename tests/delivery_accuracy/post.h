/// The senders of messages to the agents, and the client that queries their histories: links of this process.
///
/// A message counts as stored once the daemon has acknowledged it; after a crash the link resends it and the daemon
/// stores it once. Queries fail while the daemon is down: the caller retries.
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
#include "matrix.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"
#include "plan.h"

namespace relay::verdicts {

/// The delivery history of one message.
struct Entry {
  std::string id;
  std::int64_t key = 0;
  Verdict verdict = Verdict::Pending;
  std::string reason;  // the last one; only after `trace`
};

class Post {
 public:
  Post(net::AsioLoop& loop, const std::string& socket, std::size_t senders);
  ~Post();

  Result<void> send(Number number, const PlannedMessage& errand);
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t stored() const { return stored_; }
  /// The reason of a NACK; empty if there was none.
  [[nodiscard]] const std::optional<std::string>& refused() const { return refused_; }

  /// The daemon knows every agent.
  void ask_for(std::vector<std::string> names, std::move_only_function<void(bool)> answer);
  /// Reads the daemon's list of messages from the first one that is not final. Calls back when done, or with an error.
  void read_ledger(std::move_only_function<void(Result<void>)> done);
  /// Queries the trace of each: its proof and its last reason.
  void trace_all(std::move_only_function<void(Result<void>)> done);
  /// By number; from a page or a trace.
  [[nodiscard]] const std::map<Number, Entry>& ledger() const { return ledger_; }
  /// Stored twice under two ids.
  [[nodiscard]] std::uint64_t stored_twice() const { return stored_twice_; }

 private:
  class Sender;
  void ask(protocol::MessageType type, const json::object& question,
           std::move_only_function<void(Result<json::object>)> answer);
  void read_page(std::int64_t after, std::move_only_function<void(Result<void>)> done);
  void trace_from(std::map<Number, Entry>::iterator next);

  net::AsioLoop& loop_;
  net::UnixNetwork network_;
  SystemRandom random_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::uint64_t sent_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t stored_twice_ = 0;
  std::optional<std::string> refused_;
  std::map<Number, Entry> ledger_;
  std::move_only_function<void(Result<void>)> traced_;
};

}  // namespace relay::verdicts
