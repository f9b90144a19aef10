#include "subjects/relay_endpoint.h"

#include "base/format.h"

namespace relay::bench {
namespace {

bool has_type(std::string_view frame, std::string_view type) {
  return member(frame.substr(0, 64), R"("type":)") == type;
}

}  // namespace

std::string hello_frame(const Hello& hello) {
  auto capabilities = std::string{R"("ack":true,"resume":true,"max_inflight":4096,"supports_topics":true)"};
  if (hello.confirms) capabilities += R"(,"send_ack":true)";
  if (!hello.outbox.empty()) capabilities += relay::format(R"(,"outbox":"{}")", hello.outbox);
  auto session = std::string{};
  if (!hello.resume_token.empty()) session = relay::format(R"(,"session":{{"resume_token":"{}"}})", hello.resume_token);
  return frame_of(
      relay::format(R"({{"v":1,"type":"HELLO","id":"h","ts":1,"payload":{{"agent":"{}","capabilities":{{{}}}{}}}}})",
                    hello.name, capabilities, session));
}

Result<std::string> read_welcome(Peer& peer) {
  while (true) {
    const auto frame = RELAY_TRY(peer.read_frame());
    if (has_type(frame, "WELCOME")) return std::string{member(frame, R"("resume_token":)")};
    if (frame.contains(R"("fatal":true)")) return fail("the daemon refused HELLO: " + frame);
  }
}

void RelayEndpoint::send(std::string_view to, std::string_view body) {
  peer_.queue(frame_of(relay::format(
      R"({{"v":1,"type":"SEND","id":"{}-{}","ts":1,"to":"{}","payload":{{"kind":"message","body":"{}"}}}})", epoch_,
      ++sent_, to, body)));
}

Result<ReadCounts> RelayEndpoint::read() {
  ReadCounts counts;
  std::string_view frame;
  while (peer_.take(frame)) {
    if (has_type(frame, "DELIVER")) {
      const auto id = member(frame, R"("id":)");
      if (repeats_ == Repeats::No || delivered_.emplace(id).second) ++counts.deliveries;
      peer_.queue(
          frame_of(relay::format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":{}}}}})", id,
                                 member(frame, R"("seq":)"))));
    } else if (has_type(frame, "ACK")) {
      ++counts.confirmations;
    } else if (has_type(frame, "PING")) {
      peer_.queue(frame_of(relay::format(R"({{"v":1,"type":"PONG","id":"p","ts":1,"payload":{{"nonce":"{}"}}}})",
                                         member(frame, R"("nonce":)"))));
    } else if (has_type(frame, "NACK") || has_type(frame, "ERROR")) {
      return fail("the daemon refused: " + std::string{frame});
    }
  }
  return counts;
}

}  // namespace relay::bench
