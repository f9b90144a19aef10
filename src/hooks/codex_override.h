/// Our hooks as one `-c` override for Codex, trusted by their content.
///
/// Codex runs a hook only when its state holds the hash of what the hook is (event, matcher, normalised handler), and
/// state may be given on the command line like any setting. So we name the hashes of exactly our hooks, and a hook of
/// anybody else needs the person's review as before; `--dangerously-bypass-hook-trust` would wave all of them through.
/// The rule was read in Codex's public source and holds in 0.166.0; if a later one computes differently, our hooks ask
/// for review like anybody's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/hook_specs.h"

namespace relay::hooks {

/// How the state names a hook: the file it is written in, the event, its place among the event's groups.
std::string codex_hook_key(std::string_view file, std::string_view event, std::size_t group, std::size_t handler);

/// "sha256:…" of a handler alone in a group without a matcher.
std::string codex_trusted_hash(std::string_view event, const json::object& handler);

/// A hook that is not called in this run, and needs no review either.
struct DisabledCodexHook {
  std::string key;
  std::string hash;
};

/// `hooks={…}` for `-c`.
Result<std::string> codex_override(std::string_view program, const std::vector<DisabledCodexHook>& disabled);

}  // namespace relay::hooks
