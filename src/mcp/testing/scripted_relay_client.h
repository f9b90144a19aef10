/// A RelayClient in a unit test: holds messages, and with `slow` delays inbox queries until the test answers them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "mcp/relay_client.h"

namespace relay::mcp::testing {

struct ScriptedRelayClient final : RelayClient {
  void start(RelayClientListener& to) override { listener = &to; }
  [[nodiscard]] ClientStatus status() const override { return {"Alice", "standalone", 0}; }
  void send(protocol::OutgoingSend message, OnSent on_sent) override {
    if (const auto encoded = protocol::encode_send(message); !encoded) return on_sent(Failure{encoded.error()});
    drafts.push_back(std::move(message));
    if (!error.empty()) return on_sent(fail(error));
    on_sent(sent);
  }
  void inbox(InboxQuery query, OnInbox on_inbox) override {
    if (slow)
      return later.push_back([this, query, on_inbox = std::move(on_inbox)]() mutable { answer(query, on_inbox); });
    answer(query, on_inbox);
  }
  void request(protocol::MessageType type, std::string payload, Millis, OnReply on_reply) override {
    questions.emplace_back(type, std::move(payload));
    if (!error.empty()) return on_reply(fail(error));
    on_reply(parse_json_object(reply));
  }

  void arrives(InboxMessage message) {
    messages.push_back(std::move(message));
    listener->on_message_available();
  }
  /// Answers the oldest delayed query.
  void answer_next() {
    auto task = std::move(later.front());
    later.pop_front();
    task();
  }
  void answer(const InboxQuery& query, OnInbox& on_inbox) {
    if (!error.empty()) return on_inbox(fail(error));
    InboxPage page{.messages = {}, .paused = paused};
    const auto limit = std::min(query.limit, at_once);
    for (auto at = messages.begin(); at != messages.end() && page.messages.size() < limit;) {
      const bool wanted = query.ids.empty() || std::ranges::find(query.ids, at->id) != query.ids.end();
      if (wanted) page.messages.push_back(*at);
      at = wanted && query.take ? messages.erase(at) : at + 1;
    }
    page.more = query.take ? !messages.empty() : messages.size() > page.messages.size();
    on_inbox(std::move(page));
  }

  RelayClientListener* listener = nullptr;
  std::deque<InboxMessage> messages;
  std::vector<protocol::OutgoingSend> drafts;
  std::vector<std::pair<protocol::MessageType, std::string>> questions;
  std::deque<std::move_only_function<void()>> later;
  std::string error, reply = "{}";
  SendResult sent{.id = "abc", .recipients = 1};
  bool paused = false;
  bool slow = false;
  std::size_t at_once = 5'000;  // messages in one response
};

}  // namespace relay::mcp::testing
