#include "daemon/present_hosts.h"

#include "pty/process_table.h"

namespace relay::daemon {
namespace {

bool exists(pid_t pid) {
  const auto process = pty::find_process(pid);
  return process && !process->ended;
}

}  // namespace

std::vector<host::HostRecord> present_hosts(const std::string& directory) {
  auto hosts = host::recorded_hosts(directory);
  std::erase_if(hosts, [&](const host::HostRecord& one) { return !exists(one.pid) && !is_at_home(directory, one); });
  return hosts;
}

}  // namespace relay::daemon
