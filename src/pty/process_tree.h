/// A child and all its descendants, to end them together.
///
/// Members: the child's session, all descendants of a member, all members of an earlier scan, and all processes with
///   the child's mark in the environment they were started with. The mark finds processes that forked twice and created
///   their own session: no parent links them to us.
/// Not found: a process that leaves the session and loses its parent *and* drops the mark from its environment, if all
///   of that happens between two scans; and one that runs as another user, which we may not signal.
/// Why not PR_SET_CHILD_SUBREAPER: it would find the first kind, but it affects the whole process. We would inherit,
/// and have to reap, the orphans of everything else this program starts, without knowing their origin.
/// Ownership: values only; no handle on any process. Threading: loop thread only.
#pragma once

#include <set>
#include <string>

#include "pty/process_table.h"

namespace relay::pty {

/// The members among `all`: pure, so that tests can pass any tree.
std::vector<Process> members_of(const std::vector<Process>& all, const ProcessId& leader,
                                const std::set<ProcessId>& known);

class ProcessTree {
 public:
  /// `mark` is the NAME=value in the child's environment.
  ProcessTree(ProcessId leader, std::string mark) : leader_{leader}, mark_{std::move(mark)} {}

  /// Scans all processes and returns the running members.
  std::vector<Process> running();

  /// True if a member is running. Checks the known members first, which is cheap, and scans all processes only when they
  /// have ended.
  bool any_alive();

  /// Signals all running members; returns their number.
  std::size_t signal_all(int number);

 private:
  ProcessId leader_;
  std::string mark_;
  std::set<ProcessId> known_;
};

}  // namespace relay::pty
