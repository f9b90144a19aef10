/// Connections of the user, of agents and of unidentified processes, and a permission that Bob requests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "broker/testing/broker_fixture.h"

namespace relay::broker::testing {

inline constexpr auto kCommandLine = R"("_isSystemComponent":true,"capabilities":{"send_ack":true})";

/// The authority of the sender in a DELIVER: `user`, or empty for a peer.
inline std::string sender_authority(const Frame& deliver) { return string_field(delivery_block(deliver), "as"); }

/// The members with which the command line sends for the user.
inline std::string as_user(std::string_view name) {
  return format(R"("from":"{}","claim_token":"{}")", name, kSystemToken);
}

struct AuthorityFixture : ::testing::Test {
  BrokerFixture fixture;
  ConnectionId bob = fixture.join_with_acks("Bob", R"("cli":"claude","workingDirectory":"/p")");

  void request_permission() {
    fixture.send_event(bob, "e1-1",
                       R"({"type":"permission.requested","requestId":"r1","tool":"Bash","command":"make",)"
                       R"("description":"run make","riskLevel":"low"})");
  }
  Frame approve(ConnectionId by) {
    return fixture.response(by, "ANSWER", R"({"agent":"Bob","request":"r1","decision":"approve"})");
  }

  /// TRACE of the message that this connection has just sent.
  Frame trace_of_sent(ConnectionId sender) {
    const auto id = string_field(payload(fixture.first_frame(sender, "ACK")), "short_id");
    return fixture.response(fixture.join_user(), "TRACE", format(R"({{"id":"{}"}})", id));
  }
  /// The id of its only delivery.
  std::string delivery_of_sent(ConnectionId sender) {
    return string_field(trace_of_sent(sender).at("deliveries").as_array().at(0).as_object(), "deliveryId");
  }
};

}  // namespace relay::broker::testing
