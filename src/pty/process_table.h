/// The processes of this machine, from /proc.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::pty {

/// A process number can be reused; together with the start time it identifies one process.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start = 0;  // clock ticks since the machine started
  auto operator<=>(const ProcessId&) const = default;
};

struct Process {
  ProcessId id;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool ended = false;  // a zombie
};

/// Parses the line of /proc/N/stat. Empty if malformed; the name in it may contain anything, also ")" and blanks.
std::optional<Process> parse_process(std::string_view stat_line);

std::optional<Process> find_process(pid_t pid);

/// Differs for each boot of the machine; empty where the kernel does not report it. ProcessIds of two boots are not
/// comparable.
const std::string& boot_id();

/// All running processes. Not a snapshot: processes that start or end meanwhile may be missed.
std::vector<Process> all_processes();

/// The value of a variable in the environment the process was started with; none also without permission to read it.
std::optional<std::string> find_variable(pid_t pid, std::string_view name);

/// True if the process was started with this NAME=value, and we may read it.
bool has_variable(pid_t pid, std::string_view entry);

/// The absolute paths of the files the process has open; empty without permission to read them.
std::vector<std::string> open_files(pid_t pid);

/// A process of this user that has the socket open; checks the highest process numbers first, since a client is often
/// started just before its request. None if no process has it within `max_descriptors` checks (about 1 µs each).
std::optional<pid_t> find_socket_holder(std::uint32_t inode, uid_t user, std::size_t max_descriptors);

/// False when the process has ended or belongs to another user. Never signals another process with the same number.
bool send_signal(const ProcessId& id, int number);

}  // namespace relay::pty
