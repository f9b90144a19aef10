/// Linked git worktrees: which main worktree a directory belongs to, read from git's own files without running git.
///
/// Why both directions are checked: a `.git` file may come with an unpacked archive and name any directory. Only git itself
///   writes the file inside the main repository that points back to it.
/// Invariants: no link is followed out of the files read, no pipe is waited for, at most kMaxGitFileBytes are read of each.
/// Threading: any thread.
#pragma once

#include <optional>
#include <string>

namespace relay::config {

inline constexpr std::size_t kMaxGitFileBytes = 4 * 1024;

/// The root of the main worktree; none when `root` is no linked worktree, or the repository has no main one (it is bare).
std::optional<std::string> main_worktree_of(const std::string& root);

struct LinkedWorktree {
  std::string root;
  std::string main;  // root of its main worktree
};

/// The linked worktree that an absolute directory lies in; none in a main one, in a submodule or outside of any.
std::optional<LinkedWorktree> linked_worktree_around(const std::string& directory);

}  // namespace relay::config
