/// Those who write to the agents, and the one who asks the daemon what became of it: links of this very process.
///
/// A message is counted as stored when the daemon has answered it; a daemon that dies in between is told it again by the
/// link and stores it once. Questions fail while the daemon is away: whoever asks asks again.
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

/// What the ledger says of one message.
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
  /// Why the daemon refused one; nothing as long as it did not.
  [[nodiscard]] const std::optional<std::string>& refused() const { return refused_; }

  /// Is everybody known to the daemon?
  void ask_for(std::vector<std::string> names, std::move_only_function<void(bool)> answer);
  /// Reads on in the daemon's list of messages from the first that has no end. Calls back when it has been read, or with
  /// the reason why not.
  void read_ledger(std::move_only_function<void(Result<void>)> done);
  /// Asks for the whole story of each: its proof, and its last reason.
  void trace_all(std::move_only_function<void(Result<void>)> done);
  /// By number; what a page told, or a trace.
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
