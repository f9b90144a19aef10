/// Codex's own queue of a thread: what is put there becomes the next prompt once Codex is idle, beside whatever a person
/// has half typed.
///
/// `codex queue` does the same with the text on its command line, where everybody on the machine can read it; so we speak
/// to `codex app-server` on its standard input instead (`thread/queue/add`, Codex 0.166.0), with the delivery's id as the
/// message's own. It is started when it is needed and ended when it was not for a while.
/// Invariants: a text that was written to it and not answered counts as taken: it may be in the queue.
/// Threading: loop thread only.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "adapters/adapter.h"
#include "pty/line_helper.h"

namespace relay::adapters {

struct CodexPace {
  Millis patience{15'000};    // for an answer
  Millis keep_alive{30'000};  // without anything to do
};

class CodexQueue final : private pty::LineHelperListener {
 public:
  /// `command` starts Codex itself; how it is asked to serve is ours.
  CodexQueue(net::AsioLoop& loop, pty::Command command, CodexPace pace = {});

  void put(const Words& words, const std::string& thread, Adapter::OnHanded done);

 private:
  struct Request {
    std::int64_t id = 0;
    std::string line = {};
    Adapter::OnHanded done = {};
    bool written = false;
    SteadyTime until{};
  };

  void on_line(std::string_view line) override;
  void on_ended(const std::string& reason) override;
  void write_waiting();
  void give_up(const std::string& reason);
  void set_timer();

  net::AsioLoop& loop_;
  pty::Command command_;
  CodexPace pace_;
  std::unique_ptr<pty::LineHelper> helper_;
  bool ready_ = false;  // it has answered our greeting
  std::deque<Request> requests_;
  std::int64_t last_id_ = 0;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace relay::adapters
