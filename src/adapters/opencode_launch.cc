#include "adapters/opencode_launch.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"

namespace relay::adapters {
namespace {

constexpr std::string_view kHost = "127.0.0.1";
constexpr std::string_view kPasswordVariable = "OPENCODE_SERVER_PASSWORD";
constexpr std::string_view kUserVariable = "OPENCODE_SERVER_USERNAME";
constexpr std::size_t kPasswordBytes = 24;

/// Everything but the program in the terminal, whose only word of its own is a directory.
constexpr std::array<std::string_view, 23> kOtherCommands = {
    "completion", "acp",     "mcp",       "attach",  "run",    "debug",  "providers", "auth",
    "agent",      "upgrade", "uninstall", "serve",   "web",    "models", "stats",     "export",
    "import",     "github",  "pr",        "session", "plugin", "plug",   "db"};
constexpr std::array<std::string_view, 12> kWithValue = {
    "--port", "--hostname", "--mdns-domain", "--cors",   "-m",          "--model",
    "-s",     "--session",  "--agent",       "--prompt", "--log-level", "--replay-limit"};

bool has(const auto& list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

struct Given {
  OpenCodeLaunch launch;
  std::string port, host;
};

/// What the arguments say, or why there is nothing to open.
Result<Given> read(const std::vector<std::string>& argv) {
  Given given;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    std::string_view word = argv[i];
    if (!word.starts_with('-')) {
      if (has(kOtherCommands, word)) return fail(format("`opencode {}` has no server of its own to talk to", word));
      continue;
    }
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    std::string value;
    if (equals != std::string_view::npos)
      value = word.substr(equals + 1);
    else if (has(kWithValue, name) && i + 1 < argv.size())
      value = argv[++i];
    if (name == "-h" || name == "--help" || name == "-v" || name == "--version")
      return fail(format("`opencode {}` only prints something", name));
    if (name == "--mdns") return fail("`--mdns` makes OpenCode's server a public one, which we leave alone");
    if (name == "--port") given.port = value;
    if (name == "--hostname") given.host = value;
    if (name == "-s" || name == "--session") given.launch.session = value;
    if (name == "-c" || name == "--continue") given.launch.continues = true;
    if (name == "--agent") given.launch.agent = value;
    if (name == "-m" || name == "--model") given.launch.model = value;
    if (name == "--fork") given.launch.session.clear(), given.launch.continues = false;
  }
  return given;
}

}  // namespace

Result<OpenCodeLaunch> open_server(pty::Command& command, Random& random) {
  const std::string program = command.argv.empty() ? std::string{} : command.argv.front();
  const auto name = program.substr(program.rfind('/') + 1);
  if (!name.starts_with("opencode")) return fail(format("`{}` may not pass options on to OpenCode", name));
  auto [launch, port, host] = RELAY_TRY(read(command.argv));

  std::vector<std::string> added;
  if (!host.empty() && host != kHost && host != "localhost" && host != "0.0.0.0")
    return fail(format("OpenCode's server is told to listen at {}, not at {}", host, kHost));
  if (port.empty()) {
    launch.place.port = RELAY_TRY(net::free_loopback_port());
    added = {"--port", format("{}", launch.place.port)};
    if (host.empty()) added.insert(added.end(), {"--hostname", std::string{kHost}});
  } else {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), launch.place.port);
    if (error != std::errc{} || end != port.data() + port.size() || launch.place.port == 0)
      return fail(format("`--port {}` does not tell where OpenCode's server will be", port));
  }

  launch.place.user = pty::variable(command.environment, kUserVariable);
  if (launch.place.user.empty()) launch.place.user = "opencode";
  launch.place.password = pty::variable(command.environment, kPasswordVariable);
  if (launch.place.password.empty() && port.empty()) {  // whoever chose the port has clients that know of no password
    launch.place.password = random.hex(kPasswordBytes);
    pty::set_variable(command.environment, kPasswordVariable, launch.place.password);
  }
  command.argv.insert(command.argv.begin() + 1, added.begin(), added.end());
  return std::move(launch);
}

}  // namespace relay::adapters
