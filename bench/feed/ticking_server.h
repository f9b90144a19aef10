/// The API's event feed over the HTTP server, on a computed log: the cost of the feed without a daemon.
#pragma once

namespace relay::bench {

/// Serves on a loopback port, which it first writes to the pipe.
[[noreturn]] void serve_ticking_events(int events_per_second, int port_pipe);

}  // namespace relay::bench
