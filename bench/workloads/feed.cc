/// Events to a thousand readers: the cost of one event for one reader. A lost or repeated event fails the round.
#include <unistd.h>

#include "base/format.h"
#include "feed/event_source.h"
#include "feed/raw_writer.h"
#include "feed/readers.h"
#include "feed/ticking_server.h"
#include "subjects/daemon_under_test.h"
#include "workloads/driver.h"
#include "workloads/workload.h"

namespace relay::bench {
namespace {

constexpr int kEventsPerSecond = 1'000;
constexpr double kMinSeconds = 1.0;  // processor time is counted in clock ticks

struct Audience {
  std::string_view title;
  ReaderPlan plan;
};
constexpr Audience kSteady{"1000 readers, 1000 events/s", {.steady = 1'000}};
constexpr Audience kReconnecting{"the same, 100 more that disconnect and resume, 10 slow ones",
                                 {.steady = 1'000, .reconnecting = 100, .slow = 10}};

Result<Outcome> measure(const ServerProcess& server, std::uint16_t port, const Audience& audience, const Scale& scale) {
  Readers readers{port, "/api/v1/events/sse", audience.plan};
  RELAY_TRY(readers.connect_all());
  const auto seconds = std::max(scale.seconds, kMinSeconds);
  readers.run(seconds * 0.2);
  const auto before = readers.counts();
  const auto usage_before = server.usage();
  const auto start = now();
  readers.run(seconds);
  const auto elapsed = seconds_since(start);
  const auto counts = readers.counts();
  const auto usage = server.usage();
  if (interrupted()) return fail("interrupted");
  if (counts.lost + counts.repeated + counts.cut > 0)
    return fail(relay::format("{} events were lost, {} repeated, {} readers disconnected without a resume notice",
                              counts.lost, counts.repeated, counts.cut));
  const auto events = static_cast<double>(counts.events - before.events);
  if (events == 0) return fail("no reader received an event");
  Outcome outcome{
      .variant = std::string{audience.title},
      .measurements = {{Metric::Rate, events / elapsed},
                       {Metric::CpuPerMillion, (usage.cpu_seconds - usage_before.cpu_seconds) / events * 1e6}}};
  if (usage.peak_memory_kib > 0) outcome.measurements.push_back({Metric::PeakMemory, usage.peak_memory_kib / 1024});
  return outcome;
}

using Serve = void (*)(int events_per_second, int port_pipe);

/// A forked server that writes its port to a pipe.
Result<Outcome> measure_forked(Serve serve, const Audience& audience, const Scale& scale) {
  int ends[2];
  if (::pipe(ends) != 0) return fail_errno("cannot create a pipe");
  const UniqueFd from{ends[0]}, to{ends[1]};
  auto server = RELAY_TRY(ServerProcess::create());
  RELAY_TRY(server.start([&] { serve(kEventsPerSecond, to.get()); }));
  std::uint16_t port = 0;
  if (::read(from.get(), &port, sizeof port) != sizeof port) return fail("the server did not start");
  return measure(server, port, audience, scale);
}

Result<std::vector<Outcome>> run_raw_writer(const Scale& scale) {
  return std::vector{RELAY_TRY(measure_forked(write_raw_events, kSteady, scale))};
}

Result<std::vector<Outcome>> run_feed(const Scale& scale) {
  return std::vector{RELAY_TRY(measure_forked(serve_ticking_events, kSteady, scale)),
                     RELAY_TRY(measure_forked(serve_ticking_events, kReconnecting, scale))};
}

/// One agent reports all events. Each is stored before a reader gets it.
Result<Outcome> measure_daemon(const Audience& audience, const Scale& scale) {
  const auto port = RELAY_TRY(free_port());
  const auto daemon = RELAY_TRY(DaemonUnderTest::start(scale.program, {.http_port = port}));
  const auto source = RELAY_TRY(start_event_source(daemon.socket(), kEventsPerSecond));
  return measure(daemon.server(), port, audience, scale);
}

Result<std::vector<Outcome>> run_daemon(const Scale& scale) {
  return std::vector{RELAY_TRY(measure_daemon(kSteady, scale)), RELAY_TRY(measure_daemon(kReconnecting, scale))};
}

}  // namespace

Workload feed_work() {
  return {.name = "feed",
          .title = "events to readers of server-sent events",
          .headline = Metric::CpuPerMillion,
          .candidates = {{.traits = {.name = "raw",
                                     .title = "raw writer",
                                     .note = "the same bytes to every socket, formatted once; no resume"},
                          .run = run_raw_writer},
                         {.traits = {.name = "feed",
                                     .title = "relay feed",
                                     .own = true,
                                     .note = "HTTP server and feed, on a log that costs nothing"},
                          .run = run_feed},
                         {.traits = {.name = "daemon",
                                     .title = "agent-relay",
                                     .own = true,
                                     .note = "the whole daemon: an agent reports the events, and they are stored"},
                          .run = run_daemon}},
          .yardsticks = {"raw"}};
}

}  // namespace relay::bench
