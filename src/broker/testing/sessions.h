/// The sessions that most tests of deliveries need, and what they receive as short words.
#pragma once

#include <string>
#include <vector>

#include "broker/testing/broker_fixture.h"

namespace relay::broker::testing {

using Texts = std::vector<std::string>;

inline BrokerLimits no_heartbeat() { return {.heartbeat_ms = 1'000'000'000}; }

/// Requests a receipt for every change.
inline ConnectionId join_sender(BrokerFixture& world, const std::string& name = "Alice") {
  return world.join(name, R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
}
/// Has a queue of its own and does all modes.
inline ConnectionId join_host(BrokerFixture& world, const std::string& name = "Bob", const std::string& more = {}) {
  return world.join(name, R"("capabilities":{"ack":true,"send_ack":true,"delivery":{"queue":true,"modes":)"
                          R"(["immediate","next-message","next-tool-call","on-idle","manual"]},)"
                          R"("lifecycle":{"release":true,"pause":true}})" +
                              (more.empty() ? "" : "," + more));
}
/// Is the agent itself; the broker decides when it delivers.
inline ConnectionId join_callback(BrokerFixture& world, const std::string& name = "Bob", const std::string& more = {}) {
  return world.join(name, R"("capabilities":{"ack":true,"send_ack":true,"delivery":{"modes":)"
                          R"(["immediate","next-message","next-tool-call","on-idle","manual"]}})" +
                              (more.empty() ? "" : "," + more));
}

inline std::string in_mode(std::string_view mode, std::string_view more = {}) {
  return format(R"("payload_meta":{{"delivery":{{"mode":"{}"{}{}}}}})", mode, more.empty() ? "" : ",", more);
}

/// `delivered/seen`, `deferred UNSUPPORTED`, `deferred retryable`, …
inline std::string receipt_word(const Frame& receipt) {
  const auto& what = payload(receipt);
  std::string word = text(what, "status");
  if (const auto proof = text(what, "proof"); !proof.empty()) word += "/" + proof;
  if (const auto code = text(what, "code"); !code.empty()) word += " " + code;
  return word + (bool_member(what, "retryable").value_or(false) ? " retryable" : "");
}
inline Texts receipts(BrokerFixture& world, ConnectionId sender) {
  Texts words;
  for (const auto& frame : world.received(sender, "RECEIPT")) words.push_back(receipt_word(frame));
  return words;
}

/// The ids of what a session was given since it was last asked.
inline Texts given(BrokerFixture& world, ConnectionId session) {
  Texts ids;
  for (const auto& frame : world.received(session, "DELIVER")) ids.push_back(text(frame, "id"));
  return ids;
}

inline const Frame& delivery_block(const Frame& deliver) { return *object_member(deliver, "delivery"); }
inline std::int64_t number(const Frame& object, std::string_view name) {
  return integer_member(object, name).value_or(-1);
}

}  // namespace relay::broker::testing
