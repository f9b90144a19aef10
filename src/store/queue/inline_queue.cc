#include "store/queue/inline_queue.h"

#include <algorithm>

#include "base/log.h"

namespace relay::store {
namespace {

constexpr std::size_t kForgetStepRows = 256;  // between two turns of the loop

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
  const bool under_way = std::exchange(forgetting_, PruneJob{retention, now}).has_value();
  if (!under_way)
    post_([this, alive = lifetime_.watch()] {
      if (alive) forget_step();
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
  const auto alive = lifetime_.watch();  // whoever is told may end us
  const auto requests = std::exchange(requests_, {});
  auto queries = std::exchange(queries_, {});
  if (!requests.empty()) {
    auto outcome = execute(*store_, requests);
    if (!outcome.failed) {
      reached_ = std::max(reached_, reached_by(requests).commits);
      if (promise_of(requests) == CommitDurability::Kept) kept_ = reached_;
    }
    notify(std::move(outcome));
  }
  for (auto& [id, query] : queries)
    if (alive) listener_.on_answer(id, answer(*store_, query));
}

void InlineStoreQueue::notify(BatchOutcome outcome) {
  const auto alive = lifetime_.watch();
  for (auto& reply : outcome.before)
    if (alive) reply(listener_);
  if (alive && outcome.failed) {
    // What those made the listener ask for is behind the hole, and fails with the rest.
    std::erase_if(requests_, [&](const BatchRequest& request) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist != nullptr) outcome.failed->last = persist->ticket;
      return persist != nullptr;
    });
    listener_.on_commit_failed(outcome.failed->first, outcome.failed->last, outcome.failed->why);
  }
  for (auto& reply : outcome.after)
    if (alive) reply(listener_);
}

void InlineStoreQueue::forget_step() {
  const auto more = store_->prune_step(forgetting_->retention, forgetting_->now, kForgetStepRows);
  if (!more) log::warn("old records could not be forgotten", {{"reason", more.error().message()}});
  if (!more || !*more) return forgetting_.reset();
  post_([this, alive = lifetime_.watch()] {
    if (alive) forget_step();
  });
}

}  // namespace relay::store
