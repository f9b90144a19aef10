#include "daemon/recorded_hosts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "net/unix_address.h"
#include "pty/process_table.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxRecordBytes = 64 * 1024;
constexpr std::size_t kMaxRecords = 10'000;

std::optional<host::HostRecord> read_record(const fs::path& path) {
  std::error_code failed;
  if (fs::file_size(path, failed) > kMaxRecordBytes || failed) return std::nullopt;
  std::ifstream file{path, std::ios::binary};
  auto record = host::parse_record(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (!record) return std::nullopt;
  record->id = path.stem().string();
  return *std::move(record);
}

bool exists(pid_t pid) {
  const auto process = pty::find_process(pid);
  return process && !process->ended;
}

}  // namespace

std::vector<host::HostRecord> recorded_hosts(const std::string& directory) {
  std::vector<host::HostRecord> hosts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{directory, none}) {
    if (entry.path().extension() != ".json" || hosts.size() >= kMaxRecords) continue;
    auto record = read_record(entry.path());
    if (record && (exists(record->pid) || is_at_home(directory, *record))) hosts.push_back(*std::move(record));
  }
  std::ranges::sort(hosts, {}, &host::HostRecord::started_at);
  return hosts;
}

bool is_at_home(const std::string& directory, const host::HostRecord& record) {
  const auto door = net::connect_now(record.socket);
  if (door || !is(door.error(), net::Errc::NoOneListens)) return true;
  std::error_code none;
  fs::remove(directory + "/" + record.id + ".json", none);
  // Only what is a door by its name, whatever the record says.
  if (fs::path{record.socket}.filename().string().ends_with(record.id + ".sock")) fs::remove(record.socket, none);
  return false;
}

}  // namespace relay::daemon
