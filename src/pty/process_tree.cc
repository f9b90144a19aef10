#include "pty/process_tree.h"

#include <unistd.h>

#include <algorithm>

namespace relay::pty {

std::vector<Process> members_of(const std::vector<Process>& all, const ProcessId& leader,
                                const std::set<ProcessId>& known) {
  // A session's number is not reused while the session lives: another process with it means that the session is over.
  const bool number_is_reused = std::ranges::any_of(
      all, [&](const Process& process) { return process.id.pid == leader.pid && process.id != leader; });
  std::set<pid_t> inside;
  if (!number_is_reused) inside.insert(leader.pid);
  const auto belongs = [&](const Process& process) {
    return inside.contains(process.id.pid) || inside.contains(process.parent) || known.contains(process.id) ||
           (process.session == leader.pid && !number_is_reused);
  };
  // Children may be listed before their parents, so repeat until no member is added.
  for (std::size_t before = 0; before != inside.size();) {
    before = inside.size();
    for (const auto& process : all)
      if (belongs(process)) inside.insert(process.id.pid);
  }
  std::vector<Process> members;
  std::ranges::copy_if(all, std::back_inserter(members), belongs);
  return members;
}

std::vector<Process> ProcessTree::running() {
  auto all = all_processes();
  std::erase_if(all, [self = ::getpid()](const Process& process) { return process.id.pid == self; });
  for (const auto& process : all)
    if (!process.ended && !known_.contains(process.id) && has_variable(process.id.pid, mark_))
      known_.insert(process.id);
  auto members = members_of(all, leader_, known_);
  std::erase_if(members, [](const Process& process) { return process.ended; });
  known_.clear();  // keep only running members: the numbers of the others may be reused
  for (const auto& process : members) known_.insert(process.id);
  return members;
}

bool ProcessTree::any_alive() {
  const auto is_alive = [](const ProcessId& id) {
    const auto now = find_process(id.pid);
    return now && now->id == id && !now->ended;
  };
  return std::ranges::any_of(known_, is_alive) || !running().empty();
}

std::size_t ProcessTree::signal_all(int number) {
  const auto members = running();
  for (const auto& process : members) send_signal(process.id, number);
  return members.size();
}

}  // namespace relay::pty
