/// `hosts/<id>.json`: how others find a host's door. docs/spec/host.md lists the fields.
///
/// Invariants: a record is there only while its door is open, or after its host was killed; `living_hosts` then removes
///   it. Written whole or not at all, for the owner alone.
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
  /// When those two processes started (pty::ProcessId), and in which boot: a killed host's record stays, and the numbers are
  /// given to others. 0 and empty: not known.
  std::uint64_t start = 0;
  std::uint64_t agent_start = 0;
  std::string boot_id = {};
  std::string cli = {};
  std::string profile = {};
  std::string socket = {};
  std::string working_directory = {};
  WallMs started_at = 0;
  bool detached = false;  // without a terminal of a person's
  bool headless = false;  // with the descriptors of whoever started it, without any terminal of ours
  bool spawned = false;   // started by the daemon: others may type into it and end it
  std::string spawner = {}, team = {}, model = {}, task = {};
  std::string version = {}, permission_mode = {};  // of the agent CLI, as far as its start or its hooks tell them
};

/// Writes down which processes the host and its agent are.
void set_processes(HostRecord& record, pid_t host, pid_t agent);

void write_record(text::JsonWriter& out, const HostRecord& record);
Result<HostRecord> parse_record(std::string_view json);

/// While it lives the file is there.
class RecordFile {
 public:
  static Result<RecordFile> write(const std::string& directory, const HostRecord& record);
  RecordFile(RecordFile&& other) noexcept : path_{std::exchange(other.path_, {})} {}
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

 private:
  explicit RecordFile(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

/// All that are written down, oldest first; their hosts may be dead.
/// Where an agent's settings for one run are written beside its host's record, and removed with it.
std::string settings_of(const std::string& directory, const std::string& id);

std::vector<HostRecord> recorded_hosts(const std::string& directory);
/// False for what a host wrote before the machine was restarted: its pids mean nothing any more.
bool is_of_this_boot(const HostRecord& record);
/// Knocks at its door. When nobody listens any more, what is left of the host is removed.
bool is_reachable(const std::string& directory, const HostRecord& record);

/// Those whose door is open, oldest first. Leftovers of killed hosts are removed.
std::vector<HostRecord> reachable_hosts(const std::string& directory);
/// The youngest of that name; another case of letters will do when no name is equal.
std::optional<HostRecord> host_of(const std::string& directory, std::string_view name);

}  // namespace relay::host
