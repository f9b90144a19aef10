#include "broker/commit_pipeline.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {
namespace {

constexpr Millis kSaveRetryDelay{1'000};
constexpr std::size_t kReservedChanges = 128;  // capacity of the next batch

/// The approximate memory of a change and of its copy for a retry.
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

bool CommitPipeline::has_open_batch() const {
  return health_ != StoreHealth::Failing && (!changes_.empty() || !is_everything_saved());
}

void CommitPipeline::flush() {
  if (health_ == StoreHealth::Failing) return;
  retry_unsaved();
  for (auto& stream : streams_.take_forgotten()) changes_.emplace_back(records::ForgetStream{std::move(stream)});
  for (auto& stream : streams_.take_changed()) changes_.emplace_back(records::SetStream{std::move(stream)});
  if (changes_.empty()) return;
  const auto room = std::min(changes_.size(), kReservedChanges);
  context_.emit(Persist{next_ticket_, std::move(changes_), mode_of(next_ticket_)});
  changes_ = {};
  changes_.reserve(room);  // the next commit probably has as many
  next_ticket_ = records::CommitTicket{next_ticket_.value() + 1};
}

/// A history entry that no sender awaits joins the commit of the next message.
records::CommitMode CommitPipeline::mode_of(records::CommitTicket ticket) const {
  for (auto pending = pending_.rbegin(); pending != pending_.rend() && pending->ticket == ticket; ++pending) {
    const auto* save = std::get_if<PendingSave>(&pending->what);
    const auto* call = std::get_if<PendingCall>(&pending->what);
    const bool awaited = save != nullptr ? save->receipt && listener_.is_awaited(save->receipt->message->key)
                                         : call == nullptr || call->mode == records::CommitMode::Immediate;
    if (awaited) return records::CommitMode::Immediate;
  }
  return records::CommitMode::Piggyback;
}

bool CommitPipeline::is_everything_saved() const {
  return std::ranges::all_of(unsaved_, [](const PendingWork& it) { return std::holds_alternative<PendingCall>(it); });
}

void CommitPipeline::retry_unsaved() {
  if (is_everything_saved()) return;
  // They are older than the open batch, so they precede it and are completed before it.
  auto later = pending_.take_from([&](const Pending& pending) { return pending.ticket == next_ticket_; });
  records::Changes newer = std::exchange(changes_, {});
  for (auto& unsaved : std::exchange(unsaved_, {})) {
    if (const auto* save = std::get_if<PendingSave>(&unsaved)) change(save->change);
    if (auto* send = std::get_if<PendingSend>(&unsaved)) {
      listener_.before_retry(*send);
      // The failed commit also contained their stream numbers.
      for (const auto& delivery : send->deliveries)
        streams_.touch(send->message->topic, send->message->from, delivery.to, delivery.lane);
      change(records::AddMessage{*send->message});
      for (const auto& delivery : send->deliveries) change(records::AddDelivery{delivery});
    }
    pending_.emplace_back(next_ticket_, std::move(unsaved));
  }
  std::ranges::move(newer, std::back_inserter(changes_));
  for (Pending& pending : later) pending_.emplace_back(std::move(pending));
}

void CommitPipeline::when_committed(std::move_only_function<void(CommitResult)> done) {
  if (changes_.empty() && pending_.empty())
    return done(is_everything_saved() ? CommitResult::Done : CommitResult::Failed);
  pending_.emplace_back(changes_.empty() ? pending_.back().ticket : next_ticket_, PendingCall{std::move(done)});
}

void CommitPipeline::when_saved(std::move_only_function<void()> done, records::CommitMode mode) {
  PendingCall call{[done = std::move(done)](CommitResult) mutable { done(); }, RetryMode::UntilSaved, mode};
  if (!changes_.empty() || !pending_.empty()) {
    pending_.emplace_back(changes_.empty() ? pending_.back().ticket : next_ticket_, std::move(call));
  } else if (is_everything_saved()) {
    call.done(CommitResult::Done);
  } else {
    unsaved_.emplace_back(std::move(call));
  }
}

void CommitPipeline::save_eventually(records::Change saved, std::optional<ReceiptContext> receipt) {
  retried_bytes_ += bytes_of(saved);
  changes_.push_back(saved);
  pending_.emplace_back(next_ticket_, PendingSave{std::move(saved), std::move(receipt)});
}

bool CommitPipeline::charge_with_last_save(ConnectionId connection, std::size_t bytes) {
  if (pending_.empty() || pending_.back().ticket != next_ticket_) return false;
  auto* save = std::get_if<PendingSave>(&pending_.back().what);
  if (save == nullptr || save->charged != 0) return false;
  save->charged_to = connection;
  save->charged = bytes;
  return true;
}

void CommitPipeline::complete(Pending& pending, CommitResult result, std::string_view why) {
  if (auto* send = std::get_if<PendingSend>(&pending.what)) {
    if (send->bytes > 0) budget_.release(send->connection, send->bytes);
    if (result == CommitResult::Done)
      listener_.on_send_committed(*send);
    else if (send->own)
      unsaved_.emplace_back(std::move(*send));
    else
      listener_.on_send_failed(*send, why);
  } else if (auto* save = std::get_if<PendingSave>(&pending.what)) {
    complete_save(*save, result);
  } else if (auto& call = std::get<PendingCall>(pending.what);
             result == CommitResult::Failed && call.retry == RetryMode::UntilSaved) {
    unsaved_.emplace_back(std::move(call));
  } else {
    call.done(result);
  }
}

void CommitPipeline::complete_save(PendingSave& save, CommitResult result) {
  if (result == CommitResult::Failed) {
    unsaved_.emplace_back(std::move(save));
    return;
  }
  if (save.charged > 0) budget_.release(save.charged_to, save.charged);
  if (const auto* entry = std::get_if<records::ChangeDelivery>(&save.change))
    listener_.on_history_saved(*entry, save.receipt ? &*save.receipt : nullptr);
}

void CommitPipeline::on_committed(records::CommitTicket up_to) {
  error_.clear();
  if (health_ != StoreHealth::Healthy) on_recovered();
  while (!pending_.empty() && pending_.front().ticket <= up_to) {
    Pending pending = pending_.take_front();
    complete(pending, CommitResult::Done, {});
  }
}

void CommitPipeline::on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why) {
  context_.log(WriteLog::Level::Warn, format("commit failed error=\"{}\"", why));
  if (health_ != StoreHealth::Failing)
    context_.arm(context_.steady() + kSaveRetryDelay, {.kind = TimerKind::SaveRetry});
  health_ = StoreHealth::Failing;
  error_ = why.empty() ? "the store gave no reason" : why;
  // The failed work is taken out first: completing it may append to the list.
  std::vector<Pending> failed;
  while (!pending_.empty() && pending_.front().ticket <= to) { failed.push_back(pending_.take_front()); }
  for (Pending& pending : failed) {
    complete(pending, pending.ticket < from ? CommitResult::Done : CommitResult::Failed, why);
  }
}

void CommitPipeline::fail_open_batch() {
  if (health_ != StoreHealth::Failing) return;
  // Earlier commits are completed first; otherwise a change could overtake an older one.
  while (!pending_.empty() && pending_.front().ticket == next_ticket_) {
    changes_.clear();
    for (Pending& pending : std::exchange(pending_, {})) complete(pending, CommitResult::Failed, error_);
  }
}

void CommitPipeline::probe_store() {
  if (health_ != StoreHealth::Failing) return;
  if (is_everything_saved()) {  // there is nothing to probe with; the next commit decides
    for (auto& call : std::exchange(unsaved_, {})) std::get<PendingCall>(call).done(CommitResult::Done);
    return on_recovered();
  }
  health_ = StoreHealth::Probing;
  retry_unsaved();
}

void CommitPipeline::on_recovered() {
  health_ = StoreHealth::Healthy;
  listener_.on_store_recovered();
}

}  // namespace relay::broker
