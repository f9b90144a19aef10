#include "fake_claude/hooks.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "base/format.h"

namespace relay::fake_claude {

HookCall& HookCall::operator=(HookCall&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  return *this;
}

HookCall::~HookCall() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

json::object HookCall::finish() {
  if (pid_ <= 0) return {};
  std::string all;
  std::array<char, 4096> block;
  for (ssize_t count = 1; count > 0;) {
    count = ::read(output_.get(), block.data(), block.size());
    if (count > 0) all.append(block.data(), static_cast<std::size_t>(count));
  }
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  const auto answer = parse_json_object(all);
  const auto* specific = answer ? object_member(*answer, "hookSpecificOutput") : nullptr;
  return specific == nullptr ? json::object{} : *specific;
}

Result<Hooks> Hooks::read(const std::string& path) {
  Hooks hooks;
  if (path.empty()) return hooks;
  std::ifstream file{path};
  hooks.settings_ = RELAY_TRY(parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}}));
  return hooks;
}

HookCall Hooks::call(std::string_view event, const json::object& payload) const {
  const auto* all = object_member(settings_, "hooks");
  const auto* groups = all == nullptr ? nullptr : array_member(*all, event);
  if (groups == nullptr || groups->empty()) return {};
  const auto& hook = groups->front().at("hooks").at(0).as_object();
  std::vector<std::string> arguments{string_member(hook, "command").value_or("")};
  for (const auto& word : *array_member(hook, "args")) arguments.emplace_back(word.as_string());
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return {};
  const UniqueFd in_read{in[0]}, in_write{in[1]}, out_write{out[1]};
  UniqueFd out_read{out[0]};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in_read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDOUT_FILENO);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {};
  const auto text = json::serialize(payload);
  [[maybe_unused]] const auto ignored = ::write(in_write.get(), text.data(), text.size());  // small: a pipe holds it
  return {pid, std::move(out_read)};
}

}  // namespace relay::fake_claude
