#include "permissions/path_matching.h"

#include <vector>

namespace relay::permissions {
namespace {

const std::vector<std::string> kSecrets = {".env",
                                           ".env.*",
                                           ".envrc",
                                           "*.pem",
                                           "*.key",
                                           "*.p12",
                                           "*.pfx",
                                           "*.jks",
                                           "*.keystore",
                                           "*.kdbx",
                                           "*.ppk",
                                           "id_rsa*",
                                           "id_dsa*",
                                           "id_ecdsa*",
                                           "id_ed25519*",
                                           ".ssh/",
                                           ".aws/",
                                           ".azure/",
                                           ".gnupg/",
                                           ".kube/",
                                           ".netrc",
                                           "_netrc",
                                           ".npmrc",
                                           ".pypirc",
                                           ".pgpass",
                                           ".my.cnf",
                                           ".htpasswd",
                                           ".git-credentials",
                                           ".vault-token",
                                           "credentials",
                                           "credentials.*",
                                           ".credentials*",
                                           "auth.json",
                                           "oauth_creds*",
                                           "secret",
                                           "secrets",
                                           "secret.*",
                                           "secrets.*",
                                           "*.secret",
                                           ".secrets/",
                                           "secrets/",
                                           "token",
                                           "*.token",
                                           "*_token",
                                           "token.*",
                                           "tokens.*",
                                           "*.gpg",
                                           "*_history",
                                           "**/.docker/config.json",
                                           "**/gcloud/**",
                                           "**/gh/hosts.yml",
                                           "**/keyrings/**",
                                           "/etc/shadow*",
                                           "/etc/gshadow*",
                                           "/etc/sudoers*",
                                           "/proc/**"};

/// Anywhere.
const std::vector<std::string> kRunLater = {".git/",
                                            ".husky/",
                                            ".bashrc",
                                            ".bash_profile",
                                            ".bash_login",
                                            ".bash_logout",
                                            ".bash_aliases",
                                            ".profile",
                                            ".zshrc",
                                            ".zshenv",
                                            ".zprofile",
                                            ".zlogin",
                                            ".zlogout",
                                            ".envrc",
                                            ".ssh/",
                                            ".gitconfig",
                                            ".claude/",
                                            ".codex/",
                                            ".gemini/",
                                            ".opencode/",
                                            "opencode.json",
                                            "opencode.jsonc",
                                            ".mcp.json",
                                            ".vscode/",
                                            ".npmrc",
                                            "**/.config/git/**",
                                            "**/.config/fish/**",
                                            "**/.config/opencode/**",
                                            "**/.config/goose/**",
                                            "**/autostart/**",
                                            "**/systemd/**",
                                            "**/LaunchAgents/**",
                                            "**/.agent-relay/config.toml"};

/// Unless the agent's directory is inside.
const std::vector<std::string> kSystem = {"/etc/**", "/usr/**",       "/bin/**", "/sbin/**", "/lib*/**", "/boot/**",
                                          "/opt/**", "/var/spool/**", "/dev/**", "/proc/**", "/sys/**"};

/// The path relative to the agent's directory, as globs match it: `./src/a.cc`; empty when it is outside.
std::string relative_to(std::string_view resolved, std::string_view directory) {
  if (!is_inside(resolved, directory)) return {};
  if (directory.empty()) return "./" + std::string{resolved};
  auto below = resolved.substr(normalize_path(directory, "").size());
  if (below.starts_with('/')) below.remove_prefix(1);
  return "./" + std::string{below};
}

}  // namespace

std::string normalize_path(std::string_view path, std::string_view directory) {
  std::string whole;
  if (!path.starts_with('/') && !path.starts_with('~') && !directory.empty()) whole = std::string{directory} + "/";
  whole += path;
  const bool absolute = whole.starts_with('/');
  std::vector<std::string_view> names;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const auto end = rest.find('/');
    const auto name = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (name.empty() || name == ".") continue;
    const bool at_top = names.empty() || names.back() == ".." || (names.size() == 1 && whole.starts_with('~'));
    if (name != "..")
      names.push_back(name);
    else if (!at_top)
      names.pop_back();
    else if (!absolute)
      names.push_back(name);
  }
  std::string result = absolute ? "/" : "";
  for (const auto name : names) {
    if (result.size() > 1 || (!absolute && !result.empty())) result += '/';
    result += name;
  }
  return result.empty() ? "." : result;
}

bool is_inside(std::string_view resolved, std::string_view directory) {
  if (directory.empty()) return !resolved.starts_with('/') && !resolved.starts_with('~') && !resolved.starts_with("..");
  const auto top = normalize_path(directory, "");
  if (top == "/") return resolved.starts_with('/');
  return resolved.starts_with(top) && (resolved.size() == top.size() || resolved[top.size()] == '/');
}

bool matches_path(const Pattern& pattern, std::string_view path, std::string_view directory) {
  const auto resolved = normalize_path(path, directory);
  return pattern.matches(resolved) || pattern.matches(relative_to(resolved, directory));
}

std::span<const std::string> secret_globs() { return kSecrets; }

bool is_autorun_path(std::string_view path, std::string_view directory) {
  static const auto kAnywhere = Pattern::of_files(kRunLater, Matching::Loose).value();
  static const auto kOutside = Pattern::of_files(kSystem, Matching::Loose).value();
  const auto resolved = normalize_path(path, directory);
  const auto relative =
      relative_to(resolved, directory);  // the name of the directory itself does not count: `.claude/worktrees/x`
  return relative.empty() ? kAnywhere.matches(resolved) || kOutside.matches(resolved) : kAnywhere.matches(relative);
}

}  // namespace relay::permissions
