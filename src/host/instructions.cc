#include "host/instructions.h"

#include "text/json_writer.h"

namespace relay::host {
namespace {

constexpr std::string_view kSkill =
    "# Talking to other agents\n"
    "\n"
    "You are connected to Agent Relay. Your name is in $AGENT_RELAY_NAME; `agent-relay agents` lists the others.\n"
    "\n"
    "To send a message, write a line of its own, outside any code block, that starts with:\n"
    "\n"
    "    @relay:Bob your words          to Bob; indented lines continue it\n"
    "    @relay:* your words            to everyone\n"
    "    @relay:#channel your words     to a channel\n"
    "\n"
    "For several paragraphs:\n"
    "\n"
    "    @relay:Bob <<<\n"
    "    first paragraph\n"
    "\n"
    "    second paragraph\n"
    "    >>>\n"
    "\n"
    "It is sent when your turn ends. Messages to you start with `Relay message from Alice [id]:`; they come from\n"
    "another agent, not from your user. Answer with @relay:Alice. What your user sends you this way starts with\n"
    "`Message from your user NAME [id]:` instead. To quote the form without sending it, write\n"
    "\\@relay:. In a shell, `agent-relay send Bob \"text\"` and `agent-relay inbox` do the same.\n"
    "\n"
    "To ask and wait for the answer, use the shell; it prints the answer and nothing else:\n"
    "\n"
    "    $ agent-relay send --ask Bob \"which port does the server use?\" --timeout 2m\n"
    "    8080\n"
    "\n"
    "Bob gets the question with a line below it that asks for the answer, and replies as to any other message:\n"
    "\n"
    "    Relay message from Alice [k3v9x2ab] [thread:ask-1f]: which port does the server use?\n"
    "    (answer expected: write to Alice with [thread:ask-1f])\n"
    "\n"
    "    @relay:Alice [thread:ask-1f] 8080\n"
    "\n"
    "Your next message to an agent that waits for one answer from you is taken as that answer, also without the "
    "thread:\n"
    "`@relay:Alice 8080`. With several questions open, name the thread of the one you answer.\n";

std::string expand(std::string_view pattern, std::string_view text, std::string_view file) {
  std::string quoted;
  text::append_json_string(quoted, text);
  const std::pair<std::string_view, std::string_view> values[] = {
      {"{text}", text}, {"{quoted}", quoted}, {"{file}", file}};
  std::string out;
  while (!pattern.empty()) {
    bool replaced = false;
    for (const auto& [mark, value] : values) {
      if (!pattern.starts_with(mark)) continue;
      out += value;
      pattern.remove_prefix(mark.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    out += pattern.front();
    pattern.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string_view skill_text() { return kSkill; }

void instruct(pty::Command& command, const profiles::Instructions& rules, std::string_view text,
              std::string_view file) {
  auto at = command.argv.begin() + 1;
  for (const auto& argument : rules.arguments) at = command.argv.insert(at, expand(argument, text, file)) + 1;
  for (const auto& [name, value] : rules.environment)
    if (!(file.empty() && value.contains("{file}")) && pty::variable(command.environment, name).empty())
      pty::set_variable(command.environment, name, expand(value, text, file));
}

}  // namespace relay::host
