#include "broker/testing/broker_fixture.h"

namespace relay::broker::testing {
namespace {

std::string comma_before(const std::string& more) { return more.empty() ? "" : "," + more; }

}  // namespace

void BrokerFixture::hello(ConnectionId id, const std::string& name, std::string more) {
  if (name == "cli" && !more.contains("session"))
    more += format(R"({}"session":{{"system_token":"{}"}})", more.empty() ? "" : ",", kSystemToken);
  send_frame(id, format(R"({{"v":1,"type":"HELLO","id":"h{}","ts":1,"payload":{{"agent":"{}"{}}}}})", id.value(), name,
                        comma_before(more)));
}

ConnectionId BrokerFixture::join(const std::string& name, const std::string& more) {
  return join_from(protocol::user_origin(), name, more);
}

ConnectionId BrokerFixture::join_from(protocol::PeerOrigin origin, const std::string& name, const std::string& more) {
  const ConnectionId id = connect(std::move(origin));
  hello(id, name, more);
  return id;
}

ConnectionId BrokerFixture::join_with_acks(const std::string& name, const std::string& more) {
  return join(name, R"("capabilities":{"ack":true,"send_ack":true})" + comma_before(more));
}

ConnectionId BrokerFixture::join_with_outbox(const std::string& name) {
  return join(name, R"("capabilities":{"send_ack":true,"outbox":"e"})");
}

ConnectionId BrokerFixture::join_user() {
  return join("cli", R"("_isSystemComponent":true,"capabilities":{"send_ack":true})");
}

void BrokerFixture::send(ConnectionId from, const std::string& id, const std::string& to, const std::string& body,
                         const std::string& more) {
  send_payload(from, id, to, format(R"("kind":"message","body":"{}")", body), more);
}

void BrokerFixture::send_payload(ConnectionId from, const std::string& id, const std::string& to,
                                 const std::string& members, const std::string& more) {
  send_frame(from, format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"{}","payload":{{{}}}{}}})", id, to, members,
                          comma_before(more)));
}

void BrokerFixture::send_event(ConnectionId from, const std::string& id, const std::string& event) {
  request(from, "AGENT_EVENT", format(R"({{"event":{}}})", event), id);
}

void BrokerFixture::ack(ConnectionId from, const Frame& deliver) {
  request(from, "ACK", format(R"({{"ack_id":"{}","seq":1}})", string_field(deliver, "id")), "a");
}

void BrokerFixture::send_receipt(ConnectionId from, const std::string& delivery, const std::string& members) {
  request(from, "RECEIPT", format(R"({{"deliveryId":"{}",{}}})", delivery, members));
}

void BrokerFixture::request(ConnectionId from, const std::string& type, const std::string& payload,
                            const std::string& id) {
  send_frame(from, format(R"({{"v":1,"type":"{}","id":"{}","ts":1,"payload":{}}})", type, id, payload));
}

Frame BrokerFixture::response(ConnectionId by, const std::string& type, const std::string& params) {
  drop_received(by);
  request(by, type, params);
  const auto frames = received(by);
  return frames.empty() ? Frame{} : payload(frames.back());
}

Frame BrokerFixture::control(ConnectionId by, const std::string& members) {
  drop_received(by);
  request(by, "CONTROL", "{" + members + "}");
  const auto results = received(by, "CONTROL_RESULT");
  return results.empty() ? Frame{} : payload(results.front());
}

void BrokerFixture::subscribe(ConnectionId from, const std::string& topic) {
  send_frame(from, format(R"({{"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"{}","payload":{{}}}})", topic));
}

void BrokerFixture::report_state(ConnectionId from, const std::string& state, const std::string& more) {
  request(from, "SESSION_STATE", format(R"({{"state":"{}"{}}})", state, comma_before(more)));
}

std::string token_of(BrokerFixture& fixture, ConnectionId id) {
  const auto welcomes = fixture.received(id, "WELCOME");
  return welcomes.empty() ? "" : string_field(payload(welcomes.front()), "resume_token");
}

}  // namespace relay::broker::testing
