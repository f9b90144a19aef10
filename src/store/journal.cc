#include "store/journal.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/format.h"
#include "base/hash.h"
#include "base/random.h"
#include "records/change_codec.h"
#include "store/message_store.h"
#include "store/sqlite_files.h"

namespace relay::store {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

constexpr CommitNumber kEverything = UINT64_MAX;
constexpr std::uint64_t kPassed = 0;  // what a segment follows that begins behind commits which went past the journal

constexpr char kJournalMagic[8] = {'A', 'R', 'L', 'Y', 'C', 'M', 'T', 'S'};

/// In front of a segment.
struct Header {
  char magic[8];
  std::uint64_t format;
  std::uint64_t id;
  std::uint64_t first;
  std::uint64_t follows;  // the checksum of the record before it
  std::uint64_t seed;     // random, so that nothing an earlier life left behind it can be taken for a record
  std::uint64_t check;    // of all before it
};

/// In front of a record.
struct Frame {
  std::uint32_t bytes;
  std::uint32_t commits;
  std::uint64_t check;  // of the record, seeded by the one before it
};
static_assert(sizeof(Frame) == Journal::kFrameBytes);

template <class T>
std::string_view bytes_of(const T& value, std::size_t count = sizeof(T)) {
  return {reinterpret_cast<const char*>(&value), count};
}

std::uint64_t check_of(const Header& header) { return checksum(bytes_of(header, offsetof(Header, check))); }

std::uint64_t check_of(std::string_view record, std::uint32_t commits, std::uint64_t chain) {
  return checksum(record, chain ^ (std::uint64_t{commits} << 32));
}

}  // namespace

std::string Journal::path_of(std::size_t place) const { return format("{}-commits{}", options_.database, place); }

Result<std::unique_ptr<Journal>> Journal::open(const Options& options, const Replay& replay) {
  std::unique_ptr<Journal> journal{new Journal{options}};
  RELAY_TRY(journal->find_segments());
  RELAY_TRY(journal->replay_all(replay));
  return journal;
}

Result<void> Journal::find_segments() {
  for (std::size_t place = 0; place < kMaxSegments; ++place) {
    const auto path = path_of(place);
    if (!file_exists(path, options_.vfs) && file_bytes(path, options_.vfs) == 0) continue;
    segments_.push_back(RELAY_TRY(look_at(path)));
    found_files_ = true;
  }
  return {};
}

Result<Journal::Segment> Journal::look_at(const std::string& path) {
  Segment segment;
  segment.path = path;
  keep_private(path, options_.vfs);
  segment.file = RELAY_TRY(VfsFile::open(path, options_.vfs, VfsFile::Mode::Write));
  std::string bytes(sizeof(Header), '\0');
  if (RELAY_TRY(segment.file->read(0, bytes)) != bytes.size()) return segment;
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kJournalMagic, sizeof kJournalMagic) != 0 || header.check != check_of(header))
    return segment;  // never begun, or its beginning was cut: nothing in it was ever promised
  if (header.id != options_.id) {
    RELAY_TRY(set_aside(segment, "belongs to another message store"));
    return segment;
  }
  if (header.format > records::kChangeFormat)
    return fail(Errc::Newer,
                format("{} was written by a newer Agent Relay; install that version, or move the file away", path));
  segment.first = header.first;
  segment.follows = header.follows;
  segment.seed = header.seed;
  return segment;
}

Result<void> Journal::set_aside(Segment& segment, std::string_view why) {
  segment.file.reset();
  segment.first = 0;
  const auto name = RELAY_TRY(store::set_aside(segment.path, options_.vfs, options_.now));
  if (!warning_.empty()) warning_ += "; ";
  warning_ += format("{} {}: it was set aside as {}", segment.path, why, name);
  return {};
}

/// Walks the records of a segment, up to the first that is not one.
Result<void> Journal::scan(Segment& segment, CommitNumber after, const Replay& replay, End& end) {
  end = {.offset = sizeof(Header), .newest = segment.first - 1, .chain = segment.seed};
  const auto size = segment.file->size();
  std::string head(sizeof(Frame), '\0'), record;
  while (RELAY_TRY(segment.file->read(end.offset, head)) == head.size()) {
    Frame frame{};
    std::memcpy(&frame, head.data(), sizeof frame);
    if (frame.bytes == 0 || frame.bytes > size - end.offset - sizeof frame) break;
    record.resize(frame.bytes);
    if (RELAY_TRY(segment.file->read(end.offset + sizeof frame, record)) != record.size()) break;
    if (frame.check != check_of(record, frame.commits, end.chain)) break;
    std::string_view left = record;
    std::vector<records::Changes> commits;  // all of them, or the record is damaged
    while (end.newest + frame.commits > after && commits.size() < frame.commits) {
      auto changes = records::decode_changes(left);
      if (!changes) return fail(Errc::Damaged, changes.error().message());
      commits.push_back(*std::move(changes));
    }
    for (std::size_t commit = 0; commit < commits.size(); ++commit)
      if (const auto number = end.newest + 1 + commit; number > after)
        RELAY_TRY(replay(number, std::move(commits[commit])));
    end = {end.segment, end.offset + sizeof frame + frame.bytes, end.newest + frame.commits, frame.check};
  }
  return {};
}

Result<void> Journal::replay_all(const Replay& replay) {
  std::vector<Segment*> in_order;
  for (auto& segment : segments_)
    if (segment.first > 0) in_order.push_back(&segment);
  std::ranges::sort(in_order, {}, &Segment::first);
  std::optional<End> before;  // the end of the segment looked at last
  for (auto* segment : in_order) {
    // Beyond a gap nothing may be applied: the machine went down and took what came before. Nor may what began where
    // another went on: it was given up.
    const bool gap = segment->first > end_.newest + 1;
    const bool stale =
        before &&
        (segment->first <= before->newest ||
         (segment->first == before->newest + 1 && segment->follows != before->chain && segment->follows != kPassed));
    End end;
    if (gap || stale) {
      const auto looked = scan(*segment, kEverything, replay, end);
      if (!looked || (end.newest >= segment->first && end.newest > end_.newest))
        RELAY_TRY(set_aside(*segment, "does not continue what the message store holds"));
      continue;
    }
    const auto done = scan(*segment, end_.newest, replay, end);
    if (!done && !is(done.error(), Errc::Damaged)) return done;
    if (!done) RELAY_TRY(set_aside(*segment, "is damaged"));
    if (end.newest >= segment->first) before = end;
    if (end.newest <= end_.newest) continue;
    end_.newest = end.newest;
    end_.chain = end.chain;
  }
  safe_ = end_;
  return {};
}

Result<void> Journal::read(CommitNumber after, const Replay& replay) {
  const std::lock_guard lock{mutex_};
  std::vector<Segment*> in_order;
  for (auto& segment : segments_)
    if (segment.in_use) in_order.push_back(&segment);
  std::ranges::sort(in_order, {}, &Segment::first);
  for (auto* segment : in_order) {
    End end;
    RELAY_TRY(scan(*segment, after, replay, end));
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
    keep_private(segment.path, options_.vfs);
    segment.file = RELAY_TRY(VfsFile::open(segment.path, options_.vfs, VfsFile::Mode::Write));
  }
  Header header{.magic = {},
                .format = records::kChangeFormat,
                .id = options_.id,
                .first = end_.newest + 1,
                .follows = end_.chain,
                .seed = SystemRandom{}.below(UINT64_MAX),
                .check = 0};
  std::memcpy(header.magic, kJournalMagic, sizeof kJournalMagic);
  header.check = check_of(header);
  RELAY_TRY(segment.file->write(0, bytes_of(header)));
  segment.first = header.first;
  segment.seed = header.seed;
  segment.in_use = segment.unsynced = true;
  end_ = {static_cast<std::size_t>(place - segments_.begin()), sizeof header, end_.newest, header.seed};
  return {};
}

Result<void> Journal::append(std::string& record, std::uint32_t commits) {
  VfsFile* file = nullptr;
  End end;
  {
    const std::lock_guard lock{mutex_};
    RELAY_TRY(clean_locked());
    if (end_.segment == SIZE_MAX || end_.offset >= kSegmentBytes) RELAY_TRY(open_segment());
    end = end_;
    segments_[end.segment].unsynced = true;
    file = segments_[end.segment].file.get();
  }
  const auto body = std::string_view{record}.substr(kFrameBytes);
  const Frame frame{static_cast<std::uint32_t>(body.size()), commits, check_of(body, commits, end.chain)};
  std::memcpy(record.data(), &frame, sizeof frame);
  RELAY_TRY(file->write(end.offset, record));
  const std::lock_guard lock{mutex_};
  end_ = {end.segment, end.offset + record.size(), end.newest + commits, frame.check};
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
    take_back();
    return done;
  }
  accept();
  return {};
}

void Journal::accept() {
  const std::lock_guard lock{mutex_};
  for (auto& segment : segments_) segment.unsynced = false;
  safe_ = end_;
}

void Journal::take_back() {
  const std::lock_guard lock{mutex_};
  for (std::size_t place = 0; place < segments_.size(); ++place)
    if (place != safe_.segment && segments_[place].in_use && segments_[place].first > safe_.newest)
      ghosts_.push_back({place, 0, sizeof(Header)});
  if (safe_.segment != SIZE_MAX) ghosts_.push_back({safe_.segment, safe_.offset, sizeof(Frame)});
  // What comes next begins a segment: its seed is new, so nothing that lies behind can be bound to it.
  safe_.segment = SIZE_MAX;
  end_ = safe_;
  std::ignore = clean_locked();
}

Result<void> Journal::clean() {
  const std::lock_guard lock{mutex_};
  return clean_locked();
}

Result<void> Journal::clean_locked() {
  while (!ghosts_.empty()) {
    const auto [place, offset, bytes] = ghosts_.back();
    auto& segment = segments_[place];
    if (segment.file->size() > offset) {
      RELAY_TRY(segment.file->write(offset, std::string(bytes, '\0')));
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

void Journal::pass(CommitNumber number) {
  const std::lock_guard lock{mutex_};
  // In a segment of its own: one that is found without them is beyond a gap.
  end_ = safe_ = {.newest = number, .chain = kPassed};
}

void Journal::release(CommitNumber number) {
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

CommitNumber Journal::newest() const {
  const std::lock_guard lock{mutex_};
  return end_.newest;
}

CommitNumber Journal::newest_segment() const {
  const std::lock_guard lock{mutex_};
  return end_.segment == SIZE_MAX ? end_.newest + 1 : segments_[end_.segment].first;
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
