/// Writes the event log to its file, after the commits, on a separate thread.
///
/// Invariants: at most one page is in progress; nothing is requested while there is no new event, so an idle daemon
///   sleeps. It uses at most a tenth of the time; under load it falls behind so that messages are not delayed. A page
///   that cannot be written is retried with the next events, and the failure is logged once.
/// Ownership: owns the file and the thread; the workspace runs the queries. Threading: all calls on the loop thread.
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

/// The pause after a page that took `took` to write. While messages are committed, at most a tenth of the time is spent
/// on the file. After the last commit the rest is written without pauses: pauses would wake an idle daemon for minutes
/// after a load.
Millis pause_after_page(Millis took, Millis since_last_commit);

class EventProjection {
 public:
  using Post = std::function<void(net::Task)>;  // onto the loop thread, while the workspace lives
  using RequestPage = std::function<void(const records::EventQuery& query)>;  // the result goes to `on_page`

  EventProjection(std::string directory, net::EventLoop& loop, Post post);
  ~EventProjection();
  EventProjection(const EventProjection&) = delete;
  EventProjection& operator=(const EventProjection&) = delete;

  /// `newest` is the last event in the store. An unusable file is logged and stays unchanged.
  void start(records::EventSeq newest, RequestPage request_page);
  void on_committed(records::EventSeq newest);
  void on_page(Result<records::EventPage> page);
  /// Removes older events from now on; 0: none.
  void set_retention(WallMs age);

 private:
  struct Job {
    std::vector<records::EncodedEvent> events;
    WallMs now = 0;
    WallMs remove_before = 0;
  };
  void schedule();
  void request_page_if_idle();
  void on_written(records::EventSeq reached, const Result<void>& outcome);
  void run();

  EventFile file_;  // used by the thread once it runs
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
  Millis pause_{200};  // before the next page; events within it are written together
  std::unique_ptr<net::Timer> timer_;

  std::mutex mutex_;  // guards job_ and stopping_
  std::optional<std::pair<records::EventSeq, Job>> job_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace relay::daemon
