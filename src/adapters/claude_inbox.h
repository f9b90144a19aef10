/// The inbox socket of a running Claude Code session: a text put there reaches the model as a peer's message, not as the
/// person's.
///
/// Measured on 2.1.325: `sessions/<pid>.json` in the config directory names the socket; one JSON line is one message;
/// nothing comes back. With priority `next` an idle session begins a turn at once and a busy one takes it when its reply
/// is whole; `now` cuts the reply short, and closes an open dialog, so it must never be used then (the host sees to it).
#pragma once

#include <memory>
#include <string>

#include "adapters/adapter.h"
#include "net/unix_network.h"

namespace relay::adapters {

class ClaudeInbox {
 public:
  ClaudeInbox(net::AsioLoop& loop, std::string config_directory, pid_t agent);
  ~ClaudeInbox();

  /// From when on it takes the next one: of a sender Claude takes 30 at once and then one every two seconds, and drops
  /// what is beyond that without a word. We stay a little below.
  [[nodiscard]] SteadyTime ready_at() const;
  /// Half of what it takes at once is used up: several messages in one text spare the rest.
  [[nodiscard]] bool runs_low() const;

  /// That session has an inbox now.
  [[nodiscard]] bool exists(const std::string& session) const { return socket_of(session).has_value(); }
  /// `session`: Claude's own id of its session, when it is known; another process of that name is not written to.
  void put(const NativeDelivery& words, const std::string& session, Adapter::OnAccepted done);

 private:
  class Writing;

  [[nodiscard]] Result<std::string> socket_of(const std::string& session) const;

  net::AsioLoop& loop_;
  net::UnixNetwork network_;
  std::string directory_;
  pid_t agent_;
  std::vector<std::unique_ptr<Writing>> writing_;
  SteadyTime full_at_{};  // when its bucket would be full again
};

/// The line that is written: our text as a user message of a peer.
std::string inbox_line(const NativeDelivery& words);

}  // namespace relay::adapters
