/// Questions put to the daemon that have not been answered.
///
/// An answer names its question by the envelope's id (`*_RESPONSE`), by `replyTo` (`*_RESULT`), or refuses it by
/// `nack_id` or an ERROR with the same id. Bounded by kMaxOpenQuestions.
/// Ownership: borrows the loop, which outlives it. Threading: loop thread only; a callback may ask again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/event_loop.h"
#include "protocol/envelope.h"

namespace relay::client {

inline constexpr std::size_t kMaxOpenQuestions = 64;

/// The answer to a question: its frame (never null, gone when the callback returns), or why there is none.
using OnResponse = std::move_only_function<void(Result<const protocol::Envelope*>)>;

class PendingRequests {
 public:
  explicit PendingRequests(net::EventLoop& loop) : loop_{loop} {}

  [[nodiscard]] bool full() const { return open_.size() >= kMaxOpenQuestions; }
  void add(std::string id, Millis timeout, OnResponse on_answer);
  /// True when the frame answered an open question (its callback has run).
  bool answer(const protocol::Envelope& envelope);
  /// Every open question hears why there will be no answer.
  void fail_all(const std::string& why);
  /// Forgets them without a word.
  void clear() { open_.clear(); }

 private:
  struct Open {
    OnResponse on_answer;
    std::unique_ptr<net::Timer> timeout;
  };
  void finish(const std::string& id, Result<const protocol::Envelope*> result);

  net::EventLoop& loop_;
  std::map<std::string, Open, std::less<>> open_;
};

}  // namespace relay::client
