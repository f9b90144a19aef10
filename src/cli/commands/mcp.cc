/// `agent-relay mcp`
#include <signal.h>
#include <unistd.h>

#include "base/format.h"
#include "capture/capture_log.h"
#include "cli/agent/mcp_identity.h"
#include "cli/chat/line_input.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/version.h"
#include "cli/wire/names.h"
#include "mcp/line_output.h"
#include "mcp/relay_tools.h"
#include "mcp/server.h"
#include "net/signals.h"

namespace relay::cli {
namespace {

constexpr Millis kDrainTimeout{2'000};             // for open calls after the input ends
constexpr std::size_t kPauseBytes = 1 << 20;       // unread by the client: reading pauses
constexpr std::size_t kMaxUnreadBytes = 16 << 20;  // unread by the client: the server stops
static_assert(kMaxLineBytes == mcp::kMaxLineBytes);

/// Writes the event to the capture log. A client does not report its own session, so these events have a log file of
/// their own, with the name of the agent.
Result<std::string> record_event(const Context& context, const std::string& name, const mcp::LoggedEvent& event) {
  const auto home = RELAY_TRY(capture::home_directory(context.environment("RELAY_HOME"), context.environment("HOME")));
  auto log = RELAY_TRY(capture::CaptureLog::open(home));
  const auto session = relay::format("mcp-{}-{}", context.project.id, name);
  auto record = RELAY_TRY(
      capture::note({.session = session, .agent = "mcp", .working_directory = context.project.root, .name = name},
                    event.kind, event.text));
  if (!event.paths.empty()) record.data["paths"] = json::array(event.paths.begin(), event.paths.end());
  RELAY_TRY(log.append(record, context.now()));
  return session;
}

/// Runs stdin, stdout, the protocol machine and the tools on one loop.
class McpProgram final : public LineListener {
 public:
  McpProgram(const Context& context, Directory& shared, const std::string& name, mcp::Spawning spawning)
      : identity_{find_mcp_identity(context, name, loop_, network_)},
        tools_{loop_,
               *identity_->client,
               shared,
               {.project_root = context.project.root,
                .spawning = spawning,
                .log = [&context,
                        this](const mcp::LoggedEvent& event) { return record_event(context, identity_->name, event); },
                .on_taken = [this] { finish_if_done(); }}},
        server_{{.version = kVersion,
                 .instructions = mcp::instructions_for(identity_->name, spawning),
                 .tools = mcp::tools_for_clients(spawning),
                 .resources = mcp::resources_for_clients(),
                 .subscribable = {std::string{mcp::kInboxUri}}},
                tools_,
                [this](std::string line, mcp::OnWritten written) { write(std::move(line), std::move(written)); }},
        output_{loop_, STDOUT_FILENO, [this] { on_output_written(); }, [this] { finish(ExitCode::Ok); }} {
    tools_.serve(server_);
  }

  ExitCode run() {
    net::ignore_sigpipe();
    net::Signals signals{loop_, {SIGINT, SIGTERM, SIGHUP}, [this](int) { finish(ExitCode::Ok); }};
    identity_->client->start(tools_);
    input_ = std::make_unique<LineInput>(loop_, STDIN_FILENO, *this);
    loop_.run();
    input_.reset();
    return code_;
  }

 private:
  void on_line(std::string_view line) override { server_.on_line(line); }
  void on_line_too_long(std::string_view start, std::string_view end) override { server_.on_line_too_long(start, end); }
  void on_input_ended() override {
    input_ended_ = true;
    tools_.end_waits();
    server_.close();
    drain_timer_ = loop_.after(kDrainTimeout, [this] { finish(ExitCode::Ok); });
    finish_if_done();
  }

  void write(std::string line, mcp::OnWritten written) {
    output_.write(std::move(line), std::move(written));
    if (output_.pending_bytes() > kMaxUnreadBytes) {
      finish(report_error("the MCP client does not read its responses; the server stops", ExitCode::Failed));
    } else if (output_.pending_bytes() > kPauseBytes && input_) {
      input_->pause();
    }
    finish_if_done();
  }
  void on_output_written() {
    if (output_.pending_bytes() <= kPauseBytes && input_) input_->resume();
    finish_if_done();
  }

  void finish_if_done() {
    if (input_ended_ && server_.open() == 0 && tools_.taking() == 0 && output_.pending_bytes() == 0) finish(code_);
  }
  void finish(ExitCode code) {
    if (std::exchange(finishing_, true)) return;
    code_ = code;
    loop_.post([this] {
      input_.reset();
      if (identity_->session != nullptr) identity_->session->stop();  // pending frames are flushed
      loop_.post([this] { loop_.stop(); });
    });
  }

  net::AsioLoop loop_;
  net::UnixNetwork network_{loop_};
  std::unique_ptr<McpIdentity> identity_;
  mcp::RelayTools tools_;
  mcp::Server server_;
  mcp::LineOutput output_;
  std::unique_ptr<LineInput> input_;
  std::unique_ptr<net::Timer> drain_timer_;
  ExitCode code_ = ExitCode::Ok;
  bool input_ended_ = false;
  bool finishing_ = false;
};

ExitCode run(const Invocation& invocation, Context& context) {
  std::string name;
  if (invocation.has("--name")) name = RELAY_CLI_USAGE(sender_name(invocation, "--name", context));
  RELAY_CLI_TRY(config::make_private_directory(context.project.directory));
  const auto shared = RELAY_CLI_TRY(DiskDirectory::open(context.project.directory));
  const auto spawning = invocation.has("--allow-spawn") ? mcp::Spawning::Allowed : mcp::Spawning::Forbidden;
  return McpProgram{context, *shared, name, spawning}.run();
}

constexpr Option kOptions[] = {
    {.name = "--name",
     .value = "NAME",
     .description = "its name outside a hosted agent; default $AGENT_RELAY_NAME, else a generated, reused name"},
    {.name = "--allow-spawn", .description = "offer the tools that start and stop agents"},
};

}  // namespace

const Command kMcp = {
    .name = "mcp",
    .group = Group::Plumbing,
    .usage = "mcp",
    .summary = "serve MCP clients on stdin and stdout",
    .hint = "[--name]",
    .options = kOptions,
    .example = "claude mcp add relay -- agent-relay mcp",
    .details =
        "Started by an MCP client, not by hand. Inside an agent that runs under agent-relay it acts for that agent;\n"
        "elsewhere it joins as NAME, and messages sent while the daemon is down are spooled. Exits when its input\n"
        "ends. docs/mcp.md shows how to add it to each client.",
    .run = run,
};

}  // namespace relay::cli
