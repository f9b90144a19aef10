#include "store/journal/journal.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/format.h"
#include "base/random.h"
#include "records/change_codec.h"
#include "store/journal/scan.h"
#include "store/message_store.h"
#include "store/sqlite/files.h"

namespace relay::store {
namespace {

constexpr std::uint64_t kMaxReadBytes = std::uint64_t{64} << 20;  // far more than a segment ever has

Result<std::string> read_whole(const VfsFile& file) {
  std::string bytes(std::min(file.size(), kMaxReadBytes), '\0');
  bytes.resize(RELAY_TRY(file.read(0, bytes)));
  return bytes;
}

/// Replays the commits of a record that come after a number.
Result<void> replay_commits(const ScannedRecord& record, CommitNumber after, const Journal::Replay& replay) {
  if (record.last() <= after) return {};
  std::string_view rest = record.body;
  std::vector<records::Changes> commits;  // decoded first: a record is replayed whole or not at all
  while (commits.size() < record.frame.commits) {
    auto changes = records::decode_changes(rest);
    if (!changes) return fail(Errc::Damaged, changes.error().message());
    commits.push_back(*std::move(changes));
  }
  JournalReach reach{record.frame.first - 1, record.frame.messages_before};
  for (auto& changes : commits) {
    reach = {reach.commits + 1, reach.messages + messages_in(changes)};
    if (reach.commits > after) RELAY_TRY(replay(reach, std::move(changes)));
  }
  return {};
}

}  // namespace

struct Journal::FoundSegment {
  Segment segment;
  std::string bytes;
  std::optional<SegmentHeader> header;
  ScannedSegment scanned;
};

Journal::Journal(const Options& options) : options_{options}, mark_{mark_path(options.database), options.vfs} {
  end_.reach = options.applied;
}

std::string Journal::path_of(std::size_t index) const { return format("{}-commits{}", options_.database, index); }

Result<std::unique_ptr<Journal>> Journal::open(const Options& options, const Replay& replay) {
  std::unique_ptr<Journal> journal{new Journal{options}};
  auto found = RELAY_TRY(journal->find_segments());
  RELAY_TRY(journal->replay_all(found, replay));
  for (auto& one : found)
    if (one.segment.file != nullptr) journal->segments_.push_back(std::move(one.segment));
  return journal;
}

std::optional<std::uint64_t> Journal::store_beside(const std::string& database, const std::string& vfs) {
  if (const auto mark = JournalMarkFile{mark_path(database), vfs}.read()) return mark->id;
  for (std::size_t index = 0; index < kMaxSegments; ++index) {
    const auto path = format("{}-commits{}", database, index);
    if (file_bytes(path, vfs) < sizeof(SegmentHeader)) continue;
    const auto file = VfsFile::open(path, vfs, VfsFile::Mode::Read);
    std::string bytes(kHeaderBytes, '\0');
    if (!file || !(*file)->read(0, bytes)) continue;
    if (const auto header = read_header(bytes)) return header->id;
  }
  return std::nullopt;
}

Result<std::vector<Journal::FoundSegment>> Journal::find_segments() {
  std::vector<FoundSegment> all;
  for (std::size_t index = 0; index < kMaxSegments; ++index) {
    const auto path = path_of(index);
    if (!file_exists(path, options_.vfs) && file_bytes(path, options_.vfs) == 0) continue;
    found_files_ = true;
    FoundSegment found;
    found.segment.path = path;
    restrict_permissions(path, options_.vfs);
    found.segment.file = RELAY_TRY(VfsFile::open(path, options_.vfs, VfsFile::Mode::Write));
    found.bytes = RELAY_TRY(read_whole(*found.segment.file));
    found.header = read_header(found.bytes);
    if (found.header && found.header->format > kJournalFormat)
      return fail(Errc::Newer,
                  format("{} was written by a newer Agent Relay; install that version, or move the file away", path));
    if (found.header && found.header->id != options_.id) {
      found.segment.file.reset();
      RELAY_TRY(quarantine(path, "belongs to another message store"));
      continue;
    }
    if (found.header && found.header->format == kJournalFormat)
      found.scanned = scan_segment(*found.header, found.bytes);
    all.push_back(std::move(found));
  }
  return all;
}

Result<void> Journal::quarantine(const std::string& path, std::string_view reason) {
  const auto name = RELAY_TRY(store::quarantine(path, options_.vfs, options_.now));
  damage_.findings.push_back(format("{} {}: it was moved to {}", path, reason, name));
  damage_.files.push_back(name);
  return {};
}

Result<void> Journal::replay_all(std::vector<FoundSegment>& found, const Replay& replay) {
  auto mark = mark_.read();
  if (mark && mark->id != options_.id) mark.reset();
  // Every readable record, in order, without those that a later epoch replaced.
  CommitNumber safe = std::max(options_.applied.commits, mark ? mark->reach.commits : 0);
  std::vector<const ScannedRecord*> in_order;
  for (const auto& [segment, bytes, header, scanned] : found) {
    if (!header || header->format != kJournalFormat) continue;
    epoch_ = std::max(epoch_, header->epoch + 1);
    for (const auto& record : scanned.records) {
      const bool replaced = std::ranges::any_of(found, [&](const FoundSegment& other) {
        return other.header && other.header->epoch > header->epoch && other.header->first <= record.frame.first;
      });
      if (replaced) continue;
      safe = std::max({safe, header->acknowledged, record.frame.acknowledged});
      in_order.push_back(&record);
    }
  }
  if (mark) epoch_ = std::max(epoch_, mark->epoch + 1);
  std::ranges::sort(in_order, {}, [](const ScannedRecord* record) { return record->frame.first; });

  auto& at = end_.reach;
  if (options_.replay_all && at.commits == 0) {  // the store's position in the journal is lost as well
    if (!in_order.empty())
      at = {in_order.front()->frame.first - 1, in_order.front()->frame.messages_before};
    else if (mark)
      at = mark->reach;
  }
  std::uint64_t lost_commits = 0;
  const auto lose_up_to = [&](JournalReach reach) {
    lost_commits += reach.commits - at.commits;
    damage_.lost_messages += reach.messages - std::min(at.messages, reach.messages);
    at = {reach.commits, std::max(at.messages, reach.messages)};
  };
  for (const auto* record : in_order) {
    if (record->last() <= at.commits) {
      if (!options_.replay_all) continue;
      if (const auto replayed = replay_commits(*record, 0, replay); !replayed && !is(replayed.error(), Errc::Damaged))
        return replayed;
      continue;
    }
    if (record->frame.first > at.commits + 1) {
      // Never acknowledged: the machine went down while several records were being written.
      if (at.commits + 1 > safe) break;
      if (options_.power_lost) {
        lose_up_to(in_order.back()->reach());
        break;
      }
      lose_up_to({record->frame.first - 1, record->frame.messages_before});
    }
    const auto replayed = replay_commits(*record, at.commits, replay);
    if (replayed)
      at = record->reach();
    else if (is(replayed.error(), Errc::Damaged))
      lose_up_to(record->reach());
    else
      return replayed;
  }
  bool cut = false;
  if (mark && mark->reach.commits > at.commits) {
    cut = true;
    lose_up_to(mark->reach);
  }
  safe_ = end_;

  std::vector<FoundSegment*> damaged;
  for (auto& one : found) {
    const bool broken = one.scanned.broken_at > 0 && (one.scanned.broken_at <= safe || one.scanned.displaced);
    const bool unreadable =
        lost_commits > 0 && !one.bytes.empty() && (!one.header || one.header->format != kJournalFormat);
    if (broken || unreadable) damaged.push_back(&one);
  }
  if (damaged.empty() && cut) {
    const auto newest = std::ranges::max_element(
        found, {}, [](const FoundSegment& one) { return one.header ? one.header->first : CommitNumber{0}; });
    if (newest != found.end()) damaged.push_back(&*newest);
  }
  if (lost_commits > 0 && damaged.empty())
    damage_.findings.push_back(
        format("the journal {}-commits does not continue the message store: {} commits are missing", options_.database,
               lost_commits));
  for (auto* one : damaged) {
    one->segment.file.reset();
    RELAY_TRY(quarantine(one->segment.path, "is damaged"));
  }
  return {};
}

Result<void> Journal::read(CommitNumber after, const Replay& replay) {
  const std::lock_guard lock{mutex_};
  std::vector<Segment*> in_order;
  for (auto& segment : segments_)
    if (segment.in_use) in_order.push_back(&segment);
  std::ranges::sort(in_order, {}, &Segment::first);
  for (auto* segment : in_order) {
    const auto bytes = RELAY_TRY(read_whole(*segment->file));
    const auto header = read_header(bytes);
    if (!header) return fail(Errc::Damaged, format("{} is damaged", segment->path));
    for (const auto& record : scan_segment(*header, bytes).records)
      if (record.frame.first <= end_.reach.commits) RELAY_TRY(replay_commits(record, after, replay));
  }
  return {};
}

Result<void> Journal::open_segment() {
  auto slot = std::ranges::find(segments_, false, &Segment::in_use);
  if (slot == segments_.end()) {
    if (segments_.size() == kMaxSegments)
      return fail(Errc::Failed, format("the journal of {} is full: the database does not keep up", options_.database));
    std::size_t number = 0;
    while (std::ranges::find(segments_, path_of(number), &Segment::path) != segments_.end()) ++number;
    slot = segments_.emplace(segments_.end());
    slot->path = path_of(number);
  }
  auto& segment = *slot;
  if (segment.file == nullptr) {
    restrict_permissions(segment.path, options_.vfs);
    segment.file = RELAY_TRY(VfsFile::open(segment.path, options_.vfs, VfsFile::Mode::Write));
  }
  SegmentHeader header{.magic = {},
                       .format = kJournalFormat,
                       .id = options_.id,
                       .epoch = epoch_,
                       .first = end_.reach.commits + 1,
                       .acknowledged = safe_.reach.commits,
                       .messages = end_.reach.messages,
                       .seed = SystemRandom{}.below(UINT64_MAX),
                       .check = 0};
  std::memcpy(header.magic, kJournalMagic, sizeof kJournalMagic);
  header.check = check_of(header);
  std::string block(kHeaderBytes, '\0');
  for (const auto at : {std::size_t{0}, kHeaderCopyAt}) std::memcpy(block.data() + at, &header, sizeof header);
  RELAY_TRY(segment.file->write(0, block));
  segment.first = header.first;
  segment.seed = header.seed;
  segment.in_use = segment.unsynced = true;
  end_ = {static_cast<std::size_t>(slot - segments_.begin()), kHeaderBytes, end_.reach};
  return {};
}

Result<void> Journal::append(std::string& record, std::uint32_t commits, std::uint32_t messages) {
  VfsFile* file = nullptr;
  End end;
  RecordFrame frame{};
  std::uint64_t seed = 0;
  {
    const std::lock_guard lock{mutex_};
    RELAY_TRY(erase_stale_locked());
    if (end_.segment == SIZE_MAX || end_.offset >= kSegmentBytes) RELAY_TRY(open_segment());
    end = end_;
    frame.acknowledged = safe_.reach.commits;
    seed = segments_[end.segment].seed;
    segments_[end.segment].unsynced = true;
    file = segments_[end.segment].file.get();
  }
  frame.first = end.reach.commits + 1;
  frame.messages_before = end.reach.messages;
  frame.bytes = static_cast<std::uint32_t>(record.size() - kFrameBytes);
  frame.commits = commits;
  frame.messages = messages;
  std::memcpy(record.data(), &frame, sizeof frame);
  frame.check = checksum(std::string_view{record}.substr(kUncheckedBytes), seed);
  std::memcpy(record.data(), &frame.check, sizeof frame.check);
  RELAY_TRY(file->write(end.offset, record));
  const std::lock_guard lock{mutex_};
  end_ = {end.segment, end.offset + record.size(), {end.reach.commits + commits, end.reach.messages + messages}};
  return {};
}

Result<void> Journal::sync() {
  std::vector<VfsFile*> files;
  {
    const std::lock_guard lock{mutex_};
    for (auto& segment : segments_)
      if (segment.unsynced) files.push_back(segment.file.get());
  }
  Result<void> done;
  for (auto* file : files)
    if (done) done = file->sync();
  if (!done) {
    roll_back();
    return done;
  }
  return mark_safe();
}

Result<void> Journal::mark_safe() {
  const auto mark = [&] {
    const std::lock_guard lock{mutex_};
    auto done = mark_.write({options_.id, epoch_, end_.reach});
    if (!done) return done;
    for (auto& segment : segments_) segment.unsynced = false;
    safe_ = end_;
    return done;
  };
  auto marked = mark();
  if (!marked) roll_back();
  return marked;
}

void Journal::roll_back() {
  const std::lock_guard lock{mutex_};
  for (std::size_t index = 0; index < segments_.size(); ++index)
    if (index != safe_.segment && segments_[index].in_use && segments_[index].first > safe_.reach.commits)
      stale_.push_back({index, 0, kHeaderBytes});
  // The rolled-back records and the bytes of the failed write: a scan recognizes a record at any offset.
  if (safe_.segment != SIZE_MAX) {
    const auto end = end_.segment == safe_.segment ? end_.offset : segments_[safe_.segment].file->size();
    stale_.push_back({safe_.segment, safe_.offset, end - std::min(end, safe_.offset) + sizeof(RecordFrame)});
  }
  // The next record starts a segment. Its seed is new, so leftovers cannot pass as its records.
  safe_.segment = SIZE_MAX;
  end_ = safe_;
  std::ignore = erase_stale_locked();
}

Result<void> Journal::erase_rolled_back() {
  const std::lock_guard lock{mutex_};
  return erase_stale_locked();
}

Result<void> Journal::erase_stale_locked() {
  while (!stale_.empty()) {
    const auto [index, offset, bytes] = stale_.back();
    auto& segment = segments_[index];
    if (const auto size = segment.file->size(); size > offset) {
      RELAY_TRY(segment.file->write(offset, std::string(std::min(bytes, size - offset), '\0')));
      RELAY_TRY(segment.file->sync());
    }
    if (offset == 0) {
      segment.first = 0;
      segment.in_use = segment.unsynced = false;
    }
    stale_.pop_back();
  }
  return {};
}

Result<void> Journal::skip_to(JournalReach reach) {
  {
    const std::lock_guard lock{mutex_};
    // The next record starts a segment: numbers within one have no gap.
    end_ = safe_ = {.reach = reach};
  }
  return mark();
}

Result<void> Journal::mark() {
  const std::lock_guard lock{mutex_};
  return mark_.write({options_.id, epoch_, safe_.reach});
}

void Journal::mark_applied(CommitNumber number) {
  const std::lock_guard lock{mutex_};
  // A segment ends at the first commit of the next.
  const auto ends_by = [&](const Segment& segment) {
    return std::ranges::any_of(segments_, [&](const Segment& other) {
      return other.in_use && other.first > segment.first && other.first <= number + 1;
    });
  };
  for (auto& segment : segments_)
    if (segment.in_use && ends_by(segment)) segment.in_use = false;
}

JournalReach Journal::reach() const {
  const std::lock_guard lock{mutex_};
  return end_.reach;
}

CommitNumber Journal::newest_segment() const {
  const std::lock_guard lock{mutex_};
  return end_.segment == SIZE_MAX ? end_.reach.commits + 1 : segments_[end_.segment].first;
}

void Journal::discard() {
  const std::lock_guard lock{mutex_};
  for (auto& segment : segments_) {
    segment.file.reset();
    delete_file(segment.path, options_.vfs);
  }
  segments_.clear();
  end_.segment = SIZE_MAX;
}

}  // namespace relay::store
