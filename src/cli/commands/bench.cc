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
    return report_error("--seconds is more than nothing and at most an hour", ExitCode::Usage);
  const auto number = [&](std::string_view option, std::int64_t most, std::size_t& value) -> Result<void> {
    value = static_cast<std::size_t>(RELAY_TRY(invocation.number(option, 1, most, static_cast<std::int64_t>(value))));
    return {};
  };
  RELAY_CLI_USAGE(number("--messages", kMaxBenchMessages, options.messages));
  RELAY_CLI_USAGE(number("--size", static_cast<std::int64_t>(kMaxBenchBytes), options.bytes));
  RELAY_CLI_USAGE(number("--window", static_cast<std::int64_t>(kMaxBenchWindow), options.window));
  const auto end = RELAY_CLI_TRY(run_bench(options, context));
  if (end.interrupted)
    return report_error("interrupted; agents and messages of the bench are removed", ExitCode::Failed);
  if (invocation.has("--json"))
    print(json_of(end.measured) + "\n");
  else
    print(text_of(end.measured, context.paint));
  print_notice("the workspace of the bench is removed");
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--seconds", .value = "TIME", .description = "how long each of the two parts lasts at most; default: 3"},
    {.name = "--messages", .value = "N", .description = "how many messages each part sends at most; default: 20000"},
    {.name = "--size", .value = "BYTES", .description = "of each message's text; default: 100"},
    {.name = "--window", .value = "N", .description = "how many are on their way in the second part; default: 64"},
    kJsonOption,
};

}  // namespace

const Command kBench = {
    .name = "bench",
    .group = Group::More,
    .usage = "bench",
    .summary = "how fast this daemon is, here and now",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay bench --seconds 5",
    .details =
        "Two agents join a workspace made for this, and one writes to the other: one message after the\n"
        "other, then many at once. In turns with that a raw forwarder is measured, a thread that copies the same\n"
        "texts from socket to socket: speed is a ratio. The workspace is removed afterwards, also after Ctrl-C.",
    .run = run,
};

}  // namespace relay::cli
