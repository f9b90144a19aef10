/// A relay in a unit test: letters lie here, and every question waits until the test answers it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "mcp/post.h"

namespace relay::mcp::testing {

struct ScriptedPost final : Post {
  void start(PostListener& to) override { listener = &to; }
  [[nodiscard]] Standing standing() const override { return {"Alice", "own session", 0}; }
  void send(Draft draft, OnSent on_sent) override {
    drafts.push_back(std::move(draft));
    if (!trouble.empty()) return on_sent(fail(trouble));
    on_sent(sent);
  }
  void mail(MailWish wish, OnMail on_mail) override {
    if (slow) return later.push_back([this, wish, on_mail = std::move(on_mail)]() mutable { answer(wish, on_mail); });
    answer(wish, on_mail);
  }
  void ask(protocol::MessageType type, std::string payload, Millis, OnReply on_reply) override {
    questions.emplace_back(type, std::move(payload));
    if (!trouble.empty()) return on_reply(fail(trouble));
    on_reply(parse_json_object(reply));
  }

  void arrives(Letter letter) {
    letters.push_back(std::move(letter));
    listener->on_mail();
  }
  /// The oldest question that waits.
  void answer_next() {
    auto task = std::move(later.front());
    later.pop_front();
    task();
  }
  void answer(const MailWish& wish, OnMail& on_mail) {
    if (!trouble.empty()) return on_mail(fail(trouble));
    Mail mail{.letters = {}, .paused = paused};
    const auto limit = std::min(wish.limit, at_once);
    for (auto at = letters.begin(); at != letters.end() && mail.letters.size() < limit;) {
      const bool wanted = wish.ids.empty() || std::ranges::find(wish.ids, at->id) != wish.ids.end();
      if (wanted) mail.letters.push_back(*at);
      at = wanted && wish.take ? letters.erase(at) : at + 1;
    }
    mail.more = wish.take ? !letters.empty() : letters.size() > mail.letters.size();
    on_mail(std::move(mail));
  }

  PostListener* listener = nullptr;
  std::deque<Letter> letters;
  std::vector<Draft> drafts;
  std::vector<std::pair<protocol::MessageType, std::string>> questions;
  std::deque<std::move_only_function<void()>> later;
  std::string trouble, reply = "{}";
  Sent sent{.id = "abc", .recipients = 1};
  bool paused = false;
  bool slow = false;
  std::size_t at_once = 5'000;  // letters in one answer
};

}  // namespace relay::mcp::testing
