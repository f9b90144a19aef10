#include "host/control/host_record.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "net/unix_address.h"
#include "pty/process_table.h"

namespace relay::host {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxRecordBytes = 64 * 1024;
constexpr std::size_t kMaxRecords = 10'000;

std::optional<HostRecord> read_record(const fs::path& path) {
  std::error_code failed;
  if (fs::file_size(path, failed) > kMaxRecordBytes || failed) return std::nullopt;
  std::ifstream file{path, std::ios::binary};
  auto record = parse_record(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (!record) return std::nullopt;
  record->id = path.stem().string();  // the file name has the id, not the content
  return *std::move(record);
}

Result<void> replace_record(const std::string& directory, const HostRecord& record) {
  const auto disk = RELAY_TRY(DiskDirectory::open(directory));
  const auto name = format("{}.json", record.id);
  {
    text::JsonWriter json;
    write_record(json, record);
    const auto file = RELAY_TRY(disk->create(name + ".new"));
    RELAY_TRY(file->append(json.take()));
  }
  return disk->replace(name, name + ".new");
}

bool equals_ignore_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

void set_processes(HostRecord& record, pid_t host, pid_t agent) {
  const auto start_of = [](pid_t pid) {
    const auto process = pty::find_process(pid);
    return process ? process->id.start : 0;
  };
  record.host_pid = host;
  record.agent_pid = agent;
  record.host_start = start_of(host);
  record.agent_start = start_of(agent);
  record.boot_id = pty::boot_id();
}

void write_record(text::JsonWriter& out, const HostRecord& record) {
  out.field("id", record.id)
      .field("name", record.name)
      .field("pid", record.agent_pid)
      .field("hostPid", record.host_pid)
      .field("start", record.agent_start)
      .field("hostStart", record.host_start)
      .optional("bootId", record.boot_id)
      .field("cli", record.cli)
      .field("profile", record.profile)
      .field("socket", record.socket)
      .field("cwd", record.working_directory)
      .field("startedAt", record.started_at)
      .field("detached", record.detached)
      .field("headless", record.headless)
      .field("spawned", record.spawned)
      .optional("spawner", record.spawner)
      .optional("team", record.team)
      .optional("model", record.model)
      .optional("task", record.task)
      .optional("version", record.version)
      .optional("permissionMode", record.permission_mode);
}

Result<HostRecord> parse_record(std::string_view text) {
  const auto object = RELAY_TRY(parse_json_object(text));
  const auto string = [&](std::string_view name) { return string_member(object, name).value_or(""); };
  const auto number = [&](std::string_view name) { return integer_member(object, name).value_or(0); };
  HostRecord record;
  record.id = string("id");
  record.name = string("name");
  record.host_pid = static_cast<pid_t>(number("hostPid"));
  record.agent_pid = static_cast<pid_t>(number("pid"));
  record.host_start = static_cast<std::uint64_t>(number("hostStart"));
  record.agent_start = static_cast<std::uint64_t>(number("start"));
  record.boot_id = string("bootId");
  record.cli = string("cli");
  record.profile = string("profile");
  record.socket = string("socket");
  record.working_directory = string("cwd");
  record.started_at = number("startedAt");
  record.detached = bool_member(object, "detached").value_or(false);
  record.headless = bool_member(object, "headless").value_or(false);
  record.spawned = bool_member(object, "spawned").value_or(false);
  record.spawner = string("spawner");
  record.team = string("team");
  record.model = string("model");
  record.task = string("task");
  record.version = string("version");
  record.permission_mode = string("permissionMode");
  if (record.name.empty() || record.socket.empty()) return fail("a host's record needs name and socket");
  return record;
}

Result<RecordFile> RecordFile::write(const std::string& directory, const HostRecord& record) {
  RELAY_TRY(replace_record(directory, record));
  return RecordFile{format("{}/{}.json", directory, record.id)};
}

Result<void> RecordFile::update(const HostRecord& record) const {
  return replace_record(fs::path{path_}.parent_path(), record);
}

RecordFile::~RecordFile() {
  std::error_code none;
  if (!path_.empty()) fs::remove(path_, none);
}

std::string settings_path(const std::string& directory, const std::string& id) {
  return format("{}/{}.settings.json", directory, id);
}

std::vector<HostRecord> recorded_hosts(const std::string& directory) {
  std::vector<HostRecord> hosts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{directory, none}) {
    if (entry.path().extension() != ".json" || hosts.size() >= kMaxRecords) continue;
    if (auto record = read_record(entry.path())) hosts.push_back(*std::move(record));
  }
  std::ranges::sort(hosts, {}, &HostRecord::started_at);
  return hosts;
}

bool is_of_this_boot(const HostRecord& record) { return record.boot_id.empty() || record.boot_id == pty::boot_id(); }

bool is_reachable(const std::string& directory, const HostRecord& record) {
  const auto connection = net::connect_now(record.socket);
  if (connection ||
      !(is(connection.error(), net::Errc::ConnectionRefused) || is(connection.error(), net::Errc::ForeignListener)))
    return true;
  std::error_code none;
  fs::remove(format("{}/{}.json", directory, record.id), none);
  fs::remove(settings_path(directory, record.id), none);
  // Only a file named like a socket, because the record may be wrong.
  if (fs::path{record.socket}.filename().string().ends_with(record.id + ".sock")) fs::remove(record.socket, none);
  return false;
}

std::vector<HostRecord> reachable_hosts(const std::string& directory) {
  auto hosts = recorded_hosts(directory);
  std::erase_if(hosts, [&](const HostRecord& host) { return host.agent_pid == 0 || !is_reachable(directory, host); });
  return hosts;
}

std::optional<HostRecord> find_host(const std::string& directory, std::string_view name) {
  auto hosts = reachable_hosts(directory);
  for (const bool exact : {true, false})
    for (auto host = hosts.rbegin(); host != hosts.rend(); ++host)
      if (exact ? host->name == name : equals_ignore_case(host->name, name)) return std::move(*host);
  return std::nullopt;
}

}  // namespace relay::host
