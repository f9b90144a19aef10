/// The sessions that most tests of deliveries need, and summaries of what they receive.
#pragma once

#include <string>

#include "broker/testing/broker_fixture.h"
#include "broker/testing/stored_records.h"

namespace relay::broker::testing {

/// Limits with which the broker sends no PING while a test moves the clock.
inline BrokerLimits no_heartbeat() { return {.heartbeat_ms = 1'000'000'000}; }

/// Receives a receipt for every change of its deliveries.
ConnectionId join_sender(BrokerFixture& fixture, const std::string& name = "Alice");
/// Receives only the final receipt of each delivery.
ConnectionId join_with_final_receipts(BrokerFixture& fixture, const std::string& name = "Alice");
/// A session with a queue of its own that supports all modes.
ConnectionId join_host(BrokerFixture& fixture, const std::string& name = "Bob", const std::string& more = {});
/// A session that is the agent itself; the broker decides when it delivers.
ConnectionId join_callback(BrokerFixture& fixture, const std::string& name = "Bob", const std::string& more = {});

/// Takes all frames; returns the summaries of the receipts.
Strings receipts(BrokerFixture& fixture, ConnectionId sender);
/// Takes all frames; returns the ids of the deliveries.
Strings delivered_ids(BrokerFixture& fixture, ConnectionId session);

}  // namespace relay::broker::testing
