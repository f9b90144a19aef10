#include "host/control/running_hosts.h"

#include "pty/process_table.h"

namespace relay::host {
namespace {

bool exists(const HostRecord& host) {
  const auto process = pty::find_process(host.host_pid);
  return process && !process->ended && is_of_this_boot(host) &&
         (host.host_start == 0 || host.host_start == process->id.start);
}

}  // namespace

std::vector<HostRecord> running_hosts(const std::string& directory) {
  auto hosts = recorded_hosts(directory);
  std::erase_if(hosts, [&](const HostRecord& one) { return !exists(one) && !is_reachable(directory, one); });
  return hosts;
}

}  // namespace relay::host
