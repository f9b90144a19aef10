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
constexpr std::uint64_t kBackwards = 64U << 10;

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
  tail->watch_ =
      RELAY_TRY(net::FileWatch::start(loop, tail->path_, [it = tail.get()](net::FileWatchEvent) { it->go_on(); }));
  if (tail->open_quietly()) {
    tail->earlier_until_ = size_of(tail->file_.get());
    if (from == From::End) tail->start_at_end();
  }
  tail->go_on();
  return tail;
}

Tail::Tail(net::AsioLoop& loop, std::string path, TailListener& listener)
    : loop_{loop}, path_{std::move(path)}, listener_{listener} {}

Tail::~Tail() = default;

/// Right after the last line that is whole, so that the one being written now is not torn.
void Tail::start_at_end() {
  auto end = earlier_until_;
  const auto oldest = end > kMaxLine ? end - kMaxLine : 0;
  while (end > oldest) {
    const auto bytes = bytes_before(file_.get(), end, kBackwards);
    if (bytes.empty()) break;
    if (const auto found = bytes.rfind('\n'); found != std::string::npos) {
      end = end - bytes.size() + found + 1;
      break;
    }
    end -= bytes.size();
  }
  read_ = line_begins_ = end;
  last_read_ = bytes_before(file_.get(), read_, kFingerprint);
}

void Tail::go_on() {
  if (std::exchange(scheduled_, true)) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (!alive) return;
    scheduled_ = false;
    read_piece();
  });
}

void Tail::read_piece() {
  if (!file_ && !open_file()) return;
  const auto alive = lifetime_.watch();
  if (std::exchange(gone_, false) || was_cut()) {
    restart();
    if (!alive) return;
  }
  std::string bytes(kPiece, '\0');
  const auto count = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(read_));
  if (count < 0) return complain(Error::from_errno(relay::format("cannot read {}", path_)).message());
  if (count > 0) {
    bytes.resize(static_cast<std::size_t>(count));
    take(bytes);
    if (alive) go_on();
  } else if (is_another()) {
    file_.reset();
    restart();
    if (alive) go_on();
  } else if (is_gone()) {
    wait_for_return();
  }
}

void Tail::wait_for_return() {
  if (gone_timer_) return;
  gone_timer_ = loop_.after(kGoneTime, [this] {
    gone_timer_ = nullptr;
    if (!file_ || !is_gone()) return;
    file_.reset();
    gone_ = true;
    listener_.on_gone();  // may destroy this tail
  });
}

bool Tail::open_file() {
  if (open_quietly()) return true;
  if (errno != ENOENT && errno != ENOTDIR)
    complain(Error::from_errno(relay::format("cannot read {}", path_)).message());
  return false;
}

/// Only a plain file has an end to wait at; on anything else errno says that it is none.
bool Tail::open_quietly() {
  file_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file_ && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode)) return true;
  if (file_) {
    file_.reset();
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  }
  return false;
}

/// It is shorter than what was read, or holds something else there.
bool Tail::was_cut() const {
  return size_of(file_.get()) < read_ || bytes_before(file_.get(), read_, last_read_.size()) != last_read_;
}

bool Tail::is_another() const {
  struct stat here = {};
  struct stat there = {};
  if (::fstat(file_.get(), &here) != 0 || ::stat(path_.c_str(), &there) != 0) return false;
  return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

bool Tail::is_gone() const {
  struct stat there = {};
  return ::stat(path_.c_str(), &there) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

void Tail::restart() {
  read_ = line_begins_ = line_bytes_ = earlier_until_ = 0;
  held_.clear();
  last_read_.clear();
  listener_.on_restart();
}

void Tail::take(std::string_view bytes) {
  const auto alive = lifetime_.watch();
  complaint_.clear();
  read_ += bytes.size();
  last_read_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kFingerprint)));
  if (last_read_.size() > kFingerprint) last_read_.erase(0, last_read_.size() - kFingerprint);
  while (alive && !bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    line_bytes_ += part.size();
    if (line_bytes_ > kMaxLine) held_ = {};
    if (end != std::string_view::npos)
      end_line(part);
    else if (line_bytes_ <= kMaxLine)
      held_.append(part);
  }
}

void Tail::end_line(std::string_view last_part) {
  const auto bytes = std::exchange(line_bytes_, 0);
  const auto offset = line_begins_;
  line_begins_ += bytes + 1;
  if (bytes > kMaxLine)
    return listener_.on_line_skipped(
        relay::format("a line of {} bytes in {} was left out: it is longer than {} bytes", bytes, path_, kMaxLine));
  auto whole = std::exchange(held_, {});
  if (!whole.empty()) whole.append(last_part);
  listener_.on_line({.text = whole.empty() ? last_part : std::string_view{whole},
                     .offset = offset,
                     .preexisting = line_begins_ <= earlier_until_});
}

void Tail::complain(std::string sentence) {
  if (sentence == complaint_) return;
  complaint_ = std::move(sentence);
  listener_.on_problem(complaint_);
}

}  // namespace relay::transcripts
