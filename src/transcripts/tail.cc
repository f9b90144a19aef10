#include "transcripts/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "net/asio_loop.h"

namespace relay::transcripts {
namespace {

constexpr std::size_t kFingerprint = 64;
constexpr std::uint64_t kBackwardChunk = 64U << 10;

std::uint64_t size_of(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string bytes_before(int fd, std::uint64_t end, std::uint64_t count) {
  std::string bytes(static_cast<std::size_t>(std::min(end, count)), '\0');
  const auto got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(end - bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Tail>> Tail::follow(net::AsioLoop& loop, std::string path, From from, TailListener& listener) {
  std::unique_ptr<Tail> tail{new Tail{loop, std::move(path), listener}};
  tail->watch_ = RELAY_TRY(
      net::FileWatch::start(loop, tail->path_, [it = tail.get()](net::FileWatchEvent) { it->schedule_read(); }));
  if (tail->try_open()) {
    tail->preexisting_until_ = size_of(tail->file_.get());
    if (from == From::End) tail->start_at_end();
  }
  tail->schedule_read();
  return tail;
}

Tail::Tail(net::AsioLoop& loop, std::string path, TailListener& listener)
    : loop_{loop}, path_{std::move(path)}, listener_{listener} {}

Tail::~Tail() = default;

/// Starts behind the last complete line, so that the line being written is read whole.
void Tail::start_at_end() {
  auto end = preexisting_until_;
  const auto oldest = end > kMaxLine ? end - kMaxLine : 0;
  while (end > oldest) {
    const auto bytes = bytes_before(file_.get(), end, kBackwardChunk);
    if (bytes.empty()) break;
    if (const auto found = bytes.rfind('\n'); found != std::string::npos) {
      end = end - bytes.size() + found + 1;
      break;
    }
    end -= bytes.size();
  }
  read_ = line_start_ = end;
  last_read_ = bytes_before(file_.get(), read_, kFingerprint);
}

void Tail::schedule_read() {
  if (std::exchange(scheduled_, true)) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive) return;
    scheduled_ = false;
    read_chunk();
  });
}

void Tail::read_chunk() {
  if (!file_ && !open_file()) return;
  const auto alive = lifetime_.watch();
  if (std::exchange(removed_, false) || was_truncated()) {
    restart();
    if (!alive) return;
  }
  std::string bytes(kChunkBytes, '\0');
  const auto count = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(read_));
  if (count < 0) return report_problem(Error::from_errno(relay::format("cannot read {}", path_)).message());
  if (count > 0) {
    bytes.resize(static_cast<std::size_t>(count));
    take(bytes);
    if (alive) schedule_read();
  } else if (was_replaced()) {
    file_.reset();
    restart();
    if (alive) schedule_read();
  } else if (was_removed()) {
    start_removal_timer();
  }
}

void Tail::start_removal_timer() {
  if (removal_timer_) return;
  removal_timer_ = loop_.after(kRemovalDelay, [this] {
    removal_timer_ = nullptr;
    if (!file_ || !was_removed()) return;
    file_.reset();
    removed_ = true;
    listener_.on_removed();  // may destroy this tail
  });
}

bool Tail::open_file() {
  if (try_open()) return true;
  if (errno != ENOENT && errno != ENOTDIR)
    report_problem(Error::from_errno(relay::format("cannot read {}", path_)).message());
  return false;
}

/// Only a regular file has an end to follow; for other files errno has the reason.
bool Tail::try_open() {
  file_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file_ && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode)) return true;
  if (file_) {
    file_.reset();
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  }
  return false;
}

/// The file is shorter than its read part, or has other bytes there.
bool Tail::was_truncated() const {
  return size_of(file_.get()) < read_ || bytes_before(file_.get(), read_, last_read_.size()) != last_read_;
}

bool Tail::was_replaced() const {
  struct stat here = {};
  struct stat there = {};
  if (::fstat(file_.get(), &here) != 0 || ::stat(path_.c_str(), &there) != 0) return false;
  return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

bool Tail::was_removed() const {
  struct stat there = {};
  return ::stat(path_.c_str(), &there) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

void Tail::restart() {
  read_ = line_start_ = line_bytes_ = preexisting_until_ = 0;
  partial_line_.clear();
  last_read_.clear();
  listener_.on_restart();
}

void Tail::take(std::string_view bytes) {
  const auto alive = lifetime_.watch();
  last_problem_.clear();
  read_ += bytes.size();
  last_read_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kFingerprint)));
  if (last_read_.size() > kFingerprint) last_read_.erase(0, last_read_.size() - kFingerprint);
  while (alive && !bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    line_bytes_ += part.size();
    if (line_bytes_ > kMaxLine) partial_line_ = {};
    if (end != std::string_view::npos)
      end_line(part);
    else if (line_bytes_ <= kMaxLine)
      partial_line_.append(part);
  }
}

void Tail::end_line(std::string_view last_part) {
  const auto bytes = std::exchange(line_bytes_, 0);
  const auto offset = line_start_;
  line_start_ += bytes + 1;
  if (bytes > kMaxLine)
    return listener_.on_line_skipped(
        relay::format("a line of {} bytes in {} was skipped: it is longer than {} bytes", bytes, path_, kMaxLine));
  auto whole = std::exchange(partial_line_, {});
  if (!whole.empty()) whole.append(last_part);
  listener_.on_line({.text = whole.empty() ? last_part : std::string_view{whole},
                     .offset = offset,
                     .preexisting = line_start_ <= preexisting_until_});
}

void Tail::report_problem(std::string message) {
  if (message == last_problem_) return;
  last_problem_ = std::move(message);
  listener_.on_problem(last_problem_);
}

}  // namespace relay::transcripts
