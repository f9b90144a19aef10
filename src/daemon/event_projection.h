/// Brings the log of events into its file, behind the commits, on a thread of its own.
///
/// Invariants: at most one page is under way; nothing is asked while there is nothing new, so an idle daemon sleeps. It
///   takes a tenth of the time at most, and while much happens it falls behind: whoever talks goes first. What cannot be written is tried again with
///   what comes next, and said once.
/// Ownership: owns the file and the thread; the questions are the workspace's. Threading: all calls on the loop thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "daemon/event_file.h"
#include "net/event_loop.h"
#include "records/queries.h"

namespace relay::daemon {

/// How long to pause after a page of events that took so long to be written. While messages are committed, at most a tenth
/// of the time goes into the file. Once nothing is committed there is nobody to disturb, and the rest is written at once:
/// paced catching up would wake an idle daemon for minutes after a load.
Millis pause_after_page(Millis took, Millis since_last_commit);

class EventProjection {
 public:
  using Post = std::function<void(net::Task)>;  // onto the loop thread, while the workspace lives
  using RequestPage = std::function<void(const records::EventQuery& query)>;  // answered by `on_page`

  EventProjection(std::string directory, net::EventLoop& loop, Post post);
  ~EventProjection();
  EventProjection(const EventProjection&) = delete;
  EventProjection& operator=(const EventProjection&) = delete;

  /// The rows go up to `newest` at the moment. A file that cannot be used is said, and left alone.
  void start(records::EventSeq newest, RequestPage request_page);
  void on_committed(records::EventSeq newest);
  void on_page(Result<records::EventPage> page);
  /// What is older is removed from now on; 0: nothing.
  void set_retention(WallMs age);

 private:
  struct Job {
    std::vector<records::EncodedEvent> events;
    WallMs now = 0;
    WallMs remove_before = 0;
  };
  void schedule();
  void request_or_wait();
  void on_written(records::EventSeq reached, const Result<void>& outcome);
  void run();

  EventFile file_;  // of the thread, once it runs
  net::EventLoop& loop_;
  Post post_;
  RequestPage request_page_;
  WallMs age_ = 0;
  records::EventSeq newest_ = 0;
  records::EventSeq written_up_to_ = 0;
  bool busy_ = false;
  bool failing_ = false;
  SteadyTime requested_at_{};
  SteadyTime committed_at_{};
  Millis pause_{200};  // before the next page; what happens within is written together
  std::unique_ptr<net::Timer> timer_;

  std::mutex mutex_;  // guards the two below
  std::optional<std::pair<records::EventSeq, Job>> job_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace relay::daemon
