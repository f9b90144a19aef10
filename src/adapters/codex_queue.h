/// Codex's own queue of a thread: a text added there becomes the next prompt once Codex is idle, independent of the
/// user's draft.
///
/// `codex queue` does the same with the text on its command line, where every user of the machine can read it; so this
/// class uses `codex app-server` on its standard input (`thread/queue/add`, Codex 0.166.0), with the delivery's id as the
/// message's id. The server is started on demand and stopped after an idle time.
///
/// Codex pauses its queue when a turn is interrupted, until a turn starts by other means. The queued texts are then
/// deleted from the queue, to be delivered via another interface.
/// Invariants:
/// - A text that was written without a response counts as accepted: it may be in the queue.
/// - A text is withdrawn when Codex confirms its delete, or when it was never written. A delete without a response is
///   repeated while the queue is paused, and at its next pause. If Codex then has nothing to delete, either it took the
///   text or the first delete worked: such a text is not reported, so it is never delivered twice.
/// - Withdrawn texts are reported together and in their order, after the last response to an open request. A text that is
///   put meanwhile is not written; it is reported after them.
/// Threading: loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "base/json.h"
#include "pty/line_process.h"

namespace relay::adapters {

struct CodexTimeouts {
  Millis response{15'000};
  Millis keep_alive{30'000};  // of an unused server
  Millis retry{5'000};        // of a delete without a response
};

class CodexQueue final : private pty::LineProcessListener {
 public:
  /// Deliveries, in the order in which they were added.
  using OnWithdrawn = std::function<void(const std::vector<std::string>& deliveries)>;

  static constexpr std::size_t kMaxQueued = 64;  // tracked submissions
  static constexpr int kMaxRetries = 3;          // of deletes, in one pause

  /// `command` starts Codex itself; the arguments for its server are added here.
  CodexQueue(net::AsioLoop& loop, pty::Command command, OnWithdrawn on_withdrawn, CodexTimeouts timeouts = {});

  /// `done` is not called if the text is reported as withdrawn instead.
  void put(const NativeDelivery& delivery, const std::string& thread, Adapter::OnAccepted done);
  /// Codex does not read its queue: queued texts are withdrawn.
  void pause();
  /// Codex reads its queue again: texts that were not withdrawn stay there.
  void resume();
  /// Withdrawals are in progress.
  [[nodiscard]] bool is_withdrawing() const { return withdrawing_; }
  /// The model got this text, so it is no longer in the queue.
  void on_model_input(std::string_view text);

 private:
  /// The result; empty when the request was written without a response.
  using OnResponse = std::move_only_function<void(Result<json::object>)>;
  struct Request {
    std::int64_t id = 0;
    std::string_view action = {};  // the requested action, for an error
    std::string line = {};
    OnResponse done = {};
    bool written = false;
    SteadyTime until{};
  };
  enum class State : std::uint8_t { Unwritten, Writing, Queued, Deleting, Deleted };
  /// A text that Codex's model has not got yet.
  struct Submission {
    std::uint64_t number = 0;
    std::string id = {};  // Codex's, from the response
    std::string thread = {}, delivery = {}, text = {};
    State state = State::Writing;
  };

  void call(std::string_view action, std::string_view method, json::object params, OnResponse done);
  [[nodiscard]] Submission* find(std::uint64_t number);
  void erase(std::uint64_t number);
  void on_put_response(std::uint64_t number, const json::object& result);
  void withdraw();
  void on_delete_response(std::uint64_t number, const Result<json::object>& result);
  void finish_withdrawal();

  void on_line(std::string_view line) override;
  void on_ended(const std::string& reason) override;
  void write_pending();
  void fail_requests(const std::string& reason);
  void set_timer();

  net::AsioLoop& loop_;
  pty::Command command_;
  OnWithdrawn on_withdrawn_;
  CodexTimeouts timeouts_;
  std::unique_ptr<pty::LineProcess> process_;
  bool ready_ = false;  // the handshake is done
  std::deque<Request> requests_;
  std::deque<Submission> submissions_;  // oldest first
  std::uint64_t last_number_ = 0;
  bool paused_ = false;
  bool withdrawing_ = false;
  bool delete_failed_ = false;  // in this withdrawal
  int retries_ = 0;             // in this pause
  std::unique_ptr<net::Timer> retry_timer_;
  std::int64_t last_id_ = 0;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace relay::adapters
