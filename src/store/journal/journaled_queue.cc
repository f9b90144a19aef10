#include "store/journal/journaled_queue.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "records/change_codec.h"
#include "store/queue/store_batch.h"

namespace relay::store {
namespace {

using namespace records;

constexpr std::chrono::milliseconds kRetryDelay{1'000};
constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;  // about: then the next begins

/// Could the store refuse it? Of what the broker asks it refuses nothing but a delivery of a message that it does not have.
bool may_be_refused(const Changes& changes) {
  Key message;
  return std::ranges::any_of(changes, [&](const Change& change) {
    if (const auto* add = std::get_if<AddMessage>(&change)) message = add->message.key;
    const auto* add = std::get_if<AddDelivery>(&change);
    return add != nullptr && add->delivery.message != message;
  });
}

}  // namespace

JournaledStoreQueue::JournaledStoreQueue(std::unique_ptr<Journal> journal, const MakeWriter& make_writer,
                                         const MakeQueue& make_queue, const Post& post, Wait wait,
                                         StoreListener& listener)
    : listener_{listener},
      // What is on its way when we end is told to nobody.
      post_{[post, alive = lifetime_.watch()](Task task) {
        post([alive, task = std::move(task)]() mutable {
          if (alive) task();
        });
      }},
      wait_{std::move(wait)},
      journal_{std::move(journal)},
      backing_{make_queue(post_, *this)},
      writer_{make_writer(*journal_, *this, post_)},
      began_after_{journal_->newest()},
      journaled_{journal_->reach()},
      given_{journaled_} {}

JournaledStoreQueue::~JournaledStoreQueue() {
  ended_ = true;
  flush();
  writer_->stop();
  // Whatever the store has by then it has for good.
  if (given_.commits > began_after_ && reapply())
    backing_->apply({{.ticket = {}, .changes = {}, .journalled = journaled_}});
  backing_->stop();
  lifetime_.end();
  const auto newest = journal_->newest();
  const bool done = newest == began_after_ || newest <= backing_->durable_position();
  backing_.reset();  // closes the database, which puts everything into its place
  if (done) journal_->discard();
}

void JournaledStoreQueue::persist(CommitTicket ticket, Changes changes, CommitMode haste) {
  if (refused_) {  // behind a hole that nobody knows of yet
    refused_->last = ticket;
    return;
  }
  if (last_direct_ || open_expiries_ > 0 || stuck_ || unsure_ || may_be_refused(changes)) {
    last_direct_ = ticket;
    return forward(PersistRequest{.ticket = ticket, .changes = std::move(changes)});
  }
  if (gathered_.empty()) record_ = {.bytes = std::string(Journal::kFrameBytes, '\0'), .haste = CommitMode::WithTheNext};
  encode(changes, record_.bytes);
  ++record_.commits;
  record_.messages += messages_in(changes);
  if (haste == CommitMode::Now) record_.haste = CommitMode::Now;
  gathered_.push_back({.ticket = ticket, .changes = std::move(changes), .promise = CommitDurability::ElseKept});
  if (record_.bytes.size() >= kMaxRecordBytes) flush();
  flush_soon();
}

void JournaledStoreQueue::load_backlog(BacklogRequest request) {
  forward([this, request = std::move(request)](BackingQueue& queue) mutable {
    if (auto done = reapply(); done)
      return queue.load_backlog(std::move(request));
    else
      post_([this, request, why = done.error()] { listener_.on_backlog(Failure{why}, request); });
  });
}

void JournaledStoreQueue::expire(ExpireRequest request) {
  ++open_expiries_;
  forward([this, request](BackingQueue& queue) {
    if (auto done = reapply(); done)
      return queue.expire(request);
    else
      post_([this, why = done.error()] { on_expired(Failure{why}); });
  });
}

void JournaledStoreQueue::query(QueryId id, Query query) {
  forward([this, id, query = std::move(query)](BackingQueue& queue) mutable {
    questions_.emplace(id, given_.commits);
    queue.query(id, std::move(query));
  });
}

void JournaledStoreQueue::prune(Retention retention, WallMs now) { backing_->prune(retention, now); }

bool JournaledStoreQueue::idle() const {
  return gathered_.empty() && pipeline_.empty() && unapplied_.empty() && !untold_ && !refused_ && !last_direct_ &&
         open_expiries_ == 0 && early_.empty();
}

void JournaledStoreQueue::flush_soon() {
  if (std::exchange(flush_comes_, true)) return;
  post_([this] {
    flush_comes_ = false;
    flush();
    tell();
  });
}

void JournaledStoreQueue::flush() {
  if (gathered_.empty()) return;
  pipeline_.emplace_back(std::exchange(gathered_, {}));
  flushing_ = true;
  writer_->write(std::exchange(record_, {}));
  flushing_ = false;
}

/// In its turn: behind everything that was asked before it.
void JournaledStoreQueue::forward(std::variant<PersistRequest, Forward> work) {
  record_.haste = CommitMode::Now;
  flush();
  std::visit([this](auto& one) { pipeline_.emplace_back(std::move(one)); }, work);
  advance();
  if (untold_ || refused_) flush_soon();
}

void JournaledStoreQueue::advance() {
  while (!pipeline_.empty()) {
    auto& front = pipeline_.front();
    if (std::holds_alternative<Batch>(front) && written_ == 0) return;
    auto work = std::move(front);
    pipeline_.pop_front();
    if (auto* batch = std::get_if<Batch>(&work)) {
      --written_;
      settle(std::move(*batch));
    } else if (auto* direct = std::get_if<PersistRequest>(&work)) {
      execute(std::move(*direct));
    } else {
      std::get<Forward>(work)(*backing_);
    }
  }
}

void JournaledStoreQueue::execute(PersistRequest direct) {
  if (refused_) {
    refused_->last = direct.ticket;
    return;
  }
  auto done = journal_->erase_rolled_back();
  if (done) done = reapply();
  if (!done) {
    refused_ = Refused{direct.ticket, direct.ticket, done.error()};
    last_direct_.reset();
    return flush_soon();
  }
  direct.journalled = given_ = {given_.commits + 1, given_.messages + messages_in(direct.changes)};
  direct_.push_back({direct.ticket, given_, 0, direct.promise});
  std::vector<PersistRequest> one;
  one.push_back(std::move(direct));
  backing_->apply(std::move(one));
}

/// The journal has them: they may be told, and are the store's to apply.
void JournaledStoreQueue::settle(Batch batch) {
  for (auto& request : batch) {
    given_ = {given_.commits + 1, given_.messages + messages_in(request.changes)};
    request.journalled = journaled_ = given_;
    unapplied_.push_back({request.ticket, given_, bytes_held(request.changes), request.promise});
    unapplied_bytes_ += unapplied_.back().bytes;
  }
  // Once a segment has begun, the ones before it wait only for the store to keep for good what they hold.
  if (const auto segment = journal_->newest_segment(); segment > sealed_ && segment <= given_.commits) {
    sealed_ = segment;
    batch.back().promise = unapplied_.back().promise = CommitDurability::Kept;
  }
  untold_ = batch.back().ticket;
  if (!stuck_) backing_->apply(std::move(batch));
}

/// What the store could not take, from the journal.
Result<void> JournaledStoreQueue::reapply() {
  if (!std::exchange(stuck_, false) || unapplied_.empty()) return {};
  std::vector<PersistRequest> again;
  auto next = unapplied_.begin();
  auto read = journal_->read(next->place.commits - 1, [&](JournalReach place, Changes changes) -> Result<void> {
    if (next == unapplied_.end() || next->place.commits != place.commits) return {};
    again.push_back({next->ticket, std::move(changes), next->place, next->promise, next->piecewise});
    ++next;
    return {};
  });
  if (read && next != unapplied_.end())
    read = fail(Errc::Damaged,
                "the journal of the message store is damaged; restart the daemon to recover what can be read: "
                "agent-relay down --all, agent-relay up");
  if (!read) {
    stuck_ = true;
    notify_damage(read.error());
    return read;
  }
  backing_->apply(std::move(again));
  return {};
}

void JournaledStoreQueue::tell() {
  if (ended_) return;
  if (unmarked_ && !journal_->mark()) return;
  unmarked_ = false;
  const auto alive = lifetime_.watch();  // whoever is told may end us
  const bool keeps_up = unapplied_bytes_ <= kMaxLagBytes || refused_;
  if (untold_ && keeps_up) listener_.on_committed(*std::exchange(untold_, std::nullopt), newest_event_);
  if (!alive || !refused_) return;
  const auto refused = *std::exchange(refused_, std::nullopt);
  listener_.on_commit_failed(refused.first, refused.last, refused.why);
}

// What the writer tells.

void JournaledStoreQueue::on_written(std::size_t records) {
  written_ += records;
  advance();
  if (!flushing_) tell();
}

void JournaledStoreQueue::on_write_failed(const Error& why) {
  std::optional<Refused> refused;
  const auto add = [&](const Batch& requests) {
    for (const auto& [ticket, changes, journalled, promise, piecewise] : requests) {
      if (!refused) refused = Refused{ticket, ticket, why};
      refused->last = ticket;
    }
  };
  std::erase_if(pipeline_, [&](const auto& work) {
    if (const auto* batch = std::get_if<Batch>(&work)) add(*batch);
    if (const auto* direct = std::get_if<PersistRequest>(&work)) {
      if (!refused) refused = Refused{direct->ticket, direct->ticket, why};
      refused->last = direct->ticket;
    }
    return !std::holds_alternative<Forward>(work);
  });
  add(gathered_);
  gathered_.clear();
  record_ = {};
  last_direct_.reset();
  if (refused && !refused_)
    refused_ = std::move(refused);
  else if (refused)
    refused_->last = refused->last;
  advance();
  if (!flushing_) tell();
}

// What the queue behind us tells.

void JournaledStoreQueue::on_committed(CommitTicket up_to, EventSeq newest) {
  if (ended_) return;
  newest_event_ = std::max(newest_event_, newest);
  error_.reset();
  unsure_ = false;
  CommitNumber kept = 0;
  bool journalled = false;
  while (!unapplied_.empty() && unapplied_.front().ticket <= up_to) {
    const auto& applied = unapplied_.front();
    if (applied.promise == CommitDurability::Kept) kept = applied.place.commits;
    journalled = applied.ticket == up_to;
    unapplied_bytes_ -= applied.bytes;
    unapplied_.pop_front();
  }
  if (kept > 0) journal_->mark_applied(kept);
  if (journalled) {
    listener_.on_events(newest_event_);
  } else {
    for (; !direct_.empty() && direct_.front().ticket <= up_to; direct_.pop_front()) journaled_ = direct_.front().place;
    if (journaled_.commits > journal_->newest() && !journal_->skip_to(journaled_) && !std::exchange(unmarked_, true))
      mark_later();
    if (last_direct_ && *last_direct_ <= up_to) last_direct_.reset();
    untold_ = up_to;
  }
  tell();
  send_results();
}

void JournaledStoreQueue::on_commit_failed(CommitTicket from, CommitTicket to, const Error& why) {
  if (ended_) return;
  auto direct = from;
  if (!unapplied_.empty() && unapplied_.front().ticket <= to) {
    stuck_ = true;
    error_ = why;
    direct = CommitTicket{unapplied_.back().ticket.value() + 1};
    if (is(why, Errc::BadChange) && unapplied_.front().ticket == from) {
      log::error("a commit contradicts the message store: its changes are applied one by one",
                 {{"reason", why.message()}});
      unapplied_.front().piecewise = true;
    } else {
      log::error("what was acknowledged waits in the journal: the message store cannot take it",
                 {{"reason", why.message()}});
    }
  }
  if (stuck_) try_again_later();
  send_results();
  if (to < direct) return;
  if (last_direct_ && *last_direct_ <= to) last_direct_.reset();
  direct_.clear();
  if (!is(why, Errc::BadChange)) unsure_ = true;
  given_ = journaled_;
  if (!unapplied_.empty() && unapplied_.back().place.commits > given_.commits) given_ = unapplied_.back().place;
  if (!unmarked_) return listener_.on_commit_failed(direct, to, why);
  // Behind what is not told yet.
  if (!refused_) refused_ = Refused{direct, to, why};
  refused_->last = to;
}

void JournaledStoreQueue::mark_later() {
  wait_(kRetryDelay, [this, alive = lifetime_.watch()] {
    if (!alive || !unmarked_) return;
    tell();
    if (alive && unmarked_) mark_later();
  });
}

void JournaledStoreQueue::try_again_later() {
  wait_(kRetryDelay, [this, alive = lifetime_.watch()] {
    if (!alive || !stuck_) return;
    if (const auto done = reapply(); !done) try_again_later();
  });
}

void JournaledStoreQueue::on_backlog(Result<BacklogPage> page, const BacklogRequest& asked) {
  if (!ended_) listener_.on_backlog(std::move(page), asked);
}

void JournaledStoreQueue::on_expired(Result<ExpireResult> result) {
  if (ended_) return;
  --open_expiries_;
  if (result) newest_event_ = std::max(newest_event_, result->newest_event);
  listener_.on_expired(std::move(result));
}

void JournaledStoreQueue::on_answer(QueryId id, Result<QueryResult> answer) {
  if (ended_) return;
  const auto asked = questions_.extract(id);
  early_.push_back({id, asked.empty() ? 0 : asked.mapped(), std::move(answer)});
  send_results();
}

void JournaledStoreQueue::on_damage(const Damage& damage) {
  if (!ended_) listener_.on_damage(damage);
}

/// Later: the caller of give_again may be in the middle of its work.
void JournaledStoreQueue::notify_damage(const Error& error) {
  if (!is(error, Errc::Damaged) || std::exchange(damage_told_, true)) return;
  post_([this, damage = found_at_work(error)] { on_damage(damage); });
}

/// An answer is good once the store is known to have had all that was told before the question.
void JournaledStoreQueue::send_results() {
  for (auto& [id, sees, answer] : std::exchange(early_, {})) {
    const bool blind = !unapplied_.empty() && unapplied_.front().place.commits <= sees;
    if (!blind)
      listener_.on_answer(id, std::move(answer));
    else if (error_)
      listener_.on_answer(id, Failure{*error_});
    else
      early_.push_back({id, sees, std::move(answer)});
  }
}

}  // namespace relay::store
