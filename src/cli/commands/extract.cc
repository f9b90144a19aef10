/// `agent-relay extract [FILE]`
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/render/extract_output.h"
#include "commands/extractor.h"
#include "profiles/cast_player.h"
#include "profiles/registry.h"

namespace relay::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMaxPrefixBytes = 32;
constexpr std::size_t kMaxCastLineBytes = 64 << 20;

/// The thinking form follows the relay form: `=>relay:` has `=>thinking:`.
Result<commands::GrammarOptions> options_of(const Invocation& invocation) {
  commands::GrammarOptions options;
  const auto prefix = invocation.value("--prefix");
  if (!prefix) return options;
  if (prefix->empty() || prefix->size() > kMaxPrefixBytes || prefix->find_first_of(" \t\r\n") != std::string::npos)
    return fail(relay::format("a prefix has 1 to {} characters without spaces, such as @relay:", kMaxPrefixBytes));
  constexpr std::string_view kRelay = "relay:";
  std::string thinking;
  if (prefix->ends_with(kRelay)) thinking = prefix->substr(0, prefix->size() - kRelay.size()) + "thinking:";
  options.prefixes = {{*prefix, std::move(thinking)}};
  return options;
}

Result<UniqueFd> open_input(const std::string& file) {
  if (file.empty() || file == "-") return UniqueFd{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
  UniqueFd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return fail_errno(relay::format("cannot open {}", file));
  return fd;
}

void print_all(const std::vector<commands::Command>& found, bool as_json) {
  for (const auto& command : found)
    print(as_json ? json::serialize(command_json(command)) + "\n" : command_line(command));
}

/// Calls `take` with what is read, until the end.
Result<void> read_all(int fd, const std::function<Result<void>(std::string_view)>& take) {
  std::array<char, kReadBytes> buffer;
  for (;;) {
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot read the input");
    if (count == 0) return {};
    RELAY_TRY(take({buffer.data(), static_cast<std::size_t>(count)}));
  }
}

void print_all(const std::vector<profiles::TimedObservation>& observations, bool as_json) {
  for (const auto& each : observations)
    print(as_json ? json::serialize(observation_json(each)) + "\n" : observation_line(each));
}

Result<void> play_cast(int fd, profiles::CastPlayer& player, bool as_json) {
  std::string pending;
  const auto take_lines = [&](std::string_view bytes) -> Result<void> {
    pending.append(bytes);
    if (pending.size() > kMaxCastLineBytes) return fail("a line of the recording is longer than 64 MB");
    std::size_t from = 0;
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', from)) {
      if (end > from) print_all(RELAY_TRY(player.take(std::string_view{pending}.substr(from, end - from))), as_json);
      from = end + 1;
    }
    pending.erase(0, from);
    return {};
  };
  RELAY_TRY(read_all(fd, take_lines));
  if (!pending.empty()) print_all(RELAY_TRY(player.take(pending)), as_json);
  print_all(player.finish(), as_json);
  return {};
}

ExitCode run(const Invocation& invocation, Context&) {
  const auto options = RELAY_CLI_USAGE(options_of(invocation));
  const auto profile = RELAY_CLI_USAGE(profiles::find_profile(invocation.value("--profile").value_or("claude")));
  if (invocation.has("--cast")) {
    const auto compiled = RELAY_CLI_TRY(profiles::CompiledProfile::open(profile));
    const auto cast = RELAY_CLI_TRY(open_input(invocation.argument(0)));
    profiles::CastPlayer player{compiled, options};
    RELAY_CLI_TRY(play_cast(cast.get(), player, invocation.has("--json")));
    return ExitCode::Ok;
  }
  commands::Extractor extractor{options};
  const auto fd = RELAY_CLI_TRY(open_input(invocation.argument(0)));
  const bool as_json = invocation.has("--json");
  RELAY_CLI_TRY(read_all(fd.get(), [&](std::string_view bytes) -> Result<void> {
    print_all(extractor.feed(bytes), as_json);
    return {};
  }));
  print_all(extractor.finish(), as_json);
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "FILE",
                                    .arity = Arity::Optional,
                                    .description = "the output of an agent; - or nothing reads stdin",
                                    .completes = CompletionKind::Files}};
constexpr Option kOptions[] = {
    {.name = "--text", .description = "the input is text or markdown, as the agent wrote it (the default)"},
    {.name = "--cast", .description = "the input is an asciinema recording of the agent's screen"},
    {.name = "--profile", .value = "NAME", .description = "the profile for that screen (default claude)"},
    {.name = "--prefix", .value = "P", .description = "only commands that start with P, such as @relay:"},
    {.name = "--json", .description = "print JSON, one object per line"}};

}  // namespace

const Command kExtract = {
    .name = "extract",
    .group = Group::Plumbing,
    .usage = "extract [FILE]",
    .summary = "print the relay commands in text",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay extract --json answer.md",
    .details = "Sends nothing. Reports errors in commands too. Commands in fenced code are examples and are ignored.",
    .run = run,
};

}  // namespace relay::cli
