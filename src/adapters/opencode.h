/// OpenCode through its own server: output, state, delivery and prompts over HTTP, nothing typed (docs/agents.md).
///
/// Invariants
/// - The event stream is reopened when it breaks, at a bounded rate, and missed output is requested.
/// - A server that stays unreachable is given up with the reason, and the host uses screen and terminal; connecting is
///   retried, slowly, and output that was read from the screen meanwhile is not reported again.
/// - Nothing is sent to a session that has left the screen. On the start page (`/new`) the next message creates and shows
///   a session, as the first one does. While the window has the title of another session (chosen from the list) texts are
///   typed, until the user has sent a message there. Two sessions with the same title are not distinguished.
#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace relay::adapters {

struct OpenCodeTimeouts {
  Millis first_retry{250};
  Millis last_retry{2'000};
  Millis slow_retry{15'000};      // after the server was given up
  Millis start_timeout{120'000};  // OpenCode takes 5 to 10 s to start, on a busy machine much longer
  Millis gap_timeout{15'000};
  Millis drawing{10'000};       // for the screen after the server has responded
  Millis response{30'000};      // the first one, on a busy machine
  Millis idle_timeout{25'000};  // the server sends a heartbeat every 10 s
  Millis recheck{1'000};        // to the lookup of a message whose response was lost
  Millis resolved{2'000};       // for the server's event after it has accepted an answer
  Millis title{2'000};          // until the window's title and the server's titles should agree
};

std::unique_ptr<Adapter> make_opencode(net::AsioLoop& loop, const OpenCodeTimeouts& timeouts = {});

}  // namespace relay::adapters
