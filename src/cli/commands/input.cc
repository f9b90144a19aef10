/// `agent-relay input NAME (TEXT | --key KEYS)`
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/host_connection.h"
#include "terminal/keys.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kTypingTimeout{15};  // the response comes when the text is submitted

json::array words_of(std::string_view text) {
  json::array words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(std::string{text.substr(0, end)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto keys = invocation.value("--key").value_or("");
  const auto text = invocation.rest(1);
  if (keys.empty() == text.empty())
    return report_error("input needs either text or --key, for example: agent-relay input Bob --key Escape",
                        ExitCode::Usage);
  const auto words = words_of(keys);
  for (const auto& word : words)
    if (const auto name = std::string_view{word.as_string()}; !terminal::parse_key(name))
      return report_error(relay::format("unknown key {}; keys are {}", name, terminal::key_names()), ExitCode::Usage);
  const auto record = RELAY_CLI_TRY(find_host(context, invocation.argument(0), {.done = "typed into"}));
  auto host = RELAY_CLI_TRY(HostConnection::open(record));
  json::object request = {{"method", "input"}};
  if (keys.empty())
    request["text"] = text;
  else
    request["keys"] = words;
  (void)RELAY_CLI_TRY(host.request(std::move(request), kTypingTimeout));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents},
    {.name = "[TEXT]",
     .arity = Arity::Any,
     .description = "text to paste and submit, as if you had typed it",
     .is_text = true},
};
constexpr Option kOptions[] = {
    {.name = "--key",
     .value = "KEYS",
     .description = "press keys instead: Escape, Enter, Up, y, C-c; separate several by spaces"},
};

}  // namespace

const Command kInput = {
    .name = "input",
    .group = Group::Agents,
    .usage = "input NAME (TEXT | --key KEYS)",
    .summary = "type into an agent's terminal",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay input Bob --key Escape",
    .details =
        "Works like the agent's own keyboard: there is no message and no delivery history. Text is refused while the\n"
        "agent works, while a dialog is open, because Enter would answer it, and while the composer holds a draft;\n"
        "keys are always pressed.",
    .run = run,
};

}  // namespace relay::cli
