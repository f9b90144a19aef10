#include "pty/process_tree.h"

#include <unistd.h>

#include <algorithm>

namespace relay::pty {

std::vector<Process> members_of(const std::vector<Process>& all, const ProcessId& leader,
                                const std::set<ProcessId>& known) {
  // A session's number is not given away while the session lives: a stranger under it means that the session is over.
  const bool number_is_strangers =
      std::ranges::any_of(all, [&](const Process& one) { return one.id.pid == leader.pid && one.id != leader; });
  std::set<pid_t> inside;
  if (!number_is_strangers) inside.insert(leader.pid);
  const auto belongs = [&](const Process& one) {
    return inside.contains(one.id.pid) || inside.contains(one.parent) || known.contains(one.id) ||
           (one.session == leader.pid && !number_is_strangers);
  };
  // Children may be listed before their parents, so look until nobody new is found.
  for (std::size_t before = 0; before != inside.size();) {
    before = inside.size();
    for (const auto& one : all)
      if (belongs(one)) inside.insert(one.id.pid);
  }
  std::vector<Process> members;
  std::ranges::copy_if(all, std::back_inserter(members), belongs);
  return members;
}

std::vector<Process> ProcessTree::living() {
  auto all = all_processes();
  std::erase_if(all, [self = ::getpid()](const Process& one) { return one.id.pid == self; });
  for (const auto& one : all)
    if (!one.ended && !known_.contains(one.id) && has_variable(one.id.pid, mark_)) known_.insert(one.id);
  auto members = members_of(all, leader_, known_);
  std::erase_if(members, [](const Process& one) { return one.ended; });
  known_.clear();  // only of those who still live; the numbers of the others mean nothing any more
  for (const auto& one : members) known_.insert(one.id);
  return members;
}

bool ProcessTree::any_alive() {
  const auto lives = [](const ProcessId& id) {
    const auto now = find_process(id.pid);
    return now && now->id == id && !now->ended;
  };
  return std::ranges::any_of(known_, lives) || !living().empty();
}

std::size_t ProcessTree::signal_all(int number) {
  const auto members = living();
  for (const auto& one : members) send_signal(one.id, number);
  return members.size();
}

}  // namespace relay::pty
