/// A relay in a unit test: letters lie here, and every question waits until the test answers it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "mcp/relay_client.h"

namespace relay::mcp::testing {

struct ScriptedRelayClient final : RelayClient {
  void start(RelayClientListener& to) override { listener = &to; }
  [[nodiscard]] ClientStatus standing() const override { return {"Alice", "own session", 0}; }
  void send(protocol::OutgoingSend message, OnSent on_sent) override {
    if (const auto encoded = protocol::encode_send(message); !encoded) return on_sent(Failure{encoded.error()});
    drafts.push_back(std::move(message));
    if (!error.empty()) return on_sent(fail(error));
    on_sent(sent);
  }
  void inbox(InboxQuery wish, OnMail on_mail) override {
    if (slow) return later.push_back([this, wish, on_mail = std::move(on_mail)]() mutable { answer(wish, on_mail); });
    answer(wish, on_mail);
  }
  void ask(protocol::MessageType type, std::string payload, Millis, OnReply on_reply) override {
    questions.emplace_back(type, std::move(payload));
    if (!error.empty()) return on_reply(fail(error));
    on_reply(parse_json_object(reply));
  }

  void arrives(InboxMessage letter) {
    letters.push_back(std::move(letter));
    listener->on_message_available();
  }
  /// The oldest question that waits.
  void answer_next() {
    auto task = std::move(later.front());
    later.pop_front();
    task();
  }
  void answer(const InboxQuery& wish, OnMail& on_mail) {
    if (!error.empty()) return on_mail(fail(error));
    InboxPage mail{.letters = {}, .paused = paused};
    const auto limit = std::min(wish.limit, at_once);
    for (auto at = letters.begin(); at != letters.end() && mail.letters.size() < limit;) {
      const bool wanted = wish.ids.empty() || std::ranges::find(wish.ids, at->id) != wish.ids.end();
      if (wanted) mail.letters.push_back(*at);
      at = wanted && wish.take ? letters.erase(at) : at + 1;
    }
    mail.more = wish.take ? !letters.empty() : letters.size() > mail.letters.size();
    on_mail(std::move(mail));
  }

  RelayClientListener* listener = nullptr;
  std::deque<InboxMessage> letters;
  std::vector<protocol::OutgoingSend> drafts;
  std::vector<std::pair<protocol::MessageType, std::string>> questions;
  std::deque<std::move_only_function<void()>> later;
  std::string error, reply = "{}";
  SendResult sent{.id = "abc", .recipients = 1};
  bool paused = false;
  bool slow = false;
  std::size_t at_once = 5'000;  // letters in one answer
};

}  // namespace relay::mcp::testing
