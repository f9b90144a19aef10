/// A program in a pane of a separate tmux server, in a test, with a record of all its events.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "base/format.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "pty/child.h"
#include "pty/process_table.h"
#include "tmux/pane.h"
#include "tmux/subprocess.h"

namespace relay::tmux::testing {

inline pty::Command shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}, .environment = pty::inherited_environment(), .directory = {}};
}

/// A separate tmux server without user configuration; killed at the end.
class Server {
 public:
  Server() = default;
  ~Server() { run({"kill-server"}); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::vector<std::string> words() const { return {"-S", directory_.file("server"), "-f", "/dev/null"}; }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& rest) const {
    std::vector<std::string> all{"tmux"};
    for (const auto& word : words()) all.push_back(word);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  /// The output of a tmux command.
  [[nodiscard]] std::string query(const std::vector<std::string>& rest) const {
    auto program = pty::find_program({.argv = {"tmux"}, .environment = pty::inherited_environment(), .directory = {}});
    RELAY_ASSERT(program);
    auto process = Subprocess::start(*program, command(rest), pty::inherited_environment());
    RELAY_ASSERT(process);
    return process->read_all(64 * 1024, SystemClock{}.now().steady + net::testing::kDeadline).value_or("");
  }
  void run(const std::vector<std::string>& rest) const { static_cast<void>(query(rest)); }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }

 private:
  net::testing::TemporaryDirectory directory_;
};

class PaneRecorder final : public pty::ProgramListener {
 public:
  explicit PaneRecorder(pty::Command command, pty::WindowSize size = {}) {
    auto made = try_spawn(std::move(command), size);
    RELAY_ASSERT(made);
    pane = std::move(*made);
  }
  PaneRecorder() = default;

  Result<std::unique_ptr<Pane>> try_spawn(pty::Command command, pty::WindowSize size = {}) {
    return Pane::spawn(
        loop, std::move(command), size,
        {.name = "Alice", .shim_command = {TMUX_SHIM}, .server = server.words(), .directory = server.directory()},
        *this);
  }

  void on_output(std::string_view bytes) override {
    if (status) ++calls_after_exit;
    output_bytes += bytes.size();
    output.append(
        bytes.substr(0, std::min(bytes.size(), kMaxRecordedBytes - std::min(kMaxRecordedBytes, output.size()))));
    if (when_output) when_output(bytes);
  }
  void on_input_written(std::size_t) override {
    if (when_input_written) when_input_written();
  }
  void on_program_resized(pty::WindowSize size) override { sizes.push_back(size); }
  void on_exit(const pty::ExitStatus& ended) override {
    if (status) ++calls_after_exit;
    status = ended;
  }

  bool until(const std::function<bool()>& check) { return net::testing::run_until(loop, check); }
  bool wait_for(const std::string& text) {
    return until([&] { return output.contains(text); });
  }
  bool wait_exit() {
    return until([&] { return status.has_value(); });
  }
  /// Runs the loop for this time.
  void pass(Millis time) {
    bool later = false;
    const auto timer = loop.after(time, [&] { later = true; });
    RELAY_ASSERT(until([&] { return later; }));
  }
  /// The number behind `word` in the output, up to a full stop.
  pid_t number_after(const std::string& word) {
    RELAY_ASSERT(until([&] {
      const auto at = output.find(word);
      return at != std::string::npos && output.find('.', at) != std::string::npos;
    }));
    return std::stoi(output.substr(output.find(word) + word.size()));
  }
  [[nodiscard]] std::string sessions() const { return server.query({"list-sessions", "-F", "#{session_name}"}); }

  static constexpr std::size_t kMaxRecordedBytes = 16 * 1024 * 1024;

  net::AsioLoop loop;
  Server server;
  std::string output;  // at most kMaxRecordedBytes
  std::size_t output_bytes = 0;
  std::vector<pty::WindowSize> sizes;
  std::optional<pty::ExitStatus> status;
  int calls_after_exit = 0;
  std::function<void(std::string_view)> when_output;
  std::function<void()> when_input_written;
  std::unique_ptr<Pane> pane;
};

/// A user's tmux client, in its own terminal.
class TmuxUser final : public pty::ProgramListener {
 public:
  TmuxUser(PaneRecorder& recorder, const std::vector<std::string>& words, pty::WindowSize size) {
    auto environment = pty::inherited_environment();
    pty::set_variable(environment, "TERM", "xterm-256color");
    auto made = pty::Child::spawn(recorder.loop,
                                  {.argv = recorder.server.command(words), .environment = environment, .directory = {}},
                                  size, *this);
    RELAY_ASSERT(made);
    client = std::move(*made);
  }
  void on_output(std::string_view bytes) override { screen.append(bytes); }
  void on_input_written(std::size_t) override {}
  void on_exit(const pty::ExitStatus&) override { gone = true; }

  std::string screen;
  bool gone = false;
  std::unique_ptr<pty::Child> client;
};

inline bool is_gone(pid_t pid) {
  const auto found = pty::find_process(pid);
  return !found || found->ended;
}

}  // namespace relay::tmux::testing
