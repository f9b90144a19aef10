/// What the store of a fixture contains: histories of deliveries, messages of a recipient, events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/testing/broker_fixture.h"

namespace relay::broker::testing {

/// The history of a message with one delivery; by short id, delivery id, or the id its sender gave it.
records::TraceEntry trace_entry(BrokerFixture& fixture, const std::string& id);

/// The entries of its history: `queued`, `accepted/written`, `delivered/seen`, …
Strings history_of(const records::TraceEntry& entry);

std::vector<records::MessageRow> inbox_of(BrokerFixture& fixture, const std::string& name);

/// The events in the log, oldest first: those of one type or domain, or all.
std::vector<Frame> stored_events(BrokerFixture& fixture, const std::string& type = {});

}  // namespace relay::broker::testing
