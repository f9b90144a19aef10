// Commits: changes gathered into one, what waits for it, and what becomes of both when it fails.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {
namespace {

constexpr Millis kSaveRetryDelay{1'000};
constexpr std::size_t kKeptChanges = 128;  // room for them that is held ready

/// About what a change and its copy for a second try hold in memory.
std::size_t bytes_of(const records::Change& change) {
  std::size_t bytes = 2 * sizeof(records::Change);
  if (const auto* put = std::get_if<records::PutProposal>(&change)) {
    const auto& proposal = put->proposal;
    bytes += 2 * (proposal.title.size() + proposal.description.size());
    bytes += 2 * sizeof(AgentName) * proposal.participants.size();
    for (const auto& vote : proposal.votes) bytes += 2 * (sizeof vote + vote.reason.size());
  }
  if (const auto* add = std::get_if<records::AddEvent>(&change)) bytes += 2 * add->event.body.size();
  if (const auto* put = std::get_if<records::PutAgent>(&change)) {
    const auto& agent = put->agent;
    for (const auto* text : {&agent.cli, &agent.program, &agent.model, &agent.task, &agent.working_directory,
                             &agent.team, &agent.display_name, &agent.avatar_url})
      bytes += 2 * text->size();
  }
  if (const auto* add = std::get_if<records::AddSubscription>(&change)) bytes += 2 * add->topic.size();
  if (const auto* remove = std::get_if<records::RemoveSubscription>(&change)) bytes += 2 * remove->topic.size();
  if (const auto* forget = std::get_if<records::ForgetStream>(&change))
    bytes += 2 * forget->stream.topic.value().size();
  if (const auto* put = std::get_if<records::PutSession>(&change)) {
    for (const auto& topic : put->session.topics) bytes += 2 * (sizeof(std::string) + topic.size());
    for (const auto& binding : put->session.shadows)
      bytes += 2 * (sizeof binding + binding.speak_on.size() * sizeof(std::string));
  }
  return bytes;
}

}  // namespace

bool Core::has_gathered() const { return store_ != StoreHealth::Failing && (!changes_.empty() || !nothing_unsaved()); }

void Core::flush_changes() {
  if (store_ == StoreHealth::Failing) return;
  retry_unsaved();
  for (auto& stream : streams_.take_forgotten()) changes_.emplace_back(records::ForgetStream{std::move(stream)});
  for (auto& stream : streams_.take_changed()) changes_.emplace_back(records::SetStream{std::move(stream)});
  if (changes_.empty()) return;
  const auto room = std::min(changes_.size(), kKeptChanges);
  emit(Persist{next_ticket_, std::move(changes_), haste_of(next_ticket_)});
  changes_ = {};
  changes_.reserve(room);  // the next commit is likely as large
  next_ticket_ = records::CommitTicket{next_ticket_.value() + 1};
}

/// A line of a ledger that nobody asked to hear of may share the commit of the next message.
records::CommitMode Core::haste_of(records::CommitTicket ticket) const {
  for (auto waiting = pending_.rbegin(); waiting != pending_.rend() && waiting->ticket == ticket; ++waiting) {
    const auto* save = std::get_if<PendingSave>(&waiting->what);
    const auto* call = std::get_if<PendingCall>(&waiting->what);
    const bool awaited = save != nullptr ? save->news && receipts_.contains(save->news->message->key)
                                         : call == nullptr || call->haste == records::CommitMode::Immediate;
    if (awaited) return records::CommitMode::Immediate;
  }
  return records::CommitMode::Piggyback;
}

bool Core::nothing_unsaved() const {
  return std::ranges::all_of(unsaved_, [](const PendingWork& it) { return std::holds_alternative<PendingCall>(it); });
}

void Core::retry_unsaved() {
  if (nothing_unsaved()) return;
  // Older than whatever is being gathered, so they go in front of it, and are settled before it.
  auto later = pending_.take_from([&](const Pending& pending) { return pending.ticket == next_ticket_; });
  records::Changes gathered = std::exchange(changes_, {});
  for (auto& unsaved : std::exchange(unsaved_, {})) {
    if (const auto* save = std::get_if<PendingSave>(&unsaved)) change(save->change);
    if (auto* post = std::get_if<PendingSend>(&unsaved)) add_again(*post);
    pending_.emplace_back(next_ticket_, std::move(unsaved));
  }
  std::ranges::move(gathered, std::back_inserter(changes_));
  for (Pending& pending : later) pending_.emplace_back(std::move(pending));
}

void Core::add_again(PendingSend& post) {
  std::erase_if(post.deliveries, [this](const records::Delivery& delivery) {
    const AgentState* to = find_agent(delivery.to.value());
    return to == nullptr || to->removing;
  });
  // Their numbers were given out by the commit that failed.
  for (const auto& delivery : post.deliveries)
    streams_.touch(post.message->topic, post.message->from, delivery.to, delivery.lane);
  change(records::AddMessage{*post.message});
  for (const auto& delivery : post.deliveries) change(records::AddDelivery{delivery});
}

void Core::when_committed(std::move_only_function<void(CommitResult)> done) {
  if (changes_.empty() && pending_.empty()) return done(nothing_unsaved() ? CommitResult::Done : CommitResult::Failed);
  pending_.emplace_back(changes_.empty() ? pending_.back().ticket : next_ticket_, PendingCall{std::move(done)});
}

void Core::when_saved(std::move_only_function<void()> done, records::CommitMode haste) {
  PendingCall call{[done = std::move(done)](CommitResult) mutable { done(); }, RetryMode::UntilSaved, haste};
  if (!changes_.empty() || !pending_.empty()) {
    pending_.emplace_back(changes_.empty() ? pending_.back().ticket : next_ticket_, std::move(call));
  } else if (nothing_unsaved()) {
    call.done(CommitResult::Done);
  } else {
    unsaved_.emplace_back(std::move(call));
  }
}

void Core::save_eventually(records::Change saved, std::optional<ReceiptContext> news) {
  saved_bytes_ += bytes_of(saved);
  changes_.push_back(saved);
  pending_.emplace_back(next_ticket_, PendingSave{std::move(saved), std::move(news)});
}

void Core::settle(Pending& pending, CommitResult saving, std::string_view why) {
  if (auto* sent = std::get_if<PendingSend>(&pending.what)) {
    finish(*sent, saving, why);
  } else if (auto* save = std::get_if<PendingSave>(&pending.what)) {
    const auto* line = std::get_if<records::ChangeDelivery>(&save->change);
    if (saving == CommitResult::Failed) {
      unsaved_.emplace_back(std::move(*save));
      return;
    }
    if (save->charged > 0) release_uncommitted(find(save->speaker), save->charged);
    if (line != nullptr) {
      if (records::is_final(line->state)) unseen_.stored(DeliveryChange::Finished, line->key);
      if (line->hold == records::Hold::Time) unseen_.stored(DeliveryChange::Deferred, line->key);
      if (save->news) tell(*line, *save->news);
    }
  } else if (auto& call = std::get<PendingCall>(pending.what);
             saving == CommitResult::Failed && call.tries == RetryMode::UntilSaved) {
    unsaved_.emplace_back(std::move(call));
  } else {
    call.done(saving);
  }
}

void Core::committed(records::CommitTicket up_to, records::EventSeq newest) {
  store_error_.clear();
  if (store_ != StoreHealth::Healthy) store_recovered();
  while (!pending_.empty() && pending_.front().ticket <= up_to) {
    Pending pending = pending_.take_front();
    settle(pending, CommitResult::Done, {});
  }
  see_events(newest);
}

void Core::see_events(records::EventSeq newest) {
  newest_event_ = std::max(newest_event_, newest);
  notify_subscribers();
}

void Core::commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why) {
  note(WriteLog::Level::Warn, format("a commit failed: {}", why));
  if (store_ != StoreHealth::Failing) timers_.arm(now_.steady + kSaveRetryDelay, {.kind = TimerKind::SaveRetry});
  store_ = StoreHealth::Failing;
  store_error_ = why.empty() ? "the store gave no reason" : why;
  // Answers to what failed are gathered first: running one may append to the list.
  std::vector<Pending> failed;
  while (!pending_.empty() && pending_.front().ticket <= to) { failed.push_back(pending_.take_front()); }
  for (Pending& pending : failed) {
    settle(pending, pending.ticket < from ? CommitResult::Done : CommitResult::Failed, why);
  }
}

void Core::fail_gathered() {
  // What was asked of the store before it failed comes back first, or a change could overtake an older one.
  while (!pending_.empty() && pending_.front().ticket == next_ticket_) {
    changes_.clear();
    for (Pending& pending : std::exchange(pending_, {})) settle(pending, CommitResult::Failed, store_error_);
  }
}

void Core::try_store_again() {
  if (store_ != StoreHealth::Failing) return;
  if (nothing_unsaved()) {  // it works for all we know; the next commit will tell
    for (auto& call : std::exchange(unsaved_, {})) std::get<PendingCall>(call).done(CommitResult::Done);
    return store_recovered();
  }
  store_ = StoreHealth::Probing;
  retry_unsaved();
}

void Core::store_recovered() {
  store_ = StoreHealth::Healthy;
  if (next_due_ != 0 && !asking_due_) arm_due(std::exchange(next_due_, 0));
  for (auto& [name, agent] : agents_) {
    scan_unsupported(agent);
    deliver_pending(agent);
  }
}

std::size_t Core::fair_share() const {
  return speakers_.more_than_one() ? std::min(limits_.max_uncommitted_bytes, limits_.shared_uncommitted_bytes)
                                   : limits_.max_uncommitted_bytes;
}

void Core::charge_message(ConnectionState& connection, std::size_t bytes) {
  speakers_.on_activity(connection.active_mark, now_.steady);
  charge(connection, bytes, fair_share());
}

bool Core::charge_with_last_save(ConnectionId speaker, std::size_t bytes) {
  if (pending_.empty() || pending_.back().ticket != next_ticket_) return false;
  auto* save = std::get_if<PendingSave>(&pending_.back().what);
  if (save == nullptr || save->charged != 0) return false;
  save->speaker = speaker;
  save->charged = bytes;
  return true;
}

void Core::charge(ConnectionState& connection, std::size_t bytes, std::size_t limit) {
  connection.uncommitted_bytes += bytes;
  uncommitted_total_ += bytes;
  if (connection.uncommitted_bytes <= limit && uncommitted_total_ <= limits_.max_uncommitted_total) return;
  pause(connection, Pause::Uncommitted);
  paused_uncommitted_.insert(connection.id);
}

void Core::release_uncommitted(ConnectionState* connection, std::size_t bytes) {
  uncommitted_total_ -= bytes;
  if (connection != nullptr) connection->uncommitted_bytes -= bytes;
  released_ = true;
}

/// Once for all that a commit has released, not once for each of it.
void Core::resume_released() {
  if (!std::exchange(released_, false) || uncommitted_total_ > limits_.max_uncommitted_total / 2) return;
  const auto enough = fair_share() / 2;
  for (auto place = paused_uncommitted_.begin(); place != paused_uncommitted_.end();) {
    ConnectionState* paused = find(*place);
    if (paused != nullptr && paused->uncommitted_bytes > enough) {
      ++place;
      continue;
    }
    place = paused_uncommitted_.erase(place);
    if (paused != nullptr) resume(*paused, Pause::Uncommitted);
  }
}

}  // namespace relay::broker
