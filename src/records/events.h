/// Events as rows, numbered by the store in the order of commits without gaps.
///
/// An accepted message and every history entry of a delivery are events on their own: the store numbers them with the
/// change. All other events are added (AddEvent).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "protocol/names.h"

namespace relay::records {

inline constexpr std::string_view kMessageExchanged = "message.exchanged";
inline constexpr std::string_view kSessionEnded = "session.ended";  // contains the session's totals

struct EventRow {
  std::string type;  // of events/event.h
  WallMs at = 0;
  AgentName agent;    // the agent that caused it; may be empty
  SessionId session;  // likewise
  std::string body;   // a JSON object: the members of its table
};

/// The number of an event in the log of a workspace, from 1.
using EventSeq = std::uint64_t;

/// Selects events. Empty lists match all.
struct EventFilter {
  std::vector<std::string> types;  // `item.started`, or a group: `item`
  std::vector<std::string> agents;
  std::vector<std::string> sessions;

  [[nodiscard]] bool matches(std::string_view type, std::string_view agent, std::string_view session) const;
};

/// Sums of usage with equal names; usage with a reported cost is summed apart from usage without one.
struct UsageSum {
  AgentName agent;
  std::string model, thread;
  SessionId session;
  std::int64_t answers = 0;
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // when the agents reported it
};

/// The cost of a session's usage, in dollars; empty when no part of it has a price. Called from any thread.
using PriceOf = std::function<std::optional<double>(const std::vector<UsageSum>& sums)>;

/// The next events after a number, in order.
struct EventQuery {
  EventSeq after = 0;
  EventSeq before = 0;  // 0: up to the newest
  WallMs since = 0;     // not before; 0: any
  WallMs until = 0;     // before; 0: any
  EventFilter filter;
  std::size_t limit = 100;
  bool newest = false;    // instead: the newest `limit` matching events, in order
  PriceOf price_of = {};  // for the summary of `session.ended`; absent: no cost
};

/// An event as it is sent: one JSON object, without secrets.
struct EncodedEvent {
  EventSeq number = 0;
  std::string type = {};
  std::string json = {};
};

struct EventPage {
  std::vector<EncodedEvent> events;
  EventSeq next_after = 0;   // everything up to here was scanned: the next `after`
  EventSeq next_before = 0;  // of a newest-first query: everything from here on was scanned: the next `before`
  bool more = false;         // more events follow `next_after`; of a newest-first query: precede `next_before`
  EventSeq oldest = 0;       // of the log; 0: the log is empty
  EventSeq newest = 0;       // ever assigned
};

/// The usage of one model response. A row with the same (session, request) replaces the earlier one.
struct UsageRow {
  SessionId session;
  std::string request = {};
  AgentName agent = {};
  std::string model = {};
  std::string thread = {};
  std::string source = {};
  WallMs at = 0;
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // dollars, when the agent reports it
};

struct UsageQuery {
  WallMs since = 0, until = 0;           // 0: any
  std::string agent = {}, session = {};  // empty: any
};

/// Totals of a session.
struct SessionStats {
  std::int64_t items = 0;
  std::int64_t commands = 0;
  std::vector<std::string> files = {};  // changed files, each once; at most kMaxSessionFiles
};
inline constexpr std::size_t kMaxSessionFiles = 1'000;

}  // namespace relay::records
