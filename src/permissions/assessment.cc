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

/// A program with certain words after it. `a|b`: one of them; a blank: this and that; `*` at the end: what begins so.
struct Sign {
  std::string_view program;
  std::string_view then;
  RiskLevel risk;
  std::string_view reason;
};

constexpr std::string_view kLost = "destroys what cannot be brought back";
constexpr std::string_view kOthers = "other people will see it";
constexpr std::string_view kRights = "changes who may do what";
constexpr std::string_view kRunning = "stops or changes what is running";

constexpr Sign kSigns[] = {
    {"rm|rmdir|unlink|shred|delete|drop|truncate|srm", "", Critical, kLost},
    {"mkfs*|wipefs|fdisk|parted|sfdisk|blkdiscard", "", Critical, kLost},
    {"dd", "of=/dev/*", Critical, kLost},
    {"terraform|tofu|pulumi|cdk|vagrant", "destroy", Critical, kLost},
    {"helm", "uninstall", Critical, kLost},
    {"docker|podman", "rmi|prune|down", Critical, kLost},
    {"sudo|doas|su|pkexec|runuser", "", High, "runs with more rights than you have"},
    {"git", "push -f|--force*|--mirror|--prune|+*", High, "replaces what others have"},
    {"git", "reset --hard|--merge|--keep", High, kLost},
    {"git", "clean -*", High, kLost},
    {"git", "checkout -f|--force|--|.", High, kLost},
    {"git", "restore", High, kLost},
    {"git", "branch -D|-d|-f|-M", High, kLost},
    {"git", "filter-branch|filter-repo|gc|prune|reflog|update-ref", High, kLost},
    {"git", "-c|--exec-path*|--ext-diff|config|submodule", High, "can make git run other programs"},
    {"git", "push", High, kOthers},
    {"chmod", "-R|--recursive|*777|*+s|o+*|a+*", High, kRights},
    {"chown|chgrp|setfacl|chattr", "", High, kRights},
    {"passwd|useradd|userdel|usermod|visudo|groupadd", "", High, kRights},
    {"dd|mount|umount|losetup", "", High, "works on whole devices"},
    {"kill|killall|pkill|shutdown|reboot|halt|poweroff", "", High, kRunning},
    {"systemctl|service|launchctl", "", High, kRunning},
    {"iptables|nft|ufw|sysctl|modprobe|insmod", "", High, kRunning},
    {"crontab|at|batch", "", High, "runs something later"},
    {"npm|pnpm|yarn|bun|cargo|gem|twine|poetry|uv|hatch", "publish|unpublish|upload|push|yank|deprecate", High,
     kOthers},
    {"docker|podman", "push|login", High, kOthers},
    {"docker|podman", "run|exec|kill|stop", High, kRunning},
    {"gh|glab", "merge|close|create|edit|comment|release|secret|api", High, kOthers},
    {"kubectl|helm|oc|aws|gcloud|az|fly|heroku|vercel|wrangler", "", High, "changes things elsewhere"},
    {"ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|ftp|mail|sendmail", "", High, "talks to another machine"},
    {"curl", "-d*|--data*|-F*|--form*|-T*|--upload*|--json*|-XPOST|-XPUT|-XDELETE|POST|PUT|DELETE", High,
     "sends something to another machine"},
    {"wget", "--post*|--method*|--body*", High, "sends something to another machine"},
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

/// Whether the word is one of `a|b|c*`, or ends so with `*c`.
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

Words words_of(std::string_view command) {
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

bool all_follow(std::string_view then, std::span<const std::string_view> words) {
  while (!then.empty()) {
    const auto end = then.find(' ');
    const auto choices = then.substr(0, end);
    const auto found = std::ranges::find_if(words, [&](auto word) { return is_one_of(word, choices); });
    if (found == words.end()) return false;
    words = words.subspan(static_cast<std::size_t>(found - words.begin()) + 1);
    then.remove_prefix(end == std::string_view::npos ? then.size() : end + 1);
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
      const auto words = words_of(command);
      for (std::size_t at = 0; at < words.size() && looked_at_ < kMaxWords; ++at, ++looked_at_) {
        const auto program = program_of(words[at]);
        const auto rest = std::span{words}.subspan(at + 1, std::min(words.size() - at - 1, kMaxWordsAfter));
        for (const auto& sign : kSigns)
          if (sign.risk > found_.risk && is_one_of(program, sign.program) && all_follow(sign.then, rest))
            raise(sign.risk, format("{}: {}", printable_name(program), sign.reason));
        fetches = fetches || is_one_of(program, kFetchers);
        interprets = interprets || is_one_of(program, kInterpreters);
        if (is_one_of(program, kWriters) && std::ranges::any_of(rest, [&](auto word) { return is_elsewhere(word); }))
          raise(High, "writes outside the working directory");
      }
    }
    if (fetches && interprets) raise(Critical, "runs what comes from elsewhere");
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
    if (is_autorun_path(*path, parsed_.request.directory)) raise(Critical, "changes what runs later as you");
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
  static constexpr std::size_t kMaxWordsAfter = 64;  // a program, where its options are looked for

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
    std::size_t looked_at = 0;
    for (auto at = rest.find('>'); at != std::string_view::npos && looked_at < kMaxRedirections; at = rest.find('>')) {
      ++looked_at;
      rest.remove_prefix(at + 1);
      const auto begin = rest.find_first_not_of("> |'\"");
      if (begin == std::string_view::npos) return;
      const auto target = rest.substr(begin, rest.find_first_of(" '\";&|<>()\n", begin) - begin);
      if (is_one_of(target, "/dev/null|/dev/stdout|/dev/stderr|/dev/tty")) continue;
      if (target.starts_with("/dev/"))
        raise(Critical, "writes to a device");
      else if (is_elsewhere(target))
        raise(High, "writes outside the working directory");
      else if (is_autorun_path(target, parsed_.request.directory))
        raise(Critical, "changes what runs later as you");
    }
  }

  const ParsedRequest& parsed_;
  Assessment found_;
  std::size_t looked_at_ = 0;
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
