/// Sends events of sessions and reads the event log.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "broker/testing/broker_fixture.h"
#include "broker/testing/stored_records.h"

namespace relay::broker::testing {

inline constexpr auto kItem = R"({"type":"item.started","itemId":"i1","itemType":"tool_call","startedAt":5})";

struct EventFixture : ::testing::Test {
  BrokerFixture fixture;

  std::vector<Frame> log(const std::string& type = {}) { return stored_events(fixture, type); }
  /// The newest event of a type.
  Frame last(const std::string& type) {
    const auto events = log(type);
    return events.empty() ? Frame{} : events.back();
  }
  /// `ACK e1-1`, `NACK e1-1 BAD_REQUEST`, …; takes all frames.
  Strings responses(ConnectionId to) {
    Strings responses;
    for (const auto& frame : fixture.received(to)) {
      if (type_of(frame) == "ACK") responses.push_back("ACK " + string_field(payload(frame), "ack_id"));
      if (type_of(frame) == "NACK")
        responses.push_back(format("NACK {} {}", string_field(payload(frame), "nack_id"), code_of(frame)));
    }
    return responses;
  }
  /// Moves the clock in steps in which this connection answers every PING.
  void advance_with_pongs(ConnectionId id, Millis time) {
    constexpr Millis kStep{4'000};
    for (Millis passed{0}; passed < time; passed += kStep) {
      fixture.advance(kStep);
      fixture.pong(id);
    }
  }
};

}  // namespace relay::broker::testing
