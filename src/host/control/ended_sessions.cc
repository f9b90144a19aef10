#include "host/control/ended_sessions.h"

#include <filesystem>

#include "base/directory.h"
#include "base/format.h"
#include "base/log.h"

namespace relay::host {
namespace {

constexpr std::string_view kEndedSuffix = ".ended";

std::string ended_file(const std::string& session) { return format("{}{}", session, kEndedSuffix); }

/// Null without one: reading creates no directory.
std::unique_ptr<DiskDirectory> find_directory(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return nullptr;
  auto directory = DiskDirectory::open(path);
  return directory ? *std::move(directory) : nullptr;
}

Result<protocol::EndedSession> parse_file(const std::string& file, std::string_view text) {
  auto ended = RELAY_TRY(protocol::parse_ended_session(text));
  if (ended_file(ended.session) != file) return fail(format("it names the session {}", ended.session));
  return ended;
}

}  // namespace

Result<void> write_ended_session(const std::string& directory, const protocol::EndedSession& ended) {
  if (!protocol::is_plain_session_id(ended.session)) return fail("the session has no id that can name a file");
  const auto disk = RELAY_TRY(DiskDirectory::open(directory));
  const auto name = ended_file(ended.session);
  {
    const auto file = RELAY_TRY(disk->create(name + ".new"));
    RELAY_TRY(file->append(protocol::write_ended_session(ended)));
    RELAY_TRY(file->sync());
  }
  RELAY_TRY(disk->replace(name, name + ".new"));
  return disk->sync();
}

std::vector<protocol::EndedSession> ended_sessions(const std::string& directory) {
  std::vector<protocol::EndedSession> found;
  const auto disk = find_directory(directory);
  if (!disk) return found;
  for (const auto& file : disk->files()) {
    if (!file.ends_with(kEndedSuffix)) continue;
    if (found.size() >= kMaxEndedSessions) break;
    const auto text = disk->read(file, protocol::kMaxEndedSessionBytes);
    if (!text) {
      log::warn("cannot read the record of an ended session", {{"reason", text.error().message()}});
      continue;
    }
    auto ended = parse_file(file, text->value_or(""));
    if (ended) {
      found.push_back(*std::move(ended));
      continue;
    }
    log::warn("removed a damaged record of an ended session",
              {{"file", disk->path() + "/" + file}, {"reason", ended.error().message()}});
    (void)disk->remove(file);
  }
  return found;
}

void remove_ended_session(const std::string& directory, const std::string& session) {
  const auto disk = protocol::is_plain_session_id(session) ? find_directory(directory) : nullptr;
  if (!disk) return;
  (void)disk->remove(ended_file(session));
  (void)disk->remove(ended_file(session) + ".new");  // of a host that was killed during the write
}

}  // namespace relay::host
