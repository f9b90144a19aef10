#include "cli/framework/global_options.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "cli/framework/command.h"

namespace relay::cli {
namespace {

constexpr std::string_view kDirectory = "-C", kNoStart = "--no-start";

}  // namespace

Result<GlobalOptions> take_global_options(std::vector<std::string>& words) {
  GlobalOptions options;
  auto at = words.begin();
  for (; at != words.end() && (*at == kDirectory || *at == kNoStart); ++at) {
    if (*at == kNoStart) {
      options.no_start = true;
      continue;
    }
    if (at + 1 == words.end()) return fail("-C needs a directory, for example: agent-relay -C ~/project status");
    options.directories.push_back(*++at);
  }
  words.erase(words.begin(), at);
  const auto* command = words.empty() ? nullptr : find_command(words.front());
  if (command == nullptr || command->takes_rest) return options;
  const auto options_end = std::ranges::find(words, "--");
  const auto new_end = std::remove(words.begin(), options_end, kNoStart);
  options.no_start = options.no_start || new_end != options_end;
  words.erase(new_end, options_end);
  return options;
}

Result<void> change_directory(const std::vector<std::string>& directories) {
  for (const auto& directory : directories)
    if (::chdir(directory.c_str()) != 0)
      return fail_errno(relay::format("cannot change to the directory {}", directory));
  if (!directories.empty()) ::unsetenv("AGENT_RELAY_PROJECT");
  return {};
}

}  // namespace relay::cli
