/// The floor of server-sent events: every event is made once and its bytes are written to each socket; nobody can resume.
#pragma once

namespace relay::bench {

/// On a port of loopback, which is written to the pipe first.
[[noreturn]] void write_raw_events(int events_per_second, int port_pipe);

}  // namespace relay::bench
