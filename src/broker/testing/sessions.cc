#include "broker/testing/sessions.h"

namespace relay::broker::testing {
namespace {

constexpr auto kAllModes = R"("modes":["immediate","next-message","next-tool-call","on-idle","manual"])";

}  // namespace

ConnectionId join_sender(BrokerFixture& fixture, const std::string& name) {
  return fixture.join(name, R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
}

ConnectionId join_with_final_receipts(BrokerFixture& fixture, const std::string& name) {
  return fixture.join(name, R"("capabilities":{"send_ack":true,"receipts":true})");
}

ConnectionId join_host(BrokerFixture& fixture, const std::string& name, const std::string& more) {
  return fixture.join(name, format(R"("capabilities":{{"ack":true,"send_ack":true,"delivery":{{"queue":true,{}}},)"
                                   R"("lifecycle":{{"release":true,"pause":true}}}}{}{})",
                                   kAllModes, more.empty() ? "" : ",", more));
}

ConnectionId join_callback(BrokerFixture& fixture, const std::string& name, const std::string& more) {
  return fixture.join(name, format(R"("capabilities":{{"ack":true,"send_ack":true,"delivery":{{{}}}}}{}{})", kAllModes,
                                   more.empty() ? "" : ",", more));
}

Strings receipts(BrokerFixture& fixture, ConnectionId sender) {
  Strings summaries;
  for (const auto& frame : fixture.received(sender, "RECEIPT")) summaries.push_back(receipt_summary(frame));
  return summaries;
}

Strings delivered_ids(BrokerFixture& fixture, ConnectionId session) {
  Strings ids;
  for (const auto& frame : fixture.received(session, "DELIVER")) ids.push_back(string_field(frame, "id"));
  return ids;
}

}  // namespace relay::broker::testing
