/// A home and a project of a test's own, and the real program running there.
///
/// The program is the one in the build directory this test was built in. Whatever a test starts is ended with it: the
/// daemon is killed by its pid and both directories are removed. Nothing of the caller's environment reaches the
/// program but PATH.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace relay::cli_tests {

/// How a run ended and what it said.
struct Ran {
  int code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// A program that goes on beside the test.
class Background {
 public:
  Background(pid_t pid, std::string out_path, std::string err_path, int input)
      : pid_{pid}, out_path_{std::move(out_path)}, err_path_{std::move(err_path)}, input_{input} {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void type(const std::string& text) const;
  void end_input();
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// True once `text` stands in the output (or the talk on stderr), false when it does not come.
  [[nodiscard]] bool says(const std::string& text) const;
  [[nodiscard]] bool complains(const std::string& text) const;
  void signal(int number) const;
  /// Waits for its end.
  Ran finish();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  std::string out_path_, err_path_;
  int input_;
};

/// Beside the build's own tests/cli directory: <build>/agent-relay.
std::string program();

class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// `agent-relay WORDS` in the project, with `input` on stdin.
  Ran run(const std::vector<std::string>& words, const std::string& input = "");
  std::unique_ptr<Background> start(const std::vector<std::string>& words);
  /// With stdin, stdout and stderr at that terminal; the caller ends it.
  pid_t start_at(const std::vector<std::string>& words, const std::string& terminal);
  /// The same for another program, named by its path.
  pid_t start_program_at(const std::vector<std::string>& command, const std::string& terminal);
  /// Runs and expects exit code 0.
  std::string ok(const std::vector<std::string>& words, const std::string& input = "");
  /// The same with `--json`, parsed.
  json::object ok_json(std::vector<std::string> words);

  [[nodiscard]] const std::string& home() const { return home_; }
  /// What shows the daemon that a program is one of its own; empty before it has run.
  [[nodiscard]] std::string system_token() const;
  [[nodiscard]] const std::string& project() const { return project_; }
  void use_home(std::string home) { home_ = std::move(home); }
  /// Another directory with a marker; later runs happen there.
  void enter_project(const std::string& name);
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }
  /// Later runs happen as this user, who gets the sandbox, and in this directory, which is left as it is.
  void become(uid_t user, const std::string& directory);

  [[nodiscard]] pid_t daemon_pid() const;
  void kill_daemon() const;
  [[nodiscard]] std::string workspace_directory() const;

  std::string write(const std::string& path, const std::string& text) const;

 private:
  pid_t spawn(const std::vector<std::string>& words, int input, const std::string& out, const std::string& err) const;
  pid_t spawn_program(std::vector<std::string> command, int input, const std::string& out,
                      const std::string& err) const;

  std::string top_, home_, project_;
  std::string program_ = program();
  uid_t user_ = 0;  // 0: whoever runs the test
  std::map<std::string, std::string> variables_;
  int runs_ = 0;
};

/// False for a process that has ended, also while nobody has asked how.
bool is_running(pid_t pid);

/// Tries until it holds, for at most a few seconds.
bool eventually(const std::function<bool()>& holds);

}  // namespace relay::cli_tests
