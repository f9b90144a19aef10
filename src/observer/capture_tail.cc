#include "observer/capture_tail.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/format.h"
#include "capture/record.h"

namespace relay::observer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::string_view kRotated = ".1";

UniqueFd open_file(const std::string& path) {
  return UniqueFd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
}

/// Zero for anything but a regular file.
ino_t inode_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

Result<std::unique_ptr<CaptureTail>> CaptureTail::follow(net::AsioLoop& loop, std::string directory, OnLine on_line) {
  std::unique_ptr<CaptureTail> tail{new CaptureTail{loop, std::move(directory), std::move(on_line)}};
  tail->inotify_ = UniqueFd{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!tail->inotify_) return fail_errno("cannot watch the captured events");
  if (::inotify_add_watch(tail->inotify_.get(), tail->directory_.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
    return fail_errno(format("cannot watch {}", tail->directory_));
  tail->record_present_files();
  tail->readable_ =
      std::make_unique<net::ReadableWatch>(loop, tail->inotify_.get(), [self = tail.get()] { self->on_events(); });
  return tail;
}

CaptureTail::CaptureTail(net::AsioLoop& loop, std::string directory, OnLine on_line)
    : loop_{loop}, directory_{std::move(directory)}, on_line_{std::move(on_line)} {}

CaptureTail::~CaptureTail() = default;

std::string CaptureTail::path_of(std::string_view name) const { return format("{}/{}", directory_, name); }

void CaptureTail::record_present_files() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator{directory_, failed}) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(kSuffix) || files_.size() >= kMaxFiles) continue;
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      files_[name] = {.inode = status.st_ino, .read = static_cast<std::uint64_t>(status.st_size)};
  }
}

void CaptureTail::on_events() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  for (;;) {
    const auto count = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (count <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0)
        for (const auto& [name, file] : files_) changed_.insert(name);
      const std::string_view name = event->len == 0 ? std::string_view{} : std::string_view{event->name};
      if (name.ends_with(kSuffix)) changed_.emplace(name);
    }
  }
  read_changed();
}

void CaptureTail::read_changed() {
  if (changed_.empty()) return;
  const auto name = *changed_.begin();
  const auto alive = lifetime_.watch();
  const bool more = read_piece(name);
  if (!alive) return;
  if (!more) changed_.erase(name);
  if (changed_.empty() || std::exchange(scheduled_, true)) return;
  loop_.post([this, alive] {
    if (!alive) return;
    scheduled_ = false;
    read_changed();
  });
}

bool CaptureTail::read_piece(const std::string& name) {
  const auto fd = open_file(path_of(name));
  const auto inode = fd ? inode_of(fd.get()) : 0;
  if (inode == 0) return false;
  auto found = files_.find(name);
  if (found == files_.end()) {
    if (files_.size() >= kMaxFiles)
      std::erase_if(files_, [this](const auto& each) { return !open_file(path_of(each.first)); });
    if (files_.size() >= kMaxFiles) return false;
    found = files_.emplace(name, File{.inode = inode}).first;
  }
  auto& file = found->second;
  if (file.inode != inode) {
    const auto older = open_file(path_of(name + std::string{kRotated}));
    if (older && inode_of(older.get()) == file.inode && read_piece_of(older.get(), file)) return true;
    file = {.inode = inode};
  }
  return read_piece_of(fd.get(), file);
}

bool CaptureTail::read_piece_of(int fd, File& file) {
  std::string bytes(kPieceBytes, '\0');
  const auto count = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(file.read));
  if (count <= 0) return false;
  bytes.resize(static_cast<std::size_t>(count));
  file.read += bytes.size();
  take(file, bytes);
  return bytes.size() == kPieceBytes;
}

/// Extracts the lines first: a callback may destroy this object.
void CaptureTail::take(File& file, std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    if (file.held.size() + part.size() > capture::kMaxLineBytes) file.skipping = true, file.held.clear();
    if (!file.skipping) file.held += part;
    if (end == std::string_view::npos) break;
    if (!file.skipping && !file.held.empty()) lines.push_back(std::exchange(file.held, {}));
    file.skipping = false;
    bytes.remove_prefix(end + 1);
  }
  const auto alive = lifetime_.watch();
  for (const auto& line : lines) {
    if (!alive) return;
    on_line_(line);
  }
}

}  // namespace relay::observer
