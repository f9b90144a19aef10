/// Our feed of events over our HTTP server, on a log that is a rule: what telling costs, without what happens in a daemon.
#pragma once

namespace relay::bench {

/// On a port of loopback, which is written to the pipe first.
[[noreturn]] void serve_ticking_events(int events_per_second, int port_pipe);

}  // namespace relay::bench
