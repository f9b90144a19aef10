/// Reports the agent's events to the daemon, as AGENT_EVENT frames (docs/spec/wire.md).
///
/// Why a queue with a gap: events must not cost unbounded memory or delay a message. When the link's queue is full, the
///   newest events are dropped until half of it is free; then one agent.unparsed names their number, and prompts that
///   were closed in the gap are reported as closed.
/// Invariants: every daemon that greets the host knows the open prompts: they are reported again after each WELCOME and
///   after a gap, under their own id and time, unless they are still queued. `_again` names the session whose log has
///   them.
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
  /// True when a gap was reported now: open prompts must be reported again.
  bool report_gap(WallMs now);
  /// The daemon has not stored a prompt that was reported.
  [[nodiscard]] bool is_storing_request() const;
  /// The open prompts, after a WELCOME to this session or after a gap in it.
  void report_again(const std::vector<events::Event>& requests, const std::string& session, WallMs now);

  /// `events`: how many were sent, are pending and were dropped.
  void describe(text::JsonWriter& out) const;

 private:
  /// Its id in the queue; empty when the queue is full.
  std::string put(const events::Event& event, WallMs at, std::string_view again = {});

  client::Link& link_;
  std::string agent_;
  std::uint64_t dropped_ = 0;  // since the host began
  std::uint64_t missing_ = 0;  // of those, not reported yet
  struct Request {
    std::string event = {};  // that reported it; empty: the queue was full
    WallMs since = 0;
    std::string session = {};  // that stored it
  };
  static constexpr std::size_t kMaxOwed = 64;
  std::map<std::string, Request> open_;                       // by prompt id
  std::vector<std::pair<events::Event, WallMs>> unreported_;  // of prompts that closed in the gap
  std::string session_;
};

/// The payload of an AGENT_EVENT; `again`: the session whose log has it.
std::string event_payload(const events::Event& event, WallMs at, std::string_view again = {});

}  // namespace relay::host
