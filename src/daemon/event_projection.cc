#include "daemon/event_projection.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kPageRows = 1'000;
constexpr std::size_t kFewRows = 200;  // a page that nobody notices
constexpr Millis kBurst{200};          // what happens within is written together
constexpr Millis kQuiet{250};          // without a commit: then there is time for large pages
constexpr Millis kMaxWait{5'000};      // for that; then a small one, whatever happens
constexpr int kTimeShare = 10;         // of the time at most a tenth
constexpr Millis kRetry{5'000};
constexpr int kNiceness = 10;  // whoever waits for an answer goes first

}  // namespace

Millis pause_after_page(Millis took, Millis since_last_commit) {
  if (since_last_commit >= kQuiet) return Millis{0};
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

void EventProjection::begin(records::EventSeq newest, Ask ask) {
  const auto last = file_.open(newest);
  if (!last) {
    log::warn("events are not written to their file; agent-relay events shows them",
              {{"reason", last.error().message()}});
    return;
  }
  reached_ = *last;
  newest_ = newest;
  ask_ = std::move(ask);
  thread_ = std::thread{[this] { run(); }};
  look();
}

void EventProjection::keep_for(WallMs age) { age_ = age; }

void EventProjection::on_committed(records::EventSeq newest) {
  newest_ = std::max(newest_, newest);
  committed_at_ = loop_.now().steady;
  look();
}

void EventProjection::look() {
  if (!ask_ || busy_ || timer_ || reached_ >= newest_) return;
  timer_ = loop_.after(failing_ ? kRetry : pause_, [this] {
    timer_.reset();
    ask_or_wait();
  });
}

void EventProjection::ask_or_wait() {
  const auto now = loop_.now().steady;
  const bool quiet = now - committed_at_ >= kQuiet;
  const bool few = newest_ - reached_ <= kFewRows;
  if (!quiet && !few && now - asked_at_ < kMaxWait) return look();
  busy_ = true;
  asked_at_ = now;
  records::EventQuery query;
  query.after = reached_;
  query.limit = quiet ? kPageRows : kFewRows;
  ask_(query);
}

void EventProjection::on_page(Result<records::EventPage> page) {
  if (!page) return written(reached_, Failure{page.error()});
  {
    const std::lock_guard lock{mutex_};
    const auto now = loop_.now().wall;
    job_ = {page->next_after, Job{std::move(page->events), now, age_ > 0 ? now - age_ : 0}};
  }
  changed_.notify_one();
}

void EventProjection::written(records::EventSeq reached, const Result<void>& outcome) {
  busy_ = false;
  if (!outcome && !std::exchange(failing_, true))
    log::warn("events cannot be written to their file; trying again", {{"reason", outcome.error().message()}});
  if (!outcome) return look();
  failing_ = false;
  reached_ = std::max(reached_, reached);
  const auto now = loop_.now().steady;
  pause_ = pause_after_page(std::chrono::duration_cast<Millis>(now - asked_at_),
                            std::chrono::duration_cast<Millis>(now - committed_at_));
  look();
  pause_ = std::max(pause_, kBurst);  // for what is committed next
}

void EventProjection::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  WallMs forgotten = 0;
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || job_; });
    if (stopping_) return;
    const auto [reached, job] = *std::exchange(job_, std::nullopt);
    lock.unlock();
    auto outcome = file_.append(job.events, job.now);
    if (job.forget_before - forgotten > kMaxEventFileAgeMs / 24) {  // not more often than hourly
      file_.forget_before(job.forget_before);
      forgotten = job.forget_before;
    }
    post_([this, reached, outcome = std::move(outcome)] { written(reached, outcome); });
    lock.lock();
  }
}

}  // namespace relay::daemon
