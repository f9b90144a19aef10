/// OpenCode through its own server: output, state, delivery and prompts over HTTP, nothing typed (docs/agents.md).
///
/// Invariants
/// - The event stream is reopened when it breaks, at a bounded rate, and missed output is requested.
/// - A server that stays away is given up with the reason, and the host sees and types; it is tried again, slowly, and
///   what was heard on the screen meanwhile is not heard again.
/// - Nothing goes into a session that is seen to have left the screen. On the start page (`/new`) the next message makes a session
///   and shows it, as the first one does. While the window has the title of another session (chosen from the list) the server is not
///   spoken to: what is to be said is typed, until somebody has written there. Two sessions with one title are not told apart.
#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace relay::adapters {

struct OpenCodeTimeouts {
  Millis first_retry{250};
  Millis last_retry{2'000};
  Millis slow_retry{15'000};      // once given up
  Millis start_timeout{120'000};  // OpenCode takes 5 to 10 s to start, on a busy machine much longer
  Millis gap_timeout{15'000};
  Millis drawing{10'000};       // longest wait for the screen once the server is there
  Millis response{30'000};      // the first one, on a busy machine
  Millis idle_timeout{25'000};  // the server says something every 10 s
  Millis recheck{1'000};        // for a message whose answer was lost
  Millis resolved{2'000};       // for the server to say that it took an answer
  Millis title{2'000};          // until the window's title and what the server tells of titles should agree
};

std::unique_ptr<Adapter> opencode(net::AsioLoop& loop, const OpenCodeTimeouts& pace = {});

}  // namespace relay::adapters
