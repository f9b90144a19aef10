#include "host/present_hosts.h"

#include "pty/process_table.h"

namespace relay::host {
namespace {

bool exists(pid_t pid) {
  const auto process = pty::find_process(pid);
  return process && !process->ended;
}

}  // namespace

std::vector<HostRecord> present_hosts(const std::string& directory) {
  auto hosts = recorded_hosts(directory);
  std::erase_if(hosts, [&](const HostRecord& one) { return !exists(one.pid) && !is_at_home(directory, one); });
  return hosts;
}

}  // namespace relay::host
