/// Commands that the preset read-only approves, and deceptive ones that it must refuse.
#include <gtest/gtest.h>

#include <random>

#include "permissions/policy.h"
#include "permissions/policy_file.h"

namespace relay::permissions {
namespace {

Action read_only_action(std::string_view command) {
  static const Policy kPolicy{{}, kReadOnlyPreset};
  return kPolicy.decide({.tool = "Bash", .command = std::string{command}, .directory = "/w"}).action;
}

constexpr std::string_view kApproved[] = {
    "ls",
    "  ls  ",
    "ls -la",
    "ls -l src include",
    "ls *.cc",
    "ls src/*.h src/??.cc",
    "ls [abc].txt",
    "ls /usr/lib",
    "ls ~",
    "ls ..",
    "ls 'a b'",
    "ls \"a b\"",
    "ls 'a;b'",
    "ls \"a && b\"",
    "ls '$HOME'",
    "ls --color=never -R src",
    "'ls' -l",
    "l's' -l",
    "ls größe",
    "ls 日本語",
    "ls rm",
    "pwd",
    "pwd -P",
    "pwd -L",
    "git status",
    "git status -s",
    "git status -sb",
    "git status --short --branch",
    "git status --porcelain",
    "git status --porcelain=v2",
    "git status -uno",
    "git status --untracked-files=all",
    "git status src",
    "git status -- src/a.cc",
    "git --no-pager status",
    "git log",
    "git log --oneline",
    "git log --oneline -5",
    "git log -n 5",
    "git log -n5 --stat",
    "git log --max-count=10 --graph --all --decorate",
    "git log main..feature",
    "git log origin/main...HEAD",
    "git log HEAD~3",
    "git log HEAD^",
    "git log -p -- src/a.cc",
    "git log --follow src/a.cc",
    "git log --since=yesterday",
    "git log '--since=2 weeks ago'",
    "git log --since='2 weeks ago' --author=alice",
    "git log --grep='drop support'",
    "git log --format=%h",
    "git log --format='%h %an %s'",
    "git log --pretty=format:'%h - %s'",
    "git log --pretty=oneline",
    "git log --date=short",
    "git --no-pager log -1",
    "git log v1.2.3",
    "git log @",
    "git diff",
    "git diff --stat",
    "git diff --cached",
    "git diff --staged --name-only",
    "git diff HEAD",
    "git diff HEAD~1 HEAD",
    "git diff main...feature -- src",
    "git diff --name-status origin/main",
    "git diff -U10 src/a.cc",
    "git diff --unified=3",
    "git diff -w",
    "git diff --no-ext-diff --no-textconv",
    "git diff --diff-filter=AM",
    "git diff src/permissions/rule.cc",
    "git diff .github",
    "git diff .",
};

struct Trick {
  std::string_view name;
  std::string_view command;
};

constexpr Trick kTricks[] = {
    // another command behind, before or beside
    {"semicolon", "ls; rm -rf x"},
    {"semicolon without blanks", "ls;rm -rf x"},
    {"semicolon alone", "ls;"},
    {"and", "git status && rm -rf x"},
    {"and without blanks", "git status&&rm x"},
    {"or", "ls || rm x"},
    {"background", "ls & rm x"},
    {"background alone", "ls &"},
    {"pipe", "ls | sh"},
    {"pipe with errors", "ls |& sh"},
    {"pipe without blanks", "ls|sh"},
    {"line end", "ls\nrm x"},
    {"line end at the end", "ls\n"},
    {"carriage return", "ls\rrm x"},
    {"carriage return and line end", "ls\r\nrm x"},
    {"tab", "ls\t-l"},
    {"form feed", "ls\frm"},
    {"vertical tab", "ls\vrm"},
    {"nul", std::string_view{"ls\0rm x", 7}},
    {"semicolon after a closed quote", "ls 'a';rm x"},
    {"semicolon between quotes", "ls 'a';'rm' x"},
    {"quote that closes early", "ls 'a' ; rm 'b'"},
    {"mixed quotes that close early", "ls \"a'\" ; rm '\"'"},
    {"fish's escaped quote", "ls 'a\\' 'b; rm x'"},
    {"case separator", "ls ;; rm"},
    // substitutions
    {"command substitution", "ls $(rm x)"},
    {"command substitution in quotes", "ls \"$(rm x)\""},
    {"command substitution glued", "ls a$(rm x)b"},
    {"backticks", "ls `rm x`"},
    {"backticks in quotes", "ls \"`rm x`\""},
    {"variable", "ls $HOME"},
    {"variable in quotes", "ls \"$HOME\""},
    {"variable in braces", "ls ${HOME}"},
    {"variable that runs", "ls ${x:=$(rm y)}"},
    {"variable with a prompt", "ls ${x@P}"},
    {"arithmetic", "ls $((a[$(rm x)]))"},
    {"old arithmetic", "ls $[1]"},
    {"ANSI quotes", "ls $'\\x3b'"},
    {"translated quotes", "ls $\"x\""},
    {"process substitution in", "ls <(rm x)"},
    {"process substitution out", "ls >(rm x)"},
    {"zsh's process file", "ls =(rm x)"},
    {"zsh's path", "ls =rm"},
    {"command from a variable", "$SHELL -c ls"},
    {"brace expansion", "ls {a,b}"},
    {"brace command", "{ls,-l}"},
    {"group", "{ ls; }"},
    {"subshell", "(ls)"},
    {"subshell glued", "ls (x)"},
    {"zsh's glob that runs", "ls *(e:'rm x':)"},
    {"extended glob", "ls @(a|b)"},
    {"function", "ls() { rm x; }"},
    {"history", "ls !!"},
    {"history in double quotes", "ls \"!rm\""},
    {"history by name", "!rm"},
    {"quick substitution", "^ls^rm"},
    {"negation", "! ls"},
    // redirections
    {"to a file", "ls > x"},
    {"to a file glued", "ls>x"},
    {"append", "git log >> ~/.bashrc"},
    {"errors to a file", "ls 2>x"},
    {"both", "ls &>x"},
    {"clobber", "ls >|x"},
    {"from a file", "ls < x"},
    {"read and write", "ls <> x"},
    {"here document", "ls << E"},
    {"here text", "ls <<< x"},
    {"descriptor", "ls >&2"},
    {"old fish's errors", "ls ^x"},
    // characters that change how the line is parsed
    {"comment", "ls # all is well"},
    {"comment that hides", "git status #; rm x"},
    {"assignment", "A=b ls"},
    {"assignment of a pager", "GIT_PAGER=evil git log"},
    {"assignment of an external diff", "GIT_EXTERNAL_DIFF=evil git diff"},
    {"assignment of a path", "PATH=. ls"},
    {"assignment of a library", "LD_PRELOAD=./x.so ls"},
    {"appended assignment", "A+=b ls"},
    {"assignment to a field", "a[0]=b ls"},
    {"backslash", "l\\s"},
    {"backslash at the end", "ls \\"},
    {"continued line", "ls \\\n; rm x"},
    {"backslash in double quotes", "ls \"\\$(rm x)\""},
    {"backslash in single quotes", "ls '\\'"},
    {"open single quote", "ls 'x"},
    {"open double quote", "ls \"x"},
    {"open quote over a line", "ls 'x\n'"},
    {"pattern partly in quotes", "ls *'a b'"},
    {"nothing", ""},
    {"blanks", "   "},
    {"reserved word", "if ls"},
    {"time", "time ls"},
    {"eval", "eval ls"},
    {"eval of quoted text", "eval 'ls; rm x'"},
    {"exec", "exec ls"},
    {"source", "source ls"},
    {"dot", ". ls"},
    {"command", "command ls"},
    {"builtin", "builtin pwd"},
    {"zsh's precommand", "noglob ls"},
    {"coproc", "coproc ls"},
    {"test", "[[ -f x ]]"},
    // deceptive characters
    {"zero width space", "ls\xe2\x80\x8b x"},
    {"zero width joiner", "ls a\xe2\x80\x8d"},
    {"byte order mark", "\xef\xbb\xbfls"},
    {"right to left override", "ls \xe2\x80\xaetxt.sh"},
    {"isolate", "ls \xe2\x81\xa6x\xe2\x81\xa9"},
    {"Arabic mark", "ls \xd8\x9c"},
    {"space that does not break", "ls\xc2\xa0-l"},
    {"wide space", "ls\xe3\x80\x80-l"},
    {"line separator", "ls\xe2\x80\xa8rm x"},
    {"next line", "ls\xc2\x85rm x"},
    {"soft hyphen", "l\xc2\xads"},
    {"variation selector", "ls a\xef\xb8\x8f"},
    {"tag letters", "ls \xf3\xa0\x81\xa1"},
    {"private use", "ls \xee\x80\x80"},
    {"escape", "ls \x1b[2K"},
    {"backspace", "ls \x08"},
    {"delete", "ls \x7f"},
    {"C1 control", "ls \xc2\x9b"},
    {"broken UTF-8", "ls \xff"},
    {"overlong semicolon", "ls \xc0\xbb rm"},
    {"overlong in three bytes", "ls \xe0\x80\xbb rm"},
    {"surrogate", "ls \xed\xa0\x80"},
    {"cut UTF-8", "ls \xe2\x80"},
    {"a character that looks like l", "\xd3\x8fs"},
    {"wide semicolon is a word of another command", "lsx\xef\xbc\x9b"},
    // another program than it seems
    {"a path", "/bin/ls"},
    {"a path here", "./ls"},
    {"a path below", "bin/ls"},
    {"a longer name", "lsof"},
    {"a longer name with a dash", "ls-x"},
    {"two words in one", "'ls x'"},
    {"two words in one for git", "'git status'"},
    {"capitals", "LS"},
    {"sudo", "sudo ls"},
    {"env", "env ls"},
    {"env with a variable", "env A=b ls"},
    {"xargs", "xargs ls"},
    {"nohup", "nohup ls"},
    {"a shell", "sh -c ls"},
    {"bash with text", "bash -c 'ls; rm x'"},
    {"busybox", "busybox ls"},
    {"watch", "watch ls"},
    {"find", "find . -exec rm {} +"},
    {"find that deletes", "find . -delete"},
    {"pwd with more", "pwd x"},
    {"pwd with an option", "pwd --version"},
    // dangerous uses of git
    {"git alone", "git"},
    {"other command", "git push"},
    {"longer command", "git statusx"},
    {"command in quotes with an option", "git 'log --output=x'"},
    {"settings", "git -c core.pager=evil log"},
    {"settings for a fsmonitor", "git -c core.fsmonitor=evil status"},
    {"settings for an external diff", "git -c diff.external=evil diff"},
    {"settings by environment", "git --config-env=core.pager=X log"},
    {"other directory", "git -C /tmp/evil status"},
    {"other repository", "git --git-dir=/tmp/evil status"},
    {"other tree", "git --work-tree=/ status"},
    {"exec path", "git --exec-path=/tmp/evil status"},
    {"pager", "git -p log"},
    {"paginate", "git --paginate log"},
    {"namespace", "git --namespace=x log"},
    {"output", "git log --output=/etc/x"},
    {"output as two words", "git log --output /etc/x"},
    {"output shortened", "git log --outpu=x"},
    {"output of a diff", "git diff --output=f"},
    {"output with a range", "git diff HEAD --output=f"},
    {"output after paths", "git diff src --output=f"},
    {"output in quotes", "git diff '--output=f'"},
    {"output of patches", "git log -o x"},
    {"no index with output", "git diff --no-index --output=f a b"},
    {"no index", "git diff --no-index a b"},
    {"no index shortened", "git diff --no-ind a b"},
    {"no index by absolute paths", "git diff /dev/null /etc/passwd"},
    {"no index by one path", "git diff a /etc/passwd"},
    {"no index by parents", "git diff a ../../etc/passwd"},
    {"no index by parents inside", "git diff a src/../../x"},
    {"no index by the parent", "git diff a .."},
    {"no index by a home", "git diff a ~/x"},
    {"external diff", "git diff --ext-diff"},
    {"external diff in a log", "git log -p --ext-diff"},
    {"external diff shortened", "git log -p --ext"},
    {"text conversion", "git diff --textconv"},
    {"text conversion in a log", "git log -p --textconv"},
    {"signatures", "git log --show-signature"},
    {"signatures by format", "git log --format=%G?"},
    {"signatures by format in quotes", "git log --format='%h %GK'"},
    {"signatures by format with a modifier", "git log --format=%-G?"},
    {"signatures by format with a blank", "git log --format='% G?'"},
    {"signatures by pretty", "git log --pretty=format:%GS"},
    {"order file", "git diff -O/etc/passwd"},
    {"order file as two words", "git diff -O x"},
    {"open in pager", "git grep -O x"},
    {"open in pager long", "git grep --open-files-in-pager=evil x"},
    {"submodules", "git diff --submodule=diff"},
    {"standard input", "git log --stdin"},
    {"line log", "git log -L1,5:x"},
    {"verbose status", "git status -v"},
    {"paths from a file", "git status --pathspec-from-file=x"},
    {"unknown option", "git log --frobnicate"},
    {"pattern that may be an option", "git diff *"},
    {"pattern in a path", "git log -- src/*"},
    {"pattern in a format", "git log --format=*"},
    {"pattern in an author", "git log --author=[a]"},
    {"pathspec with magic", "git log ':(top)x'"},
    {"alias", "git lg"},
    {"help opens a browser", "git log --help"},
    {"remote helper", "git log ext::evil"},
    // secrets
    {"secret listed", "ls .env"},
    {"secret directory", "ls ~/.ssh"},
    {"secret in a log", "git log -p -- .env"},
    {"secret in a revision", "git diff HEAD:.env"},
    {"secret in capitals", "git diff .ENV"},
    {"secret in quotes", "git diff '.env'"},
    {"secret in parts", "git diff .e'nv'"},
    {"key", "git diff server.pem"},
    {"key below", "ls keys/id_rsa"},
    // other programs
    {"rm", "rm x"},
    {"cat", "cat x"},
    {"echo", "echo hi"},
    {"curl", "curl example.com"},
    {"npm", "npm test"},
    {"python", "python -c 'print(1)'"},
    {"make", "make"},
    {"cd", "cd x"},
    {"touch", "touch x"},
};

TEST(Approval, ApprovesReadOnlyCommands) {
  for (const auto command : kApproved) EXPECT_EQ(read_only_action(command), Action::Approve) << command;
}

TEST(Approval, RefusesDeceptiveCommands) {
  for (const auto& trick : kTricks)
    EXPECT_EQ(read_only_action(trick.command), Action::Ask) << trick.name << ": " << trick.command;
}

TEST(Approval, RefusesHarmlessCommandWithAdditions) {
  constexpr std::string_view kAttached[] = {";x",  "; x",  "&&x",  " && x", "||x", "|x",   " | x", "&",
                                            "\nx", "`x`",  "$(x)", "${x}",  "$x",  ">x",   " > x", "<x",
                                            "(x)", " {x}", " #x",  "\\",    " 'x", " \"x", "\x1b", "\xe2\x80\x8b"};
  for (const auto command : kApproved)
    for (const auto attached : kAttached) {
      const auto after = std::string{command} + std::string{attached};
      EXPECT_EQ(read_only_action(after), Action::Ask) << after;
      const auto before = std::string{attached} + std::string{command};
      EXPECT_EQ(read_only_action(before), Action::Ask) << before;
    }
}

TEST(Approval, RefusesSpecialCharactersOutsideQuotesForAnyRule) {
  const auto policy = parse_policy("[[permissions]]\ntool = '*'\ncommand = '(?s).*'\naction = 'approve'\n").value();
  const auto action_of = [&](const std::string& command) {
    return policy.decide({.tool = "bash", .command = command}).action;
  };
  ASSERT_EQ(action_of("rm -rf x"), Action::Approve) << "the rule approves simple commands";
  constexpr std::string_view kSigns = ";&|<>(){}$`\\!\n\r\t";
  constexpr std::string_view kParts[] = {"a",      "ls",      " ",  "  ", "-x", "'q'", "\"q\"",
                                         "'; rm'", "\"a b\"", "''", "*",  "=",  "ü"};
  constexpr unsigned kSeed = 20'261;
  std::mt19937 random{kSeed};  // the same in each run
  const auto pick = [&](std::size_t of) { return static_cast<std::size_t>(random() % of); };
  for (int round = 0; round < 1'000; ++round) {
    std::string command = "ls ";
    const auto parts = 1 + pick(6), sign_after = pick(parts);
    for (std::size_t part = 0; part < parts; ++part) {
      command += kParts[pick(std::size(kParts))];
      if (part == sign_after) command += kSigns[pick(kSigns.size())];
    }
    EXPECT_EQ(action_of(command), Action::Ask) << command << " (seed " << kSeed << ")";
  }
}

}  // namespace
}  // namespace relay::permissions
