#include "permissions/assessment.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "base/format.h"
#include "base/toml.h"
#include "permissions/path_matching.h"
#include "permissions/tools.h"

namespace relay::permissions {
namespace {

using enum RiskLevel;

/// A program with certain words after it. `a|b`: one of them; a blank: both words; a final `*`: any continuation.
struct Sign {
  std::string_view program;
  std::string_view followed_by;
  RiskLevel risk;
  std::string_view reason;
};

constexpr std::string_view kDestroys = "destroys data that cannot be restored";
constexpr std::string_view kPublishes = "is visible to others";
constexpr std::string_view kChangesAccess = "changes access rights";
constexpr std::string_view kChangesRunning = "stops or changes running programs";

constexpr Sign kSigns[] = {
    {"rm|rmdir|unlink|shred|delete|drop|truncate|srm", "", Critical, kDestroys},
    {"mkfs*|wipefs|fdisk|parted|sfdisk|blkdiscard", "", Critical, kDestroys},
    {"dd", "of=/dev/*", Critical, kDestroys},
    {"terraform|tofu|pulumi|cdk|vagrant", "destroy", Critical, kDestroys},
    {"helm", "uninstall", Critical, kDestroys},
    {"docker|podman", "rmi|prune|down", Critical, kDestroys},
    {"sudo|doas|su|pkexec|runuser", "", High, "runs with more rights than you have"},
    {"git", "push -f|--force*|--mirror|--prune|+*", High, "replaces the work of others"},
    {"git", "reset --hard|--merge|--keep", High, kDestroys},
    {"git", "clean -*", High, kDestroys},
    {"git", "checkout -f|--force|--|.", High, kDestroys},
    {"git", "restore", High, kDestroys},
    {"git", "branch -D|-d|-f|-M", High, kDestroys},
    {"git", "filter-branch|filter-repo|gc|prune|reflog|update-ref", High, kDestroys},
    {"git", "-c|--exec-path*|--ext-diff|config|submodule", High, "can make git run other programs"},
    {"git", "push", High, kPublishes},
    {"chmod", "-R|--recursive|*777|*+s|o+*|a+*", High, kChangesAccess},
    {"chown|chgrp|setfacl|chattr", "", High, kChangesAccess},
    {"passwd|useradd|userdel|usermod|visudo|groupadd", "", High, kChangesAccess},
    {"dd|mount|umount|losetup", "", High, "operates on whole devices"},
    {"kill|killall|pkill|shutdown|reboot|halt|poweroff", "", High, kChangesRunning},
    {"systemctl|service|launchctl", "", High, kChangesRunning},
    {"iptables|nft|ufw|sysctl|modprobe|insmod", "", High, kChangesRunning},
    {"crontab|at|batch", "", High, "schedules a later run"},
    {"npm|pnpm|yarn|bun|cargo|gem|twine|poetry|uv|hatch", "publish|unpublish|upload|push|yank|deprecate", High,
     kPublishes},
    {"docker|podman", "push|login", High, kPublishes},
    {"docker|podman", "run|exec|kill|stop", High, kChangesRunning},
    {"gh|glab", "merge|close|create|edit|comment|release|secret|api", High, kPublishes},
    {"kubectl|helm|oc|aws|gcloud|az|fly|heroku|vercel|wrangler", "", High, "changes remote systems"},
    {"ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|ftp|mail|sendmail", "", High, "communicates with another machine"},
    {"curl", "-d*|--data*|-F*|--form*|-T*|--upload*|--json*|-XPOST|-XPUT|-XDELETE|POST|PUT|DELETE", High,
     "sends data to another machine"},
    {"wget", "--post*|--method*|--body*", High, "sends data to another machine"},
    {"eval|source", "", High, "runs text as commands"},
    {"sh|bash|zsh|dash|ksh|fish|python*|perl|ruby|node|php", "-c|-e|-lc|-ic|-r|--eval", High, "runs text as a program"},
    {"find|fd", "-exec*|-ok*|-x|-X", High, "runs a command for each file"},
    {"xargs|parallel", "", High, "runs a command for each line"},
};

constexpr std::string_view kFetchers = "curl|wget|fetch|http|https|aria2c|nc|ncat|base64|xxd|openssl|uudecode";
constexpr std::string_view kInterpreters = "sh|bash|zsh|dash|ksh|fish|python*|perl|ruby|node|php|eval|source|iex";
constexpr std::string_view kWriters = "cp|mv|ln|install|tee|touch|mkdir|tar|unzip|patch|rsync|sed";
constexpr std::string_view kOnlyRead =
    "ls|pwd|cat|head|tail|wc|grep|egrep|fgrep|rg|which|whoami|id|date|uname|file|stat|du|df|echo|printf|tree|true|"
    "false|"
    "basename|dirname|realpath|readlink|cut|nl|cmp|diff|md5sum|sha256sum";

/// Is the word one of `a|b|c*`, or does it end as in `*c`?
bool is_one_of(std::string_view word, std::string_view choices) {
  while (true) {
    const auto end = choices.find('|');
    auto choice = choices.substr(0, end);
    if (choice.starts_with('*') ? word.ends_with(choice.substr(1))
        : choice.ends_with('*') ? word.starts_with(choice.substr(0, choice.size() - 1))
                                : word == choice)
      return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + 1);
  }
}

using Words = std::vector<std::string_view>;

Words split_words(std::string_view command) {
  Words words;
  while (!command.empty()) {
    const auto end = command.find(' ');
    if (end != 0) words.push_back(command.substr(0, end));
    command.remove_prefix(end == std::string_view::npos ? command.size() : end + 1);
  }
  return words;
}

/// `/bin/RM` → `rm`, `--delete` → `delete`.
std::string program_of(std::string_view word) {
  if (const auto slash = word.rfind('/'); slash != std::string_view::npos) word.remove_prefix(slash + 1);
  while (word.starts_with('-')) word.remove_prefix(1);
  std::string program{word};
  for (auto& c : program)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return program;
}

bool all_follow(std::string_view followed_by, std::span<const std::string_view> words) {
  while (!followed_by.empty()) {
    const auto end = followed_by.find(' ');
    const auto choices = followed_by.substr(0, end);
    const auto found = std::ranges::find_if(words, [&](auto word) { return is_one_of(word, choices); });
    if (found == words.end()) return false;
    words = words.subspan(static_cast<std::size_t>(found - words.begin()) + 1);
    followed_by.remove_prefix(end == std::string_view::npos ? followed_by.size() : end + 1);
  }
  return true;
}

class RiskAssessor {
 public:
  explicit RiskAssessor(const ParsedRequest& parsed) : parsed_{parsed} {}

  Assessment assess_command() {
    const bool only_reads = parsed_.simple && is_one_of(parsed_.simple->words.front(), kOnlyRead);
    found_ = {only_reads ? Low : Medium, ""};
    secrets();
    if (only_reads) return found_;
    bool fetches = false, interprets = false;
    for (const auto& command : parsed_.commands) {
      const auto words = split_words(command);
      for (std::size_t at = 0; at < words.size() && examined_ < kMaxWords; ++at, ++examined_) {
        const auto program = program_of(words[at]);
        const auto rest = std::span{words}.subspan(at + 1, std::min(words.size() - at - 1, kMaxWordsAfter));
        for (const auto& sign : kSigns)
          if (sign.risk > found_.risk && is_one_of(program, sign.program) && all_follow(sign.followed_by, rest))
            raise(sign.risk, format("{}: {}", printable_name(program), sign.reason));
        fetches = fetches || is_one_of(program, kFetchers);
        interprets = interprets || is_one_of(program, kInterpreters);
        if (is_one_of(program, kWriters) && std::ranges::any_of(rest, [&](auto word) { return is_elsewhere(word); }))
          raise(High, "writes outside the working directory");
      }
    }
    if (fetches && interprets) raise(Critical, "runs downloaded or decoded text");
    redirections();
    return found_;
  }

  Assessment assess_change() {
    found_ = {Medium, ""};
    const auto& path = parsed_.request.file_path;
    if (!path) return found_;
    if (!is_inside(normalize_path(*path, parsed_.request.directory), parsed_.request.directory))
      raise(High, "writes outside the working directory");
    secrets();
    if (is_autorun_path(*path, parsed_.request.directory)) raise(Critical, "changes a file that runs later as you");
    return found_;
  }

  Assessment assess_other(RiskLevel initial) {
    found_ = {initial, ""};
    secrets();
    return found_;
  }

 private:
  static constexpr std::size_t kMaxWords = 4'096;  // of all commands together
  static constexpr std::size_t kMaxRedirections = 256;
  static constexpr std::size_t kMaxWordsAfter = 64;  // after a program, where its options are searched

  void raise(RiskLevel risk, std::string reason) {
    if (risk > found_.risk) found_ = {risk, std::move(reason)};
  }

  void secrets() {
    static const auto kSecrets = Pattern::of_files(secret_globs(), Matching::Loose).value();
    for (const auto& piece : parsed_.pieces)
      if (matches_path(kSecrets, piece, parsed_.request.directory))
        return raise(High, format("{} may hold a secret", printable_name(piece)));
  }

  bool is_elsewhere(std::string_view word) const {
    const bool path = word.starts_with('/') || word.starts_with('~') || word.starts_with("..");
    return path && !is_inside(normalize_path(word, parsed_.request.directory), parsed_.request.directory);
  }

  void redirections() {
    std::string_view rest = *parsed_.request.command;
    std::size_t examined = 0;
    for (auto at = rest.find('>'); at != std::string_view::npos && examined < kMaxRedirections; at = rest.find('>')) {
      ++examined;
      rest.remove_prefix(at + 1);
      const auto start = rest.find_first_not_of("> |'\"");
      if (start == std::string_view::npos) return;
      const auto target = rest.substr(start, rest.find_first_of(" '\";&|<>()\n", start) - start);
      if (is_one_of(target, "/dev/null|/dev/stdout|/dev/stderr|/dev/tty")) continue;
      if (target.starts_with("/dev/"))
        raise(Critical, "writes to a device");
      else if (is_elsewhere(target))
        raise(High, "writes outside the working directory");
      else if (is_autorun_path(target, parsed_.request.directory))
        raise(Critical, "changes a file that runs later as you");
    }
  }

  const ParsedRequest& parsed_;
  Assessment found_;
  std::size_t examined_ = 0;
};

}  // namespace

Assessment assess(const ParsedRequest& parsed) {
  RiskAssessor assessor{parsed};
  if (parsed.tool == tool::kEdit || parsed.tool == tool::kWrite) return assessor.assess_change();
  if (parsed.runs) return assessor.assess_command();
  const bool reads = is_one_of(parsed.tool, "read|list|glob|grep");
  return assessor.assess_other(reads ? Low : Medium);
}

}  // namespace relay::permissions
