/// Rows of the event log as JSON, one object each, with secrets redacted. Private to src/store.
#pragma once

#include <optional>
#include <string>

#include "records/events.h"
#include "records/records.h"

namespace relay::store {

/// The members that every event has.
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
  records::SessionStats stats = {};
  std::int64_t tokens = 0;
  std::optional<double> cost = {};  // dollars
};
/// Adds the sum of tokens and their cost.
void add_usage(SessionSummary& summary, const std::vector<records::UsageSum>& sums, const records::PriceOf& price_of);
/// The body of `session.ended` with the summary of the session.
std::string add_summary(std::string_view body, const SessionSummary& summary);

/// `message` is empty when retention has removed it.
std::string encode_message(const EventHead& head, Key key, const std::optional<records::Message>& message);

enum class Party : std::uint8_t { Agent, User };
/// Members that retention has removed are empty: the message, the history entry.
struct DeliveryEventData {
  Key delivery;
  std::optional<records::Message> message = {};
  std::optional<records::HistoryEntry> entry = {};
  Party from = Party::Agent, to = Party::Agent;
  bool will_retry = false;  // the delivery is delayed until available_at
  WallMs available_at = 0;
};
std::string encode_delivery(const EventHead& head, const DeliveryEventData& data);

/// The type of the event for a history entry. The first entry is `delivery.created`; a later Queued is
/// `delivery.queued`.
std::string_view event_type_of(records::DeliveryState state, bool first);

}  // namespace relay::store
