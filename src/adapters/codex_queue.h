/// Codex's own queue of a thread: what is put there becomes the next prompt once Codex is idle, beside whatever a person
/// has half typed.
///
/// `codex queue` does the same with the text on its command line, where everybody on the machine can read it; so we speak
/// to `codex app-server` on its standard input instead (`thread/queue/add`, Codex 0.166.0), with the delivery's id as the
/// message's own. It is started when it is needed and ended when it was not for a while.
///
/// Codex pauses its queue when a turn is interrupted, until another turn starts by other means. So what is queued then is
/// deleted from the queue, to be delivered another way.
/// Invariants: a text that was written to it and not answered counts as taken: it may be in the queue. A text counts as
///   withdrawn only when Codex says that it deleted it.
/// Threading: loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/adapter.h"
#include "base/json.h"
#include "pty/line_helper.h"

namespace relay::adapters {

struct CodexPace {
  Millis patience{15'000};    // for an answer
  Millis keep_alive{30'000};  // without anything to do
};

class CodexQueue final : private pty::LineHelperListener {
 public:
  using OnWithdrawn = std::function<void(const std::string& delivery)>;

  static constexpr std::size_t kMaxQueued = 64;  // submissions that are remembered

  /// `command` starts Codex itself; how it is asked to serve is ours. `on_withdrawn` is called for each text that
  /// `withdraw_all` has taken out of the queue.
  CodexQueue(net::AsioLoop& loop, pty::Command command, OnWithdrawn on_withdrawn, CodexPace pace = {});

  void put(const Words& words, const std::string& thread, Adapter::OnHanded done);
  /// Deletes what is still queued.
  void withdraw_all();
  /// The model was given this text: it has left the queue.
  void on_model_input(std::string_view text);

 private:
  /// The result; empty when the request was written and nothing answered it.
  using OnResponse = std::move_only_function<void(Result<json::object>)>;
  struct Request {
    std::int64_t id = 0;
    std::string line = {};
    OnResponse done = {};
    bool written = false;
    SteadyTime until{};
  };
  /// A text in Codex's queue.
  struct Submission {
    std::string id = {};  // Codex's
    std::string thread = {}, delivery = {}, text = {};
  };

  void call(std::string_view method, json::object params, OnResponse done);
  void withdraw(const Submission& submission);

  void on_line(std::string_view line) override;
  void on_ended(const std::string& reason) override;
  void write_waiting();
  void give_up(const std::string& reason);
  void set_timer();

  net::AsioLoop& loop_;
  pty::Command command_;
  OnWithdrawn on_withdrawn_;
  CodexPace pace_;
  std::unique_ptr<pty::LineHelper> helper_;
  bool ready_ = false;  // it has answered our greeting
  std::deque<Request> requests_;
  std::deque<Submission> queued_;  // the oldest first
  std::int64_t last_id_ = 0;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace relay::adapters
