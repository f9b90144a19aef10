/// What happened, as rows: numbered by the store in the order of commits, without a gap.
///
/// A message that is taken and every line of a delivery's ledger are events by themselves: the store numbers them along
/// with the change. All others are added (AddEvent).
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
inline constexpr std::string_view kSessionEnded = "session.ended";  // told with what was done in the session

struct EventRow {
  std::string type;  // of events/event.h
  WallMs at = 0;
  AgentName agent;    // whose doing; may be empty
  SessionId session;  // the same
  std::string body;   // a JSON object: the members of its table
};

/// Its place in the log of a workspace, from 1.
using EventSeq = std::uint64_t;

/// Which events somebody wants. Empty lists: all.
struct EventFilter {
  std::vector<std::string> types;  // `item.started`, or a group: `item`
  std::vector<std::string> agents;
  std::vector<std::string> sessions;

  [[nodiscard]] bool matches(std::string_view type, std::string_view agent, std::string_view session) const;
};

/// Sums over what has the same names; what had a cost told apart from what had none.
struct UsageSum {
  AgentName agent;
  std::string model, thread;
  SessionId session;
  std::int64_t answers = 0;
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // when the agents told it
};

/// What a session's usage cost, in dollars; empty when nothing of it has a price. Called from any thread.
using PriceOf = std::function<std::optional<double>(const std::vector<UsageSum>& sums)>;

/// The next events after a number, in order.
struct EventQuery {
  EventSeq after = 0;
  EventSeq before = 0;  // 0: up to the newest
  WallMs since = 0;     // not before; 0: any
  WallMs until = 0;     // before; 0: any
  EventFilter filter;
  std::size_t limit = 100;
  bool newest = false;    // instead: the last `limit` of them that fit, still in order
  PriceOf price_of = {};  // for the summary of `session.ended`; without it there is no cost in it
};

/// As it is told: one JSON object, without secrets.
struct EncodedEvent {
  EventSeq number = 0;
  std::string type = {};
  std::string json = {};
};

struct EventPage {
  std::vector<EncodedEvent> events;
  EventSeq next_after = 0;   // everything up to here was looked at: the next `after`
  EventSeq next_before = 0;  // of the newest: everything from here on was looked at: the next `before`
  bool more = false;         // there are others behind `reached`; of the newest: before `from`
  EventSeq oldest = 0;       // of the log; 0: it is empty
  EventSeq newest = 0;       // ever given out
};

/// What one answer of a model cost. The same (session, request) again replaces the earlier count.
struct UsageRow {
  SessionId session;
  std::string request = {};
  AgentName agent = {};
  std::string model = {};
  std::string thread = {};
  std::string source = {};
  WallMs at = 0;
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // dollars, when the agent says so
};

struct UsageQuery {
  WallMs since = 0, until = 0;           // 0: any
  std::string agent = {}, session = {};  // empty: any
};

/// What was done in a session.
struct SessionStats {
  std::int64_t items = 0;
  std::int64_t commands = 0;
  std::vector<std::string> files = {};  // changed ones, each once; at most kMaxSessionFiles
};
inline constexpr std::size_t kMaxSessionFiles = 1'000;

}  // namespace relay::records
