/// Linked git worktrees: finds the main worktree of a directory from git's files, without running git.
///
/// Why both directions are checked: a `.git` file may come from an unpacked archive and name any directory. Only git
///   writes the file inside the main repository that points back to it.
/// Invariants: no symbolic link of these files is followed, no pipe blocks, at most kMaxGitFileBytes of each are read.
/// Threading: any thread.
#pragma once

#include <optional>
#include <string>

namespace relay::config {

inline constexpr std::size_t kMaxGitFileBytes = 4 * 1024;

/// The root of the main worktree; none if `root` is no linked worktree, or the repository has no main one (it is bare).
std::optional<std::string> main_worktree_of(const std::string& root);

struct LinkedWorktree {
  std::string root;
  std::string main;  // root of its main worktree
};

/// The linked worktree that contains an absolute directory; none in a main worktree, in a submodule or outside of any.
std::optional<LinkedWorktree> linked_worktree_around(const std::string& directory);

}  // namespace relay::config
