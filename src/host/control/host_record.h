/// `hosts/<id>.json`: how clients find a host socket. docs/spec/host.md lists the fields.
///
/// Invariants: a record exists while its socket listens, and after its host was killed until `reachable_hosts` removes
///   it. Written whole or not at all, private to the owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "text/json_writer.h"

namespace relay::host {

struct HostRecord {
  std::string id = {};
  std::string name = {};  // of the agent
  pid_t host_pid = 0;
  pid_t agent_pid = 0;
  /// When those processes started (pty::ProcessId), and in which boot: the record of a killed host stays, and the kernel
  /// reuses pids. 0 and empty: unknown.
  std::uint64_t host_start = 0;
  std::uint64_t agent_start = 0;
  std::string boot_id = {};
  std::string cli = {};
  std::string profile = {};
  std::string socket = {};
  std::string working_directory = {};
  WallMs started_at = 0;
  bool detached = false;  // without a terminal of the user
  bool headless = false;  // on the descriptors of its caller, without a terminal of the host
  bool spawned = false;   // started by the daemon: other agents may type into it and end it
  std::string spawner = {}, team = {}, model = {}, task = {};
  std::string version = {}, permission_mode = {};  // of the agent CLI; empty when unknown
};

/// Fills in the processes of the host and its agent.
void set_processes(HostRecord& record, pid_t host, pid_t agent);

void write_record(text::JsonWriter& out, const HostRecord& record);
Result<HostRecord> parse_record(std::string_view json);

/// Removes the file with its destruction.
class RecordFile {
 public:
  static Result<RecordFile> write(const std::string& directory, const HostRecord& record);
  /// Replaces the content; `record` has the id of the file.
  Result<void> update(const HostRecord& record) const;
  RecordFile(RecordFile&& other) noexcept : path_{std::exchange(other.path_, {})} {}
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

 private:
  explicit RecordFile(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

/// The file beside the record that holds the settings of the agent for one run; removed with it.
std::string settings_path(const std::string& directory, const std::string& id);

/// All records, oldest first. A host may be dead, or not have started its program yet (`agent_pid` is 0).
std::vector<HostRecord> recorded_hosts(const std::string& directory);
/// False for a record of an earlier boot, whose pids are invalid.
bool is_of_this_boot(const HostRecord& record);
/// Connects to the host socket. When nothing listens, the files of the host are removed.
bool is_reachable(const std::string& directory, const HostRecord& record);

/// Hosts that have started their program and whose socket listens, oldest first. Removes the files of killed hosts.
std::vector<HostRecord> reachable_hosts(const std::string& directory);
/// The newest host of that agent; without an exact match, one whose name differs only in case.
std::optional<HostRecord> find_host(const std::string& directory, std::string_view name);

}  // namespace relay::host
