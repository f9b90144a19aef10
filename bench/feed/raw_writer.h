/// The lower bound for server-sent events: each event is formatted once and its bytes are written to every socket.
/// Readers cannot resume.
#pragma once

namespace relay::bench {

/// Serves on a loopback port, which it first writes to the pipe.
[[noreturn]] void write_raw_events(int events_per_second, int port_pipe);

}  // namespace relay::bench
