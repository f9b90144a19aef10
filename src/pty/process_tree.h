/// A child and everybody who came from it, for ending them all.
///
/// Who belongs: the child's session, whoever descends from a member, whoever belonged when we looked before, and
///   whoever carries the child's mark in the environment it was started with. The mark finds those who forked twice and
///   made a session of their own: no parent links them to us any more.
/// Who escapes: a process that leaves the session and loses its parent *and* drops the mark from its environment, if
///   all of that happened between two looks; and one that runs as another user, whom we may not signal.
/// Why not PR_SET_CHILD_SUBREAPER: it would catch the first kind, but it concerns the whole process. We would inherit,
///   and have to reap, the orphans of everything else this program starts, without knowing whose they are.
/// Ownership: values only; it keeps no handle on any process. Threading: loop thread only.
#pragma once

#include <set>
#include <string>

#include "pty/process_table.h"

namespace relay::pty {

/// The members among `all`: pure, so that it can be tested with any family.
std::vector<Process> members_of(const std::vector<Process>& all, const ProcessId& leader,
                                const std::set<ProcessId>& known);

class ProcessTree {
 public:
  /// `mark` is the NAME=value in the child's environment.
  ProcessTree(ProcessId leader, std::string mark) : leader_{leader}, mark_{std::move(mark)} {}

  /// Looks now, at every process there is. Those who have ended do not count.
  std::vector<Process> living();

  /// True if anybody lives. Looks first at those it knows, which is cheap; only when they are gone at everybody.
  bool any_alive();

  /// Sends it to everyone who lives; how many there were.
  std::size_t signal_all(int number);

 private:
  ProcessId leader_;
  std::string mark_;
  std::set<ProcessId> known_;
};

}  // namespace relay::pty
