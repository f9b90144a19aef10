#include "broker/testing/stored_records.h"

namespace relay::broker::testing {

records::TraceEntry trace_entry(BrokerFixture& fixture, const std::string& id) {
  const auto trace = fixture.store().trace(id);
  return trace && !trace->deliveries.empty() ? trace->deliveries.front() : records::TraceEntry{};
}

Strings history_of(const records::TraceEntry& entry) {
  Strings entries;
  for (const auto& change : entry.history) {
    const bool stored = change.proof == records::Proof::Stored;
    entries.push_back(format("{}{}{}", name_of(change.state), stored ? "" : "/", stored ? "" : name_of(change.proof)));
  }
  return entries;
}

std::vector<records::MessageRow> inbox_of(BrokerFixture& fixture, const std::string& name) {
  records::MessageQuery query;
  query.delivered_to = name;
  return *fixture.store().messages(query);
}

std::vector<Frame> stored_events(BrokerFixture& fixture, const std::string& type) {
  records::EventQuery query;
  query.limit = 10'000;
  if (!type.empty()) query.filter.types = {type};
  std::vector<Frame> events;
  const auto page = fixture.store().events(query).value();
  for (const auto& event : page.events) events.push_back(*parse_json_object(event.json));
  return events;
}

}  // namespace relay::broker::testing
