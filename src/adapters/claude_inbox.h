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
  /// silently drops more. This limit is a little below.
  [[nodiscard]] SteadyTime ready_at() const;
  /// Half of the burst is used: several messages should share one text.
  [[nodiscard]] bool is_running_low() const;

  /// The session has an inbox now.
  [[nodiscard]] bool exists(const std::string& session) const { return socket_of(session).has_value(); }
  /// `session`: Claude's id of its session, empty before a hook reported it. No other session is written to.
  void put(const NativeDelivery& delivery, const std::string& session, Adapter::OnAccepted done);

 private:
  class PendingWrite;

  [[nodiscard]] Result<std::string> socket_of(const std::string& session) const;

  net::AsioLoop& loop_;
  net::UnixNetwork network_;
  std::string directory_;
  pid_t agent_;
  std::vector<std::unique_ptr<PendingWrite>> writes_;
  SteadyTime full_at_{};  // when the whole burst is available again
};

/// The written line: the text as a user message of a peer.
std::string inbox_line(const NativeDelivery& delivery);

}  // namespace relay::adapters
