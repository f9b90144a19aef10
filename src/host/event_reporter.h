/// Tells the daemon what happens at the agent, as AGENT_EVENT frames (docs/spec/wire.md).
///
/// Why a queue with a gap: what happens must not cost memory or delay a message. When the link's queue is full the newest
///   are not kept until half of it is free again; then one agent.unparsed says how many are missing, and what had ended of
///   that which was asked before is told.
/// Invariants: what is asked and not answered is known to every daemon that greets us: it is told again after each WELCOME
///   and after a gap, under its own id and time, unless it still waits to be told. `_again` names the session in whose
///   log it is already.
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
  /// True when a gap was told just now: what is open should be told again.
  bool close_gap(WallMs now);
  /// A request was told and the daemon has not stored it yet.
  [[nodiscard]] bool is_storing_request() const;
  /// What the agent asks and was not answered, after a WELCOME to this session or after a gap in it.
  void report_again(const std::vector<events::Event>& requests, const std::string& session, WallMs now);

  /// `events`: how many were told, wait, and were lost.
  void describe(text::JsonWriter& out) const;

 private:
  /// The id under which it waits; empty when there was no room.
  std::string put(const events::Event& event, WallMs at, std::string_view again = {});

  client::Link& link_;
  std::string agent_;
  std::uint64_t dropped_ = 0;  // since the host began
  std::uint64_t missing_ = 0;  // of those, not told yet
  struct Request {
    std::string event = {};  // that told it; empty: there was no room
    WallMs since = 0;
    std::string session = {};  // that stored it
  };
  static constexpr std::size_t kMaxOwed = 64;
  std::map<std::string, Request> asked_;                // the open ones
  std::vector<std::pair<events::Event, WallMs>> owed_;  // ends of what was told, that fell into the gap
  std::string session_;
};

/// The payload of an AGENT_EVENT; `again`: the session that was told before.
std::string event_payload(const events::Event& event, WallMs at, std::string_view again = {});

}  // namespace relay::host
