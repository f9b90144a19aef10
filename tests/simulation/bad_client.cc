#include "tests/simulation/bad_client.h"

#include "base/format.h"
#include "protocol/frame.h"
#include "records/short_id.h"
#include "tests/simulation/sim_client.h"

namespace relay::simulation {

BadClient::BadClient(net::Network& network, Random& random, Trace& trace, HistoryChecker& checker, std::string claimed,
                     std::string unclaimed)
    : network_{network},
      random_{random},
      trace_{trace},
      checker_{checker},
      claimed_{std::move(claimed)},
      unclaimed_{std::move(unclaimed)},
      fault_{static_cast<Fault>(random.below(static_cast<std::uint64_t>(Fault::Last)))} {}

void BadClient::start() {
  network_.connect(kSocketPath, [this, alive = lifetime_.watch()](auto stream) {
    if (!alive || !stream) return;
    stream_ = std::move(*stream);
    stream_->start(*this);
    act();
  });
}

void BadClient::frame(std::string_view json) {
  std::string bytes;
  protocol::append_frame(bytes, protocol::HeaderStyle::Four, json);
  stream_->write(bytes);
}

void BadClient::hello(std::string_view name) {
  frame(format(
      R"({{"v":1,"type":"HELLO","id":"h","ts":1,"payload":{{"agent":"{}","capabilities":{{"ack":true,"resume":true,"max_inflight":256,"supports_topics":true}}}}}})",
      name));
}

void BadClient::act() {
  trace_.line("a bad client commits violation {}", static_cast<int>(fault_));
  switch (fault_) {
    case Fault::Garbage: {
      std::string bytes(1 + random_.below(300), '\0');
      for (auto& byte : bytes) byte = static_cast<char>(random_.below(256));
      return stream_->write(bytes);
    }
    case Fault::HugeHeader: return stream_->write(std::string_view{"\x00\x7f\xff\xff{", 5});
    case Fault::HalfAFrame: return stream_->write(std::string_view{"\x00\x00\x01\x00{\"v\":1,", 11});
    case Fault::NotAnObject: return frame("[1,2,3]");
    case Fault::BadUtf8: return frame("{\"v\":1,\"type\":\"HELLO\",\"id\":\"\xff\xfe\",\"ts\":1,\"payload\":{}}");
    case Fault::Nested: return frame(R"({"v":1,"type":"HELLO","id":"h","ts":1,"payload":)" + std::string(20'000, '['));
    case Fault::UnknownType: return frame(R"({"v":1,"type":"SURPRISE","id":"h","ts":1,"payload":{}})");
    case Fault::SendBeforeHello: return frame(R"({"v":1,"type":"SEND","id":"s","ts":1,"payload":{"body":"no name"}})");
    case Fault::ForgedSender:
      return frame(format(
          R"({{"v":1,"type":"SEND","id":"s","ts":1,"from":"{}","to":"{}","payload":{{"kind":"message","body":"forged"}}}})",
          claimed_, claimed_));
    case Fault::BadName: return hello(R"(a\u0007b c)");
    case Fault::StealsClaimedName: return hello(claimed_);
    case Fault::StealsName: return hello(unclaimed_.empty() ? claimed_ : unclaimed_);
    case Fault::FloodsAndNeverReads:
      stream_->pause_reading();
      hello("Flood");
      for (int i = 0; i < 60; ++i)
        frame(format(
            R"({{"v":1,"type":"SEND","id":"f{}","ts":1,"to":"{}","payload":{{"kind":"message","body":"flood"}}}})", i,
            claimed_));
      return;
    case Fault::AcknowledgesOthersDeliveries:
      hello("Nosy");
      for (int key = 1; key < 60; ++key)
        frame(format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":1}}}})",
                     records::delivery_id(Key{key})));
      return;
    case Fault::Leaves: return hello(format("Guest{}", random_.below(3)));
    case Fault::Last: return;
  }
}

void BadClient::on_bytes(std::string_view bytes) {
  received_.append(bytes);
  if (fault_ == Fault::Leaves && received_.find("\"type\":\"WELCOME\"") != received_.npos) {
    received_.clear();
    return frame(R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  }
  const bool thief = fault_ == Fault::StealsClaimedName || (fault_ == Fault::StealsName && unclaimed_.empty());
  if (thief && received_.find("\"type\":\"WELCOME\"") != received_.npos)
    checker_.violate_unless_damaged("a client without the token got the name " + claimed_);
}

}  // namespace relay::simulation
