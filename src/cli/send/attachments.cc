#include "cli/send/attachments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/directory.h"
#include "base/format.h"
#include "base/hash.h"
#include "cli/render/times.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/limits.h"
#include "text/json_scanner.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

constexpr std::size_t kDigestLength = 16;
constexpr std::size_t kMaxSafeNameBytes = 100;
constexpr std::size_t kMaxNameBytes = 255;

Failure too_large(const std::string& file, std::uint64_t bytes) {
  return fail(Errc::TooLarge, relay::format("{} has {}, and an attachment may have at most {}; send its path instead",
                                            file, short_size(bytes), short_size(kMaxAttachmentBytes)));
}

Result<std::string> content_of(const std::string& file) {
  const UniqueFd fd{
      ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};  // O_NONBLOCK: a pipe would block
  if (!fd && errno == ELOOP) return fail(relay::format("{} is a link; attach the file that it points to", file));
  if (!fd) return fail_errno(relay::format("cannot attach {}", file));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(relay::format("cannot attach {}", file));
  if (!S_ISREG(status.st_mode))
    return fail(relay::format("{} is not a regular file; attach a file or an archive", file));
  if (static_cast<std::uint64_t>(status.st_size) > kMaxAttachmentBytes)
    return too_large(file, static_cast<std::uint64_t>(status.st_size));
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');  // one more byte shows that the file grows
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto count = ::read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(relay::format("cannot read {}", file));
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  if (have == bytes.size()) return fail(relay::format("{} is being written; attach it when it is finished", file));
  bytes.resize(have);
  return bytes;
}

std::uint64_t bytes_in(const DiskDirectory& directory) {
  std::uint64_t sum = 0;
  for (const auto& name : directory.files()) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(directory.path() + "/" + name, failed);
    if (!failed) sum += size;
  }
  return sum;
}

bool has_copy(DiskDirectory& directory, const std::string& name, std::string_view digest) {
  const auto copy = directory.read(name, kMaxAttachmentBytes);
  return copy && *copy && sha256_hex(**copy) == digest;
}

Result<void> write_copy(DiskDirectory& directory, const std::string& name, std::string_view content) {
  const auto fresh = relay::format("{}.new-{}", name, ::getpid());
  {
    const auto file = RELAY_TRY(directory.create(fresh));
    auto written = file->append(content);
    if (written) written = file->sync();
    if (!written) {
      (void)directory.remove(fresh);
      return written;
    }
  }
  RELAY_TRY(directory.replace(name, fresh));
  return directory.sync();
}

/// The name that agents get. A name that could end a line is refused.
Result<std::string> display_name(const std::string& file) {
  auto name = std::filesystem::path{file}.filename().string();
  if (text::has_control_characters(name))
    return fail(Errc::Refused,
                relay::format(
                    "cannot attach a file whose name has a newline or another control character ({}); rename it first",
                    safe_file_name(file)));
  return !name.empty() && name.size() <= kMaxNameBytes && text::is_utf8(name) ? name : safe_file_name(file);
}

}  // namespace

std::string safe_file_name(std::string_view path) {
  const auto name = path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  std::string safe;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    safe += plain ? c : '_';
  }
  if (safe.size() > kMaxSafeNameBytes) safe.erase(0, safe.size() - kMaxSafeNameBytes);  // keeps the extension
  if (safe.empty()) return "file";
  if (safe.front() == '.' || safe.front() == '-') safe.front() = '_';
  return safe;
}

Result<std::vector<Attachment>> copy_attachments(const std::string& project_root, const std::vector<std::string>& files,
                                                 std::uint64_t max_total_bytes) {
  std::vector<Attachment> copies;
  if (files.empty()) return copies;
  if (files.size() > protocol::kMaxAttachments)
    return fail(Errc::TooLarge,
                relay::format("{} files are attached, at most {} are allowed; pack them into an archive", files.size(),
                              protocol::kMaxAttachments));
  std::vector<std::string> names;  // all checked before the first copy is made
  for (const auto& file : files) names.push_back(RELAY_TRY(display_name(file)));
  const auto top = RELAY_TRY(DiskDirectory::open_inside(project_root, {".agent-relay"}));
  RELAY_TRY(top->create_once(".gitignore", "*\n"));  // keeps them out of commits
  const auto directory = RELAY_TRY(DiskDirectory::open_inside(project_root, {".agent-relay", "attachments"}));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& file = files[i];
    const auto content = RELAY_TRY(content_of(file));
    auto digest = sha256_hex(content);
    const auto name = relay::format("{}-{}", digest.substr(0, kDigestLength), safe_file_name(file));
    if (!has_copy(*directory, name, digest)) {
      if (const auto there = bytes_in(*directory); there + content.size() > max_total_bytes)
        return fail(Errc::TooLarge, relay::format("attachments already take {} of {}; remove old ones from {}",
                                                  short_size(there), short_size(max_total_bytes), directory->path()));
      RELAY_TRY(write_copy(*directory, name, content));
    }
    copies.push_back({.name = std::move(names[i]),
                      .path = directory->path() + "/" + name,
                      .bytes = content.size(),
                      .sha256 = std::move(digest)});
  }
  return copies;
}

}  // namespace relay::cli
