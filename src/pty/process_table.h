/// The processes of this machine, as the kernel lists them.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::pty {

/// A number alone may have been given to somebody else meanwhile; with its start it is one process for ever.
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
  bool ended = false;  // only its exit status is left
};

/// One line of /proc/N/stat. Empty when it is not one; the name inside may hold anything, also ")" and blanks.
std::optional<Process> parse_process(std::string_view stat_line);

std::optional<Process> find_process(pid_t pid);

/// Differs for each start of the machine; empty where the kernel does not tell. ProcessIds of two boots mean nothing to each
/// other.
const std::string& boot_id();

/// Whoever runs now. Not a snapshot: what starts or ends meanwhile may be missed.
std::vector<Process> all_processes();

/// The value of a variable in the environment the process was started with; none also where we may not know it.
std::optional<std::string> find_variable(pid_t pid, std::string_view name);

/// True if the process was started with that NAME=value, and we may know it.
bool has_variable(pid_t pid, std::string_view entry);

/// The absolute paths of the files the process has open; none where we may not know it.
std::vector<std::string> open_files(pid_t pid);

/// A process that has this socket open, among those of that user; the youngest numbers first, since whoever asks something
/// was often started for it. None when no process shows it within `max_descriptors` looks (about 1 µs each).
std::optional<pid_t> find_socket_holder(std::uint32_t inode, uid_t user, std::size_t max_descriptors);

/// False when it is gone, or not ours to signal. Never hits a stranger with the same number.
bool send_signal(const ProcessId& id, int number);

}  // namespace relay::pty
