/// A listener that records the calls of its link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/link.h"

namespace relay::client::testing {

class RecordingListener final : public LinkListener {
 public:
  AckMode taken = AckMode::Now;
  std::vector<Session> sessions;
  std::vector<std::string> lost;
  std::optional<Error> stopped;
  std::vector<DeliveryRef> incoming;
  std::vector<std::string> payloads;
  std::vector<std::pair<DeliveryRef, protocol::DeliveryMode>> moved;
  std::vector<std::string> cancelled;
  std::vector<bool> pauses;
  std::vector<std::string> sent;
  std::vector<std::pair<std::string, std::string>> refused;  // id, code
  std::vector<protocol::MessageType> frames;
  std::function<void()> when_incoming;

  void on_ready(const Session& session) override { sessions.push_back(session); }
  void on_lost(const std::string& reason, Millis) override { lost.push_back(reason); }
  void on_stopped(const Error& why) override { stopped = why; }
  AckMode on_incoming(const IncomingMessage& one) override {
    incoming.push_back(one.ref);
    payloads.emplace_back(one.envelope.payload);
    if (when_incoming) when_incoming();
    return taken;
  }
  void on_moved(const DeliveryRef& ref, protocol::DeliveryMode mode) override { moved.emplace_back(ref, mode); }
  bool on_cancel(const protocol::CancelCommand& command) override {
    cancelled.push_back(command.delivery_id);
    return drops_cancelled;
  }
  bool drops_cancelled = true;
  void on_pause(const protocol::PauseCommand& command) override { pauses.push_back(command.paused); }
  void on_sent(const std::string& id) override { sent.push_back(id); }
  void on_refused(const std::string& id, const protocol::Nack& why) override { refused.emplace_back(id, why.code); }
  void on_frame(const protocol::Envelope& envelope) override { frames.push_back(envelope.type); }
};

}  // namespace relay::client::testing
