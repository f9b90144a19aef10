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

constexpr std::uint64_t kMaxReadBytes = std::uint64_t{64} << 20;  // of a file that is far larger than ours are

Result<std::string> read_whole(const VfsFile& file) {
  std::string bytes(std::min(file.size(), kMaxReadBytes), '\0');
  bytes.resize(RELAY_TRY(file.read(0, bytes)));
  return bytes;
}

/// Every commit of a record that comes after a number.
Result<void> encode_commits(const ScannedRecord& record, CommitNumber after, const Journal::Replay& replay) {
  if (record.last() <= after) return {};
  std::string_view left = record.body;
  std::vector<records::Changes> commits;  // all of them, or none
  while (commits.size() < record.frame.commits) {
    auto changes = records::decode_changes(left);
    if (!changes) return fail(Errc::Damaged, changes.error().message());
    commits.push_back(*std::move(changes));
  }
  JournalReach place{record.frame.first - 1, record.frame.messages_before};
  for (auto& changes : commits) {
    place = {place.commits + 1, place.messages + messages_in(changes)};
    if (place.commits > after) RELAY_TRY(replay(place, std::move(changes)));
  }
  return {};
}

}  // namespace

struct Journal::Found {
  Segment segment;
  std::string bytes;
  std::optional<SegmentHeader> header;
  ScannedSegment scanned;
};

Journal::Journal(const Options& options) : options_{options}, mark_{mark_path(options.database), options.vfs} {
  end_.reach = options.applied;
}

std::string Journal::path_of(std::size_t place) const { return format("{}-commits{}", options_.database, place); }

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
  for (std::size_t place = 0; place < kMaxSegments; ++place) {
    const auto path = format("{}-commits{}", database, place);
    if (file_bytes(path, vfs) < sizeof(SegmentHeader)) continue;
    const auto file = VfsFile::open(path, vfs, VfsFile::Mode::Read);
    std::string bytes(kHeaderBytes, '\0');
    if (!file || !(*file)->read(0, bytes)) continue;
    if (const auto header = read_header(bytes)) return header->id;
  }
  return std::nullopt;
}

Result<std::vector<Journal::Found>> Journal::find_segments() {
  std::vector<Found> all;
  for (std::size_t place = 0; place < kMaxSegments; ++place) {
    const auto path = path_of(place);
    if (!file_exists(path, options_.vfs) && file_bytes(path, options_.vfs) == 0) continue;
    found_files_ = true;
    Found found;
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
      RELAY_TRY(set_aside(path, "belongs to another message store"));
      continue;
    }
    if (found.header && found.header->format == kJournalFormat)
      found.scanned = scan_segment(*found.header, found.bytes);
    all.push_back(std::move(found));
  }
  return all;
}

Result<void> Journal::set_aside(const std::string& path, std::string_view reason) {
  const auto name = RELAY_TRY(store::quarantine(path, options_.vfs, options_.now));
  damage_.findings.push_back(format("{} {}: it was set aside as {}", path, reason, name));
  damage_.kept.push_back(name);
  return {};
}

Result<void> Journal::replay_all(std::vector<Found>& found, const Replay& replay) {
  auto mark = mark_.read();
  if (mark && mark->id != options_.id) mark.reset();
  // Everything that can be read, in order. What an earlier life gave up, and a later one wrote anew, is left out.
  CommitNumber safe = std::max(options_.applied.commits, mark ? mark->reach.commits : 0);
  std::vector<const ScannedRecord*> in_order;
  for (const auto& [segment, bytes, header, scanned] : found) {
    if (!header || header->format != kJournalFormat) continue;
    epoch_ = std::max(epoch_, header->epoch + 1);
    for (const auto& record : scanned.records) {
      const bool stale = std::ranges::any_of(found, [&](const Found& other) {
        return other.header && other.header->epoch > header->epoch && other.header->first <= record.frame.first;
      });
      if (stale) continue;
      safe = std::max({safe, header->safe, record.frame.safe});
      in_order.push_back(&record);
    }
  }
  if (mark) epoch_ = std::max(epoch_, mark->epoch + 1);
  std::ranges::sort(in_order, {}, [](const ScannedRecord* record) { return record->frame.first; });

  auto& at = end_.reach;
  if (options_.report_all && at.commits == 0) {  // how far the store had come is lost as well
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
      if (!options_.report_all) continue;
      if (const auto told = encode_commits(*record, 0, replay); !told && !is(told.error(), Errc::Damaged)) return told;
      continue;
    }
    if (record->frame.first > at.commits + 1) {
      // Never acknowledged: the machine went down while several were being written.
      if (at.commits + 1 > safe) break;
      if (options_.power_lost) {
        lose_up_to(in_order.back()->reach());
        break;
      }
      lose_up_to({record->frame.first - 1, record->frame.messages_before});
    }
    const auto told = encode_commits(*record, at.commits, replay);
    if (told)
      at = record->reach();
    else if (is(told.error(), Errc::Damaged))
      lose_up_to(record->reach());
    else
      return told;
  }
  bool cut = false;
  if (mark && mark->reach.commits > at.commits) {
    cut = true;
    lose_up_to(mark->reach);
  }
  safe_ = end_;

  std::vector<Found*> damaged;
  for (auto& one : found) {
    const bool broken = one.scanned.broken_at > 0 && (one.scanned.broken_at <= safe || one.scanned.displaced);
    const bool unreadable =
        lost_commits > 0 && !one.bytes.empty() && (!one.header || one.header->format != kJournalFormat);
    if (broken || unreadable) damaged.push_back(&one);
  }
  if (damaged.empty() && cut) {
    const auto newest = std::ranges::max_element(
        found, {}, [](const Found& one) { return one.header ? one.header->first : CommitNumber{0}; });
    if (newest != found.end()) damaged.push_back(&*newest);
  }
  if (lost_commits > 0 && damaged.empty())
    damage_.findings.push_back(
        format("the journal {}-commits does not continue what the message store holds: {} commits are missing",
               options_.database, lost_commits));
  for (auto* one : damaged) {
    one->segment.file.reset();
    RELAY_TRY(set_aside(one->segment.path, "is damaged"));
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
      if (record.frame.first <= end_.reach.commits) RELAY_TRY(encode_commits(record, after, replay));
  }
  return {};
}

Result<void> Journal::open_segment() {
  auto place = std::ranges::find(segments_, false, &Segment::in_use);
  if (place == segments_.end()) {
    if (segments_.size() == kMaxSegments)
      return fail(Errc::Failed, format("the journal of {} is full: the database does not keep up", options_.database));
    std::size_t number = 0;
    while (std::ranges::find(segments_, path_of(number), &Segment::path) != segments_.end()) ++number;
    place = segments_.emplace(segments_.end());
    place->path = path_of(number);
  }
  auto& segment = *place;
  if (segment.file == nullptr) {
    restrict_permissions(segment.path, options_.vfs);
    segment.file = RELAY_TRY(VfsFile::open(segment.path, options_.vfs, VfsFile::Mode::Write));
  }
  SegmentHeader header{.magic = {},
                       .format = kJournalFormat,
                       .id = options_.id,
                       .epoch = epoch_,
                       .first = end_.reach.commits + 1,
                       .safe = safe_.reach.commits,
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
  end_ = {static_cast<std::size_t>(place - segments_.begin()), kHeaderBytes, end_.reach};
  return {};
}

Result<void> Journal::append(std::string& record, std::uint32_t commits, std::uint32_t messages) {
  VfsFile* file = nullptr;
  End end;
  RecordFrame frame{};
  std::uint64_t seed = 0;
  {
    const std::lock_guard lock{mutex_};
    RELAY_TRY(clean_locked());
    if (end_.segment == SIZE_MAX || end_.offset >= kSegmentBytes) RELAY_TRY(open_segment());
    end = end_;
    frame.safe = safe_.reach.commits;
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
  for (std::size_t place = 0; place < segments_.size(); ++place)
    if (place != safe_.segment && segments_[place].in_use && segments_[place].first > safe_.reach.commits)
      ghosts_.push_back({place, 0, kHeaderBytes});
  // Each of them, and what the one that failed may have left: a record is recognised wherever it stands.
  if (safe_.segment != SIZE_MAX) {
    const auto end = end_.segment == safe_.segment ? end_.offset : segments_[safe_.segment].file->size();
    ghosts_.push_back({safe_.segment, safe_.offset, end - std::min(end, safe_.offset) + sizeof(RecordFrame)});
  }
  // What comes next begins a segment: its seed is new, so nothing that lies behind can be bound to it.
  safe_.segment = SIZE_MAX;
  end_ = safe_;
  std::ignore = clean_locked();
}

Result<void> Journal::erase_rolled_back() {
  const std::lock_guard lock{mutex_};
  return clean_locked();
}

Result<void> Journal::clean_locked() {
  while (!ghosts_.empty()) {
    const auto [place, offset, bytes] = ghosts_.back();
    auto& segment = segments_[place];
    if (const auto size = segment.file->size(); size > offset) {
      RELAY_TRY(segment.file->write(offset, std::string(std::min(bytes, size - offset), '\0')));
      RELAY_TRY(segment.file->sync());
    }
    if (offset == 0) {
      segment.first = 0;
      segment.in_use = segment.unsynced = false;
    }
    ghosts_.pop_back();
  }
  return {};
}

Result<void> Journal::skip_to(JournalReach reach) {
  {
    const std::lock_guard lock{mutex_};
    // What comes next begins a segment: numbers within one have no gap.
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
  // A segment ends where the next begins.
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
