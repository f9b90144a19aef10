/// `agent-relay extract [FILE]`
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/extract_output.h"
#include "cli/failure.h"
#include "cli/invocation.h"
#include "speech/extractor.h"

namespace relay::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMaxPrefixBytes = 32;

/// The thinking form goes with the relay form: `=>relay:` has `=>thinking:`.
Result<speech::GrammarOptions> options_of(const Invocation& invocation) {
  speech::GrammarOptions options;
  const auto prefix = invocation.value("--prefix");
  if (!prefix) return options;
  if (prefix->empty() || prefix->size() > kMaxPrefixBytes || prefix->find_first_of(" \t\r\n") != std::string::npos)
    return fail(relay::format("a prefix is 1 to {} characters without blanks, like @relay:", kMaxPrefixBytes));
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

void print_all(const std::vector<speech::Utterance>& heard, bool as_json) {
  for (const auto& utterance : heard)
    print(as_json ? json::serialize(utterance_json(utterance)) + "\n" : utterance_line(utterance));
}

ExitCode run(const Invocation& invocation, Context&) {
  speech::Extractor extractor{RELAY_CLI_USAGE(options_of(invocation))};
  const auto fd = RELAY_CLI_TRY(open_input(invocation.argument(0)));
  const bool as_json = invocation.has("--json");
  std::array<char, kReadBytes> buffer;
  for (;;) {
    const auto count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return complain(Error::from_errno("cannot read the text"));
    if (count == 0) break;
    print_all(extractor.feed({buffer.data(), static_cast<std::size_t>(count)}), as_json);
  }
  print_all(extractor.finish(), as_json);
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {{.name = "FILE",
                                    .arity = Arity::Optional,
                                    .description = "what an agent wrote; - or nothing reads stdin",
                                    .completes = Completes::Files}};
constexpr Option kOptions[] = {
    {.name = "--text", .description = "the input is text or markdown, as the agent wrote it (the default)"},
    {.name = "--prefix", .value = "P", .description = "hear only commands that begin with P, like @relay:"},
    {.name = "--json", .description = "print JSON, one object per line"}};

}  // namespace

const Command kExtract = {
    .name = "extract",
    .group = Group::Plumbing,
    .usage = "extract [FILE]",
    .summary = "what a text says to the relay",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay extract --json answer.md",
    .details =
        "Nothing is sent. What is wrong with a command is said too. Commands in fenced code are examples and are not "
        "heard.",
    .run = run,
};

}  // namespace relay::cli
