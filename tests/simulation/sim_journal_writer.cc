#include "tests/simulation/sim_journal_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "records/change_codec.h"

namespace relay::simulation {
namespace {

/// The changes in the records, decoded as the journal does it.
records::Changes changes_of(const std::vector<store::JournalRecord>& written) {
  records::Changes all;
  for (const auto& record : written) {
    std::string_view left = std::string_view{record.bytes}.substr(store::Journal::kFrameBytes);
    for (std::uint32_t commit = 0; commit < record.commits; ++commit) {
      auto changes = records::decode_changes(left);
      RELAY_ASSERT(changes.has_value());
      std::ranges::move(*changes, std::back_inserter(all));
    }
  }
  return all;
}

}  // namespace

SimJournalWriter::SimJournalWriter(VirtualLoop& loop, Random& random, const FaultPlan& faults, Trace& trace,
                                   store::Journal& journal, ObservedStore& store, store::JournalListener& listener,
                                   store::Durability durability, DeathFlag dead)
    : loop_{loop},
      random_{random},
      faults_{faults},
      trace_{trace},
      journal_{journal},
      store_{store},
      listener_{listener},
      durability_{durability},
      dead_{std::move(dead)} {}

void SimJournalWriter::write(store::JournalRecord record) {
  if (*dead_) return;
  pending_.push_back(std::move(record));
  work_soon();
}

void SimJournalWriter::later(net::Task task) {
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(faults_.max_commit.count()) + 1)};
  loop_.call_after(delay, [alive = lifetime_.watch(), dead = dead_, work = std::move(task)]() mutable {
    if (alive && !*dead) work();
  });
}

void SimJournalWriter::work_soon() {
  if (pending_.empty() || std::exchange(busy_, true)) return;
  later([this] { work(); });
}

Result<void> SimJournalWriter::append(Records& records) {
  if (faults_.commit_fails > 0 && random_.below(1000) < faults_.commit_fails)
    return fail(store::Errc::Full, "the disk is full");
  for (auto& record : records) {
    if (auto done = journal_.append(record.bytes, record.commits, record.messages); !done) {
      journal_.roll_back();
      return done;
    }
  }
  if (durability_ == store::Durability::Power) return journal_.sync();
  return journal_.mark_safe();
}

void SimJournalWriter::work() {
  const bool breaks = static_cast<bool>(before_);
  // Each record is whole or absent by itself, so the power cut is in one of them.
  const auto count = static_cast<Records::difference_type>(1 + random_.below(breaks ? 1 : pending_.size()));
  Records records{std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.begin() + count)};
  pending_.erase(pending_.begin(), pending_.begin() + count);
  if (breaks) std::exchange(before_, nullptr)();
  auto done = append(records);
  if (done)
    store_.on_journaled(changes_of(records));
  else if (breaks)
    store_.on_journal_doubt(changes_of(records));
  if (breaks) return std::exchange(after_, nullptr)();
  later([this, done = std::move(done), count = records.size()] {
    busy_ = false;
    if (done) {
      listener_.on_written(count);
    } else {
      trace_.line("store: the journal refuses");
      pending_.clear();
      refused_at_ = loop_.now().steady;
      listener_.on_write_failed(done.error());
    }
    if (!*dead_) work_soon();
  });
}

}  // namespace relay::simulation
