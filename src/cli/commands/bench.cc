/// `agent-relay bench`
#include "cli/bench/client_pair.h"
#include "cli/bench/runner.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"

namespace relay::cli {
namespace {

constexpr Millis kMaxLength{3'600'000};
constexpr std::int64_t kMaxBenchMessages = 1'000'000;

ExitCode run(const Invocation& invocation, Context& context) {
  BenchOptions options;
  options.time = RELAY_CLI_USAGE(invocation.duration("--seconds", options.time));
  if (options.time <= Millis{0} || options.time > kMaxLength)
    return report_error("--seconds must be more than 0 and at most an hour", ExitCode::Usage);
  const auto number = [&](std::string_view option, std::int64_t most, std::size_t& value) -> Result<void> {
    value = static_cast<std::size_t>(RELAY_TRY(invocation.number(option, 1, most, static_cast<std::int64_t>(value))));
    return {};
  };
  RELAY_CLI_USAGE(number("--messages", kMaxBenchMessages, options.messages));
  RELAY_CLI_USAGE(number("--size", static_cast<std::int64_t>(kMaxBenchBytes), options.bytes));
  RELAY_CLI_USAGE(number("--window", static_cast<std::int64_t>(kMaxBenchWindow), options.window));
  const auto end = RELAY_CLI_TRY(run_bench(options, context));
  if (end.interrupted)
    return report_error("interrupted; the agents and messages of the benchmark are removed", ExitCode::Failed);
  if (invocation.has("--json"))
    print(json_of(end.measured) + "\n");
  else
    print(text_of(end.measured, context.paint));
  print_notice("removed the workspace of the benchmark");
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--seconds", .value = "TIME", .description = "limit of each of the two parts; default: 3"},
    {.name = "--messages", .value = "N", .description = "limit of messages in each part; default: 20000"},
    {.name = "--size", .value = "BYTES", .description = "size of each message's text; default: 100"},
    {.name = "--window", .value = "N", .description = "messages in flight in the second part; default: 64"},
    kJsonOption,
};

}  // namespace

const Command kBench = {
    .name = "bench",
    .group = Group::Plumbing,
    .usage = "bench",
    .summary = "measure the daemon on this machine",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay bench --seconds 5",
    .details =
        "Two agents join a workspace made for the benchmark, and one sends to the other: first one message at a time,\n"
        "then many at once. The benchmark alternates with a raw forwarder, a thread that copies the same text from\n"
        "socket to socket, so that speed is a ratio. The workspace is removed afterwards, even after Ctrl-C.",
    .run = run,
};

}  // namespace relay::cli
