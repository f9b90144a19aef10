/// Reports the agent's events to the daemon, as AGENT_EVENT frames (docs/spec/wire.md).
///
/// Why a queue with gaps: events must not use unbounded memory or delay a message. When the link's queue is full, the
///   newest events are dropped until half of it is free; then one agent.unparsed has their number, and prompts that
///   closed in the gap are reported as closed.
/// Invariants: open prompts are reported again after each WELCOME and after a gap, under their own id and time, unless
///   they are still queued. `_again` names the session whose log has them.
/// Ownership: borrows the link, which outlives it. Threading: loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/link.h"
#include "events/event.h"
#include "text/json_writer.h"

namespace relay::host {

class EventReporter {
 public:
  EventReporter(client::Link& link, std::string agent) : link_{link}, agent_{std::move(agent)} {}

  void report(events::Event event, WallMs at);
  /// True when a gap was reported: the caller reports open prompts again.
  bool report_gap(WallMs now);
  /// The daemon has not stored a reported prompt yet.
  [[nodiscard]] bool is_storing_request() const;
  /// The open prompts, after a WELCOME to this session or after a gap in it.
  void report_again(const std::vector<events::Event>& requests, const std::string& session, WallMs now);

  /// `events`: how many were sent, are pending and were dropped.
  void describe(text::JsonWriter& out) const;

 private:
  /// Returns the id in the queue; empty when the queue is full.
  std::string send(const events::Event& event, WallMs at, std::string_view again = {});

  client::Link& link_;
  std::string agent_;
  std::uint64_t dropped_ = 0;  // since the host started
  std::uint64_t missing_ = 0;  // of those, not yet in a gap event
  struct Request {
    std::string event = {};  // its id in the queue; empty: the queue was full
    WallMs since = 0;
    std::string session = {};  // whose log has it
  };
  static constexpr std::size_t kMaxUnreported = 64;
  std::map<std::string, Request> open_;                       // by prompt id
  std::vector<std::pair<events::Event, WallMs>> unreported_;  // resolutions of prompts that closed in the gap
  std::string session_;
};

/// The payload of an AGENT_EVENT; `again`: the session whose log has it.
std::string event_payload(const events::Event& event, WallMs at, std::string_view again = {});

}  // namespace relay::host
