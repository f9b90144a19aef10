#include "daemon/event_projection.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kPageRows = 1'000;
constexpr std::size_t kSmallPageRows = 200;  // too small to delay messages noticeably
constexpr Millis kBurst{200};                // events within it are written together
constexpr Millis kIdleTime{250};             // without a commit: then large pages are written
constexpr Millis kMaxWait{5'000};            // for that; then a small page is written
constexpr int kTimeShare = 10;               // at most a tenth of the time
constexpr Millis kRetry{5'000};
constexpr int kNiceness = 10;  // requests go first

}  // namespace

Millis pause_after_page(Millis took, Millis since_last_commit) {
  if (since_last_commit >= kIdleTime) return Millis{0};
  return std::max(kBurst, took * (kTimeShare - 1));
}

EventProjection::EventProjection(std::string directory, net::EventLoop& loop, Post post)
    : file_{std::move(directory)}, loop_{loop}, post_{std::move(post)} {}

EventProjection::~EventProjection() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void EventProjection::start(records::EventSeq newest, RequestPage request_page) {
  const auto last = file_.open(newest);
  if (!last) {
    log::warn("events are not written to their file; agent-relay events shows them",
              {{"reason", last.error().message()}});
    return;
  }
  written_up_to_ = *last;
  newest_ = newest;
  request_page_ = std::move(request_page);
  thread_ = std::thread{[this] { run(); }};
  schedule();
}

void EventProjection::set_retention(WallMs age) { age_ = age; }

void EventProjection::on_committed(records::EventSeq newest) {
  newest_ = std::max(newest_, newest);
  committed_at_ = loop_.now().steady;
  schedule();
}

void EventProjection::schedule() {
  if (!request_page_ || busy_ || timer_ || written_up_to_ >= newest_) return;
  timer_ = loop_.after(failing_ ? kRetry : pause_, [this] {
    timer_.reset();
    request_page_if_idle();
  });
}

void EventProjection::request_page_if_idle() {
  const auto now = loop_.now().steady;
  const bool is_idle = now - committed_at_ >= kIdleTime;
  const bool is_small = newest_ - written_up_to_ <= kSmallPageRows;
  if (!is_idle && !is_small && now - requested_at_ < kMaxWait) return schedule();
  busy_ = true;
  requested_at_ = now;
  records::EventQuery query;
  query.after = written_up_to_;
  query.limit = is_idle ? kPageRows : kSmallPageRows;
  request_page_(query);
}

void EventProjection::on_page(Result<records::EventPage> page) {
  if (!page) return on_written(written_up_to_, Failure{page.error()});
  {
    const std::lock_guard lock{mutex_};
    const auto now = loop_.now().wall;
    job_ = {page->next_after, Job{std::move(page->events), now, age_ > 0 ? now - age_ : 0}};
  }
  changed_.notify_one();
}

void EventProjection::on_written(records::EventSeq next_after, const Result<void>& outcome) {
  busy_ = false;
  if (!outcome && !std::exchange(failing_, true))
    log::warn("events cannot be written to their file; trying again", {{"reason", outcome.error().message()}});
  if (!outcome) return schedule();
  failing_ = false;
  written_up_to_ = std::max(written_up_to_, next_after);
  const auto now = loop_.now().steady;
  pause_ = pause_after_page(std::chrono::duration_cast<Millis>(now - requested_at_),
                            std::chrono::duration_cast<Millis>(now - committed_at_));
  schedule();
  pause_ = std::max(pause_, kBurst);  // for the next commits
}

void EventProjection::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  WallMs removed_before = 0;
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || job_; });
    if (stopping_) return;
    const auto [next_after, job] = *std::exchange(job_, std::nullopt);
    lock.unlock();
    auto outcome = file_.append(job.events, job.now);
    if (job.remove_before - removed_before > kMaxEventFileAgeMs / 24) {  // not more often than hourly
      file_.remove_before(job.remove_before);
      removed_before = job.remove_before;
    }
    post_([this, next_after, outcome = std::move(outcome)] { on_written(next_after, outcome); });
    lock.lock();
  }
}

}  // namespace relay::daemon
