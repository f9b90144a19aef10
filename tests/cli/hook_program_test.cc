// `agent-relay hook`: records the event, notifies the host and prints the response; no error stops the agent.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/unique_fd.h"
#include "cli/sandbox.h"
#include "net/unix_address.h"
#include "protocol/frame.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutMs = 20'000;

bool waits_for(int fd, short events) {
  pollfd watched{fd, events, 0};
  return ::poll(&watched, 1, kTimeoutMs) == 1;
}

std::string payload(std::string_view event, std::string_view more = "") {
  return relay::format(R"({{"session_id":"s-1","cwd":"/w","hook_event_name":"{}"{}}})", event, more);
}
const std::string kPermission =
    payload("PermissionRequest", R"(,"tool_name":"Bash","tool_input":{"command":"ls","env":"TOKEN=abcdefgh"})");

/// Runs the program as an agent does: with pipes and only the given variables.
class Hook {
 public:
  struct Options {
    std::string agent = "claude";
    std::vector<std::string> variables = {};
    bool disk_is_full = false;
  };

  explicit Hook(const Options& options) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
    std::vector<std::string> words = {program(), "hook", options.agent};
    auto variables = options.variables;
    std::vector<char*> argv, envp;
    for (auto& word : words) argv.push_back(word.data());
    for (auto& variable : variables) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      const rlimit nothing{0, 0};
      if (options.disk_is_full) ::setrlimit(RLIMIT_FSIZE, &nothing);
      ::execve(argv[0], argv.data(), envp.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_.reset(in[1]);
    out_.reset(out[0]);
  }
  ~Hook() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  void write_input(std::string_view text) {
    while (!text.empty()) {
      const auto count = ::write(in_.get(), text.data(), text.size());
      if (count <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    in_.reset();
  }
  void stop_reading() { out_.reset(); }
  void signal(int number) const { ::kill(pid_, number); }

  /// Its whole output; the exit code is in `code`.
  std::string finish() {
    std::string printed;
    std::array<char, 4096> buffer;
    while (out_ && waits_for(out_.get(), POLLIN)) {
      const auto count = ::read(out_.get(), buffer.data(), buffer.size());
      if (count <= 0) break;
      printed.append(buffer.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return printed;
  }

  int code = -1;

 private:
  pid_t pid_ = -1;
  UniqueFd in_, out_;
};

/// A host socket served by the test.
class HostSocketServer {
 public:
  explicit HostSocketServer(const std::string& path) : bound_{*net::bind_and_listen(path)} {}

  /// The request of the next client.
  json::object receive() {
    EXPECT_TRUE(waits_for(bound_.fd.get(), POLLIN)) << "no client connected";
    client_.reset(::accept4(bound_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    protocol::FrameReader reader;
    std::array<char, 65536> buffer;
    for (;;) {
      const auto frame = reader.next();
      if (frame && *frame) return parse_json_object(**frame).value();
      const auto count = waits_for(client_.get(), POLLIN) ? ::read(client_.get(), buffer.data(), buffer.size()) : 0;
      if (count <= 0) break;
      reader.push({buffer.data(), static_cast<std::size_t>(count)});
    }
    ADD_FAILURE() << "the client sent no request";
    return {};
  }
  void send(std::string_view body) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
    EXPECT_EQ(::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void respond(std::string_view answer) { send(relay::format(R"({{"method":"hook","ok":true,"answer":{}}})", answer)); }
  /// The client has disconnected.
  bool has_lost_client() {
    char byte = 0;
    return waits_for(client_.get(), POLLIN) && ::recv(client_.get(), &byte, 1, 0) == 0;
  }

 private:
  net::BoundSocket bound_;
  UniqueFd client_;
};

class HookProgram : public testing::Test {
 protected:
  [[nodiscard]] std::string home() const { return box_.project() + "/relay"; }
  [[nodiscard]] std::string socket_path() const { return box_.project() + "/host.sock"; }
  [[nodiscard]] std::vector<std::string> variables() const { return {"RELAY_HOME=" + home()}; }
  [[nodiscard]] Hook::Options with_host(std::string agent = "claude") const {
    return {
        .agent = std::move(agent),
        .variables = {"RELAY_HOME=" + home(), "AGENT_RELAY_HOST_SOCKET=" + socket_path(), "AGENT_RELAY_NAME=Alice"}};
  }
  [[nodiscard]] std::vector<json::object> recorded(const std::string& session = "s-1") const {
    return parse_json_lines(file_contents(home() + "/events/" + session + ".jsonl"));
  }
  /// Runs the hook and expects no output.
  void expect_no_output(const Hook::Options& options, std::string_view text) {
    Hook hook{options};
    hook.write_input(text);
    EXPECT_EQ(hook.finish(), "");
    EXPECT_EQ(hook.code, 0);
  }

  Sandbox box_;
};

TEST_F(HookProgram, RecordsEventWithoutHostOrDaemon) {
  expect_no_output({.variables = variables()}, kPermission);
  const auto events = recorded();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(string_member(events[0], "kind"), "permission");
  EXPECT_EQ(string_member(events[0], "agent"), "claude");
  EXPECT_EQ(json::serialize(events[0]).find("abcdefgh"), std::string::npos);
  EXPECT_FALSE(fs::exists(box_.home())) << "the hook does not use the home directory of the relay";
}

TEST_F(HookProgram, RecordsUnderHomeByDefault) {
  Hook hook{{.variables = {"HOME=" + box_.project()}}};
  hook.write_input(payload("Stop"));
  EXPECT_EQ(hook.finish(), "");
  EXPECT_TRUE(fs::exists(box_.project() + "/.relay/events/s-1.jsonl"));
}

TEST_F(HookProgram, PrintsResponseOfHost) {
  HostSocketServer host{socket_path()};
  Hook hook{with_host()};
  hook.write_input(payload("UserPromptSubmit", R"(,"prompt":"hello")"));
  const auto request = host.receive();
  EXPECT_EQ(string_member(request, "method"), "hook");
  const auto* event = object_member(request, "event");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(string_member(*event, "kind"), "prompt");
  EXPECT_EQ(string_member(*event, "prompt"), "hello");
  host.respond(R"({"context":"message from Bob"})");
  EXPECT_EQ(hook.finish(),
            R"({"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"message from Bob"}})");
  EXPECT_EQ(hook.code, 0);
  ASSERT_EQ(recorded().size(), 1u);
  EXPECT_EQ(string_member(recorded()[0], "name"), "Alice");
}

TEST_F(HookProgram, PrintsPermissionDecision) {
  for (const auto* agent : {"claude", "codex"}) {
    fs::remove(socket_path());
    HostSocketServer host{socket_path()};
    Hook hook{with_host(agent)};
    hook.write_input(kPermission);
    const auto request = host.receive();
    EXPECT_EQ(string_member(*object_member(request, "event"), "toolInput"),
              R"({"command":"ls","env":"TOKEN=abcdefgh"})");
    host.respond(R"({"decision":"deny","message":"not now"})");
    EXPECT_EQ(hook.finish(), R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",)"
                             R"("decision":{"behavior":"deny","message":"not now"}}})");
  }
}

TEST_F(HookProgram, IsSilentOnInvalidHostResponse) {
  for (const auto* response :
       {R"({"method":"hook","ok":false,"error":"what?"})", R"({"method":"hook","ok":true})",
        R"({"method":"hook","ok":true,"answer":{"decision":"maybe"}})", "{nonsense", "nonsense"}) {
    fs::remove(socket_path());
    HostSocketServer host{socket_path()};
    Hook hook{with_host()};
    hook.write_input(payload("SessionEnd"));
    host.receive();
    host.send(response);
    EXPECT_EQ(hook.finish(), "") << response;
    EXPECT_EQ(hook.code, 0) << response;
  }
}

TEST_F(HookProgram, TimesOutOnUnresponsiveHost) {
  HostSocketServer host{socket_path()};
  Hook hook{with_host()};
  hook.write_input(payload("SessionEnd"));
  host.receive();
  EXPECT_EQ(hook.finish(), "");
  EXPECT_EQ(hook.code, 0);
  EXPECT_EQ(recorded().size(), 1u);
}

TEST_F(HookProgram, WorksWithoutHost) {
  expect_no_output(with_host(), payload("Stop"));  // no such file
  { HostSocketServer closed{socket_path()}; }
  expect_no_output(with_host(), payload("Stop"));  // a socket without a listener
  EXPECT_EQ(recorded().size(), 2u);
}

TEST_F(HookProgram, ExitsWhenAgentStopsReading) {
  HostSocketServer host{socket_path()};
  Hook hook{with_host()};
  hook.write_input(kPermission);
  host.receive();
  hook.stop_reading();
  EXPECT_TRUE(host.has_lost_client());
  hook.finish();
  EXPECT_EQ(hook.code, 0);
}

TEST_F(HookProgram, ExitsOnSignal) {
  for (const int number : {SIGTERM, SIGHUP}) {
    fs::remove(socket_path());
    HostSocketServer host{socket_path()};
    Hook hook{with_host()};
    hook.write_input(kPermission);
    host.receive();
    hook.signal(number);
    EXPECT_TRUE(host.has_lost_client());
    EXPECT_EQ(hook.finish(), "");
  }
}

TEST_F(HookProgram, NeverFails) {
  const auto stop = payload("Stop");
  expect_no_output({}, stop);                                                // no HOME
  expect_no_output({.variables = {"HOME="}}, stop);                          //
  expect_no_output({.variables = {"RELAY_HOME=relative"}}, stop);            //
  expect_no_output({.variables = {"HOME=/nonexistent/home"}}, stop);         //
  expect_no_output({.variables = {"RELAY_HOME=/dev/null/x"}}, stop);         // not a directory
  expect_no_output({.variables = variables(), .disk_is_full = true}, stop);  //
  expect_no_output({.agent = "unknown", .variables = variables()}, stop);    // an agent of a later version
  expect_no_output({.variables = variables()}, "");                          //
  expect_no_output({.variables = variables()}, "not JSON");                  //
  expect_no_output({.variables = variables()}, R"({"session_id":"s-1"})");   // no event
  expect_no_output({.variables = variables()}, std::string(100'000, '['));   //
  expect_no_output({.variables = variables()}, std::string(17 << 20, ' '));  // more than is read
  EXPECT_TRUE(recorded().empty());
  expect_no_output({.variables = variables()}, payload("PhaseOfMoon"));
  EXPECT_EQ(recorded().size(), 1u);
}

TEST_F(HookProgram, NotifiesHostWhenDiskIsFull) {
  HostSocketServer host{socket_path()};
  auto options = with_host();
  options.disk_is_full = true;
  Hook hook{options};
  hook.write_input(payload("SessionStart"));
  host.receive();
  host.respond(R"({"context":"welcome"})");
  EXPECT_NE(hook.finish().find("welcome"), std::string::npos);
}

TEST_F(HookProgram, TruncatesLongEventForHost) {
  HostSocketServer host{socket_path()};
  Hook hook{with_host()};
  hook.write_input(payload("Stop", R"(,"last_assistant_message":")" + std::string(4 << 20, 'x') + "\""));
  const auto request = host.receive();
  EXPECT_LE(json::serialize(request).size(), 512u * 1024);
  EXPECT_TRUE(bool_member(*object_member(request, "event"), "textCut").value_or(false));
  host.respond("{}");
  hook.finish();
  EXPECT_EQ(hook.code, 0);
}

TEST_F(HookProgram, RunsConcurrently) {
  std::vector<std::unique_ptr<Hook>> hooks;
  for (int i = 0; i < 8; ++i) hooks.push_back(std::make_unique<Hook>(Hook::Options{.variables = variables()}));
  for (auto& hook : hooks) hook->write_input(payload("PostToolUse", R"(,"tool_name":"Bash","tool_response":"done")"));
  for (auto& hook : hooks) {
    EXPECT_EQ(hook->finish(), "");
    EXPECT_EQ(hook->code, 0);
  }
  EXPECT_EQ(recorded().size(), 8u);
}

TEST_F(HookProgram, HasHelp) {
  const auto help = box_.ok({"hook", "--help"});
  EXPECT_NE(help.find("example: agent-relay hook claude"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
