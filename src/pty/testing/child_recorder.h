/// A child in a test with a record of all its events.
#pragma once

#include <functional>
#include <optional>

#include "net/testing/loop_driver.h"
#include "pty/child.h"
#include "pty/process_table.h"

namespace relay::pty::testing {

inline Command shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}, .environment = inherited_environment(), .directory = {}};
}

class ChildRecorder final : public ProgramListener {
 public:
  explicit ChildRecorder(Command command, WindowSize size = {}) {
    auto spawned = Child::spawn(loop, std::move(command), size, *this);
    RELAY_ASSERT(spawned);
    child = std::move(*spawned);
  }

  void on_output(std::string_view bytes) override {
    if (status) ++calls_after_exit;
    output_bytes += bytes.size();
    output.append(
        bytes.substr(0, std::min(bytes.size(), kMaxRecordedBytes - std::min(kMaxRecordedBytes, output.size()))));
    if (when_output) when_output();
  }
  void on_input_written(std::size_t) override {
    if (when_input_written) when_input_written();
  }
  void on_exit(const ExitStatus& ended) override {
    if (status) ++calls_after_exit;
    status = ended;
  }

  bool wait_for(const std::string& text) {
    return net::testing::run_until(loop, [&] { return output.contains(text); });
  }
  bool wait_exit() {
    return net::testing::run_until(loop, [&] { return status.has_value(); });
  }
  /// The number behind `word` in the output.
  pid_t number_after(const std::string& word) {
    RELAY_ASSERT(wait_for(word) && net::testing::run_until(
                                       loop, [&] { return output.find('.', output.find(word)) != std::string::npos; }));
    return std::stoi(output.substr(output.find(word) + word.size()));
  }

  static constexpr std::size_t kMaxRecordedBytes = 1024 * 1024;

  net::AsioLoop loop;
  std::string output;  // at most kMaxRecordedBytes
  std::size_t output_bytes = 0;
  std::optional<ExitStatus> status;
  int calls_after_exit = 0;
  std::function<void()> when_output;
  std::function<void()> when_input_written;
  std::unique_ptr<Child> child;
};

/// True also for a zombie.
inline bool is_gone(pid_t pid) {
  const auto found = find_process(pid);
  return !found || found->ended;
}

}  // namespace relay::pty::testing
