/// The relay's hooks as one `-c` override for Codex, trusted by their content hashes.
///
/// Codex runs a hook only when its state holds the hash of the hook (event, matcher, normalised handler), and the state
/// may be given on the command line like any setting. The override therefore names the hashes of exactly the relay's
/// hooks, and all other hooks need the user's review as before; `--dangerously-bypass-hook-trust` would trust all of
/// them. The rule was read in Codex's public sthe relay'sce and holds in 0.166.0. If a later version computes the hash
/// differently, the relay's hooks need review like any other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/hook_specs.h"

namespace relay::hooks {

/// The key of a hook in the state: the file that contains it, the event, its position among the event's groups.
std::string codex_hook_key(std::string_view file, std::string_view event, std::size_t group, std::size_t handler);

/// "sha256:…" of a handler alone in a group without a matcher.
std::string codex_trusted_hash(std::string_view event, const json::object& handler);

/// A hook that is not called in this run and needs no review.
struct DisabledCodexHook {
  std::string key;
  std::string hash;
};

/// `hooks={…}` for `-c`.
Result<std::string> codex_override(std::string_view program, const std::vector<DisabledCodexHook>& disabled);

}  // namespace relay::hooks
