/// Rows of the log as they are told: one JSON object each, without secrets. Private to src/store.
#pragma once

#include <optional>
#include <string>

#include "records/events.h"
#include "records/records.h"

namespace relay::store {

/// The part that every event has.
struct EventHead {
  records::EventSeq number = 0;
  WallMs at = 0;
  std::string type = {};
  std::string agent = {};
  std::string session = {};
};

std::string encode_event(const EventHead& head, std::string_view body);

struct SessionSummary {
  std::int64_t duration = 0;
  records::SessionStats work = {};
  std::int64_t tokens = 0;
  std::optional<double> cost = {};  // dollars
};
/// Adds up what was used, and what it cost.
void add_usage(SessionSummary& summary, const std::vector<records::UsageSum>& sums, const records::PriceOf& price_of);
/// The body of `session.ended`, and what was done until then.
std::string add_summary(std::string_view body, const SessionSummary& summary);

/// `message` is empty when it is not kept any more.
std::string encode_message(const EventHead& head, Key key, const std::optional<records::Message>& message);

enum class Party : std::uint8_t { Agent, User };
/// What is not kept any more is left out: the message, or what stood in the line.
struct DeliveryEventData {
  Key delivery;
  std::optional<records::Message> message = {};
  std::optional<records::HistoryEntry> entry = {};
  Party from = Party::Agent, to = Party::Agent;
  bool will_retry = false;  // it waits for another try
  WallMs available_at = 0;
};
std::string encode_delivery(const EventHead& head, const DeliveryEventData& data);

/// Of the event for a line of a ledger. A delivery begins once; later it waits in line again.
std::string_view event_type_of(records::DeliveryState state, bool first);

}  // namespace relay::store
