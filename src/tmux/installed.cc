#include "tmux/installed.h"

#include "base/format.h"
#include "pty/command.h"
#include "tmux/subprocess.h"

namespace relay::tmux {
namespace {

constexpr std::size_t kMaxVersionBytes = 1024;

}  // namespace

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::NotInstalled: return "tmux is not installed";
    case Errc::TooOld: return "tmux is too old";
    case Errc::SessionExists: return "the tmux session already exists";
  }
  return "unknown";
}

Result<std::string> find_tmux(const std::vector<std::string>& environment, SteadyTime deadline) {
  auto program = pty::find_program({.argv = {"tmux"}, .environment = environment, .directory = {}});
  if (!program)
    return fail(Errc::NotInstalled,
                "tmux is not installed or not on the PATH; install the package tmux or run without --tmux");
  auto process = RELAY_TRY(Subprocess::start(*program, {"tmux", "-V"}, environment));
  auto line = RELAY_TRY(process.read_all(kMaxVersionBytes, deadline));
  while (line.ends_with('\n')) line.pop_back();
  const auto version = parse_version(line);
  if (!version) return fail(Errc::NotInstalled, format("{} is not tmux: its version output is \"{}\"", *program, line));
  if (*version < kOldestVersion)
    return fail(Errc::TooOld, format("{} is {}, and {}.{} is needed; install a newer version or run without --tmux",
                                     *program, line, kOldestVersion.major, kOldestVersion.minor));
  return program;
}

}  // namespace relay::tmux
