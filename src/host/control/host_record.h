/// `hosts/<id>.json`: how clients find a host socket. docs/spec/host.md lists the fields.
///
/// Invariants: a record exists only while its socket listens, or after its host was killed; `reachable_hosts` then
///   removes it. Written whole or not at all, for the owner alone.
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
  pid_t pid = 0;          // of the host
  pid_t agent_pid = 0;
  /// When those two processes started (pty::ProcessId), and in which boot: the record of a killed host stays, and the
  /// kernel reuses the pids. 0 and empty: not known.
  std::uint64_t start = 0;
  std::uint64_t agent_start = 0;
  std::string boot_id = {};
  std::string cli = {};
  std::string profile = {};
  std::string socket = {};
  std::string working_directory = {};
  WallMs started_at = 0;
  bool detached = false;  // without a terminal of the user
  bool headless = false;  // on the descriptors of its caller, without a terminal of ours
  bool spawned = false;   // started by the daemon: others may type into it and end it
  std::string spawner = {}, team = {}, model = {}, task = {};
  std::string version = {}, permission_mode = {};  // of the agent CLI, as far as they are known
};

/// Fills in the processes of the host and its agent.
void set_processes(HostRecord& record, pid_t host, pid_t agent);

void write_record(text::JsonWriter& out, const HostRecord& record);
Result<HostRecord> parse_record(std::string_view json);

/// The file exists while this lives.
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
std::string settings_of(const std::string& directory, const std::string& id);

/// All records, oldest first; their hosts may be dead, or have not started their program yet (`agent_pid` is 0).
std::vector<HostRecord> recorded_hosts(const std::string& directory);
/// False for a record of an earlier boot, whose pids mean nothing now.
bool is_of_this_boot(const HostRecord& record);
/// Connects to its socket. When nothing listens there, the files of the host are removed.
bool is_reachable(const std::string& directory, const HostRecord& record);

/// Those that have started their program and whose socket listens, oldest first. Files of killed hosts are removed.
std::vector<HostRecord> reachable_hosts(const std::string& directory);
/// The newest of that name; without an equal name, one that differs only in case.
std::optional<HostRecord> host_of(const std::string& directory, std::string_view name);

}  // namespace relay::host
