#include "tests/simulation/sim_store_queue.h"

#include <optional>
#include <utility>

namespace relay::simulation {

SimStoreQueue::SimStoreQueue(VirtualLoop& loop, Random& random, const FaultPlan& faults, Trace& trace,
                             ObservedStore& store, store::StoreListener& listener, DeathFlag dead)
    : loop_{loop},
      random_{random},
      faults_{faults},
      trace_{trace},
      store_{store},
      listener_{listener},
      dead_{std::move(dead)} {}

void SimStoreQueue::persist(records::CommitTicket ticket, records::Changes changes, records::CommitMode) {
  add(store::PersistRequest{.ticket = ticket, .changes = std::move(changes)});
}
void SimStoreQueue::apply(std::vector<store::PersistRequest> requests) {
  for (auto& request : requests) add(std::move(request));
}
void SimStoreQueue::load_backlog(records::BacklogRequest request) { add(std::move(request)); }
void SimStoreQueue::expire(records::ExpireRequest request) { add(request); }

void SimStoreQueue::query(store::QueryId id, store::Query query) {
  if (*dead_) return;
  ++open_queries_;
  queries_.push_back({requested_, id, std::move(query)});
  done(0);
}

/// A query sees the results of the requests before it.
void SimStoreQueue::done(std::size_t requests) {
  done_ += requests;
  for (auto& question : std::exchange(queries_, {})) {
    if (question.after > done_) {
      queries_.push_back(std::move(question));
      continue;
    }
    later([this, id = question.id, query = std::move(question.query)] {
      --open_queries_;
      listener_.on_query_result(id, store::run_query(store_, query));
    });
  }
}

void SimStoreQueue::prune(store::Retention retention, WallMs now) {
  if (*dead_) return;
  later([this, retention, now] {
    while (store_.prune_step(retention, now, 100).value_or(false)) {}
  });
}

bool SimStoreQueue::idle() const {
  if (!pending_.empty() || busy_ || open_queries_ > 0) return false;
  return failed_at_ == SteadyTime::min() || loop_.now().steady - failed_at_ > kRecovery;
}

void SimStoreQueue::add(store::BatchRequest request) {
  if (*dead_) return;
  ++requested_;
  pending_.push_back(std::move(request));
  work_soon();
}

/// Runs the task after a random time, unless this daemon is dead by then.
void SimStoreQueue::later(net::Task task) {
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(faults_.max_commit.count()) + 1)};
  loop_.call_after(delay, [alive = lifetime_.watch(), dead = dead_, work = std::move(task)]() mutable {
    if (alive && !*dead) work();
  });
}

void SimStoreQueue::work_soon() {
  if (pending_.empty() || std::exchange(busy_, true)) return;
  later([this] { work(); });
}

void SimStoreQueue::work() {
  const auto count = static_cast<Requests::difference_type>(1 + random_.below(pending_.size()));
  Requests group{std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.begin() + count)};
  pending_.erase(pending_.begin(), pending_.begin() + count);
  if (faults_.commit_fails > 0 && random_.below(1000) < faults_.commit_fails) store_.fail_after(random_.below(6));
  auto replies = store::run_batch(store_, group);
  if (*dead_) return;  // a power cut inside the commit; the disk decides what is stored
  done(group.size());
  if (store_.failed()) {
    trace_.line("store: a commit fails");
    return later([this, failed = std::move(group)]() mutable { notify_failure(std::move(failed)); });
  }
  later([this, replies = std::move(replies)]() mutable { notify(std::move(replies)); });
}

void SimStoreQueue::notify(store::Replies replies) {
  for (auto& reply : replies) {
    if (*dead_) return;
    reply(listener_);
  }
  if (*dead_) return;
  busy_ = false;
  work_soon();
}

void SimStoreQueue::notify_failure(Requests failed) {
  done(pending_.size());
  for (auto& request : std::exchange(pending_, {})) failed.push_back(std::move(request));
  busy_ = false;
  failed_at_ = loop_.now().steady;
  const Error why{{static_cast<int>(store::Errc::Full), ErrcCategory<store::Errc>::instance()}, "the disk is full"};
  std::optional<records::CommitTicket> from, to;
  for (const auto& request : failed) {
    const auto* persist = std::get_if<store::PersistRequest>(&request);
    if (persist == nullptr) continue;
    if (!from) from = persist->ticket;
    to = persist->ticket;
  }
  if (from) listener_.on_commit_failed(*from, *to, why);
  for (const auto& request : failed) {
    if (*dead_) return;
    if (const auto* page = std::get_if<records::BacklogRequest>(&request)) listener_.on_backlog(Failure{why}, *page);
    if (std::holds_alternative<records::ExpireRequest>(request)) listener_.on_expired(Failure{why});
  }
}

}  // namespace relay::simulation
