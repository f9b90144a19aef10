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

/// The commands other than the program in the terminal, which accepts only a directory.
constexpr std::array<std::string_view, 23> kOtherCommands = {
    "completion", "acp",     "mcp",       "attach",  "run",    "debug",  "providers", "auth",
    "agent",      "upgrade", "uninstall", "serve",   "web",    "models", "stats",     "export",
    "import",     "github",  "pr",        "session", "plugin", "plug",   "db"};
constexpr std::array<std::string_view, 12> kOptionsWithValue = {
    "--port", "--hostname", "--mdns-domain", "--cors",   "-m",          "--model",
    "-s",     "--session",  "--agent",       "--prompt", "--log-level", "--replay-limit"};

bool has(const auto& list, std::string_view argument) {
  return std::find(list.begin(), list.end(), argument) != list.end();
}

struct Options {
  OpenCodeLaunch launch;
  std::string port, host;
};

/// An error when these arguments start no server.
Result<Options> read_options(const std::vector<std::string>& argv) {
  Options options;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with('-')) {
      if (has(kOtherCommands, argument)) return fail(format("`opencode {}` has no server", argument));
      continue;
    }
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    std::string value;
    if (equals != std::string_view::npos)
      value = argument.substr(equals + 1);
    else if (has(kOptionsWithValue, name) && i + 1 < argv.size())
      value = argv[++i];
    if (name == "-h" || name == "--help" || name == "-v" || name == "--version")
      return fail(format("`opencode {}` only prints and exits", name));
    if (name == "--mdns") return fail("`--mdns` makes OpenCode's server public, so it is not used");
    if (name == "--port") options.port = value;
    if (name == "--hostname") options.host = value;
    if (name == "-s" || name == "--session") options.launch.session = value;
    if (name == "-c" || name == "--continue") options.launch.continues = true;
    if (name == "--agent") options.launch.agent = value;
    if (name == "-m" || name == "--model") options.launch.model = value;
    if (name == "--fork") options.launch.session.clear(), options.launch.continues = false;
  }
  return options;
}

}  // namespace

Result<OpenCodeLaunch> configure_server(pty::Command& command, Random& random) {
  const std::string program = command.argv.empty() ? std::string{} : command.argv.front();
  const auto name = program.substr(program.rfind('/') + 1);
  if (!name.starts_with("opencode")) return fail(format("`{}` may not pass options on to OpenCode", name));
  auto [launch, port, host] = RELAY_TRY(read_options(command.argv));

  std::vector<std::string> added;
  if (!host.empty() && host != kHost && host != "localhost" && host != "0.0.0.0")
    return fail(format("OpenCode's server listens at {}, not at {}", host, kHost));
  if (port.empty()) {
    launch.endpoint.port = RELAY_TRY(net::free_loopback_port());
    added = {"--port", format("{}", launch.endpoint.port)};
    if (host.empty()) added.insert(added.end(), {"--hostname", std::string{kHost}});
  } else {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), launch.endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size() || launch.endpoint.port == 0)
      return fail(format("`--port {}` is not the port of OpenCode's server", port));
  }

  launch.endpoint.user = pty::variable(command.environment, kUserVariable);
  if (launch.endpoint.user.empty()) launch.endpoint.user = "opencode";
  launch.endpoint.password = pty::variable(command.environment, kPasswordVariable);
  if (launch.endpoint.password.empty() && port.empty()) {  // the user's own clients of a chosen port have no password
    launch.endpoint.password = random.hex(kPasswordBytes);
    pty::set_variable(command.environment, kPasswordVariable, launch.endpoint.password);
  }
  command.argv.insert(command.argv.begin() + 1, added.begin(), added.end());
  return std::move(launch);
}

}  // namespace relay::adapters
