/// Requests about workers: their results and the hosts that the broker starts for them.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "broker/testing/broker_fixture.h"
#include "broker/testing/stored_records.h"

namespace relay::broker::testing {

/// The payload of the only response of this type.
inline Frame only_result(BrokerFixture& fixture, ConnectionId to, std::string_view type) {
  const auto frames = fixture.received(to, type);
  EXPECT_EQ(frames.size(), 1u) << type;
  return frames.empty() ? Frame{} : payload(frames.front());
}

/// The only host that the broker starts.
inline StartHost only_start(BrokerFixture& fixture) {
  auto starts = fixture.host_requests<StartHost>();
  EXPECT_EQ(starts.size(), 1u);
  return starts.empty() ? StartHost{} : std::move(starts.front());
}

/// Reports the outcome of the only RELEASE that the broker passed to a host.
inline void finish_release(BrokerFixture& fixture, Result<void> outcome = {}) {
  fixture.host_done(fixture.host_requests<StopHost>().at(0).id, std::move(outcome));
}

}  // namespace relay::broker::testing
