#include "store/queue/inline_queue.h"

#include <algorithm>

#include "base/log.h"

namespace relay::store {
namespace {

constexpr std::size_t kPruneStepRows = 256;  // in one turn of the loop

}  // namespace

using namespace records;

void InlineStoreQueue::persist(CommitTicket ticket, Changes changes, CommitMode) {
  requests_.emplace_back(PersistRequest{.ticket = ticket, .changes = std::move(changes)});
  serve_soon();
}

void InlineStoreQueue::apply(std::vector<PersistRequest> requests) {
  for (auto& request : requests) requests_.emplace_back(std::move(request));
  serve_soon();
}

void InlineStoreQueue::stop() {
  while (serving_soon_) serve();
}

void InlineStoreQueue::load_backlog(BacklogRequest request) {
  requests_.emplace_back(std::move(request));
  serve_soon();
}

void InlineStoreQueue::expire(ExpireRequest request) {
  requests_.emplace_back(request);
  serve_soon();
}

void InlineStoreQueue::query(QueryId id, Query query) {
  queries_.emplace_back(id, std::move(query));
  serve_soon();
}

void InlineStoreQueue::prune(Retention retention, WallMs now) {
  const bool under_way = std::exchange(prune_job_, PruneJob{retention, now}).has_value();
  if (!under_way)
    post_([this, alive = lifetime_.watch()] {
      if (alive) prune_step();
    });
}

void InlineStoreQueue::serve_soon() {
  if (std::exchange(serving_soon_, true)) return;
  post_([this, alive = lifetime_.watch()] {
    if (alive) serve();
  });
}

void InlineStoreQueue::serve() {
  serving_soon_ = false;
  const auto alive = lifetime_.watch();  // the listener may destroy this queue
  const auto requests = std::exchange(requests_, {});
  auto queries = std::exchange(queries_, {});
  if (!requests.empty()) {
    auto outcome = execute(*store_, requests);
    if (!outcome.failed) {
      applied_ = std::max(applied_, journal_reach_of(requests).commits);
      if (durability_of(requests) == CommitDurability::Full) durable_ = applied_;
    }
    notify(std::move(outcome));
  }
  for (auto& [id, query] : queries)
    if (alive) listener_.on_query_result(id, run_query(*store_, query));
}

void InlineStoreQueue::notify(BatchOutcome outcome) {
  const auto alive = lifetime_.watch();
  for (auto& reply : outcome.before)
    if (alive) reply(listener_);
  if (alive && outcome.failed) {
    // Requests that the listener made in these replies come after the failed commit and fail with the rest.
    std::erase_if(requests_, [&](const BatchRequest& request) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist != nullptr) outcome.failed->last = persist->ticket;
      return persist != nullptr;
    });
    listener_.on_commit_failed(outcome.failed->first, outcome.failed->last, outcome.failed->error);
  }
  for (auto& reply : outcome.after)
    if (alive) reply(listener_);
}

void InlineStoreQueue::prune_step() {
  const auto more = store_->prune_step(prune_job_->retention, prune_job_->now, kPruneStepRows);
  if (!more) log::warn("cannot prune old records", {{"reason", more.error().message()}});
  if (!more || !*more) return prune_job_.reset();
  post_([this, alive = lifetime_.watch()] {
    if (alive) prune_step();
  });
}

}  // namespace relay::store
