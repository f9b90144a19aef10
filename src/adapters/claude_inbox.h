/// The inbox socket of a running Claude Code session: a text written there reaches the model as a peer's message, not
/// as the user's.
///
/// Measured on 2.1.325: `sessions/<pid>.json` in the config directory names the socket; one JSON line is one message;
/// there is no reply. With priority `next` an idle session starts a turn at once and a working one takes the message
/// after its reply; `now` interrupts the reply and closes an open dialog, so the host must not use it then.
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

  /// When it accepts the next message: Claude accepts 30 from one sender at once and then one every two seconds, and
  ///   silently drops more. We stay a little below.
  [[nodiscard]] SteadyTime ready_at() const;
  /// Half of the burst is used: several messages in one text save the rest.
  [[nodiscard]] bool runs_low() const;

  /// The session has an inbox now.
  [[nodiscard]] bool exists(const std::string& session) const { return socket_of(session).has_value(); }
  /// `session`: Claude's id of its session, if known; another process of that name is not written to.
  void put(const NativeDelivery& words, const std::string& session, Adapter::OnAccepted done);

 private:
  class Writing;

  [[nodiscard]] Result<std::string> socket_of(const std::string& session) const;

  net::AsioLoop& loop_;
  net::UnixNetwork network_;
  std::string directory_;
  pid_t agent_;
  std::vector<std::unique_ptr<Writing>> writing_;
  SteadyTime full_at_{};  // when its rate limit would be fully available again
};

/// The written line: our text as a user message of a peer.
std::string inbox_line(const NativeDelivery& words);

}  // namespace relay::adapters
