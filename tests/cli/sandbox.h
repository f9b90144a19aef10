/// A temporary home and project for a test, in which it runs the real program.
///
/// The program is from the build directory of the test. The sandbox kills every process that the test started, the
/// daemon by its pid, and removes both directories. The program gets only PATH from the caller's environment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::cli_tests {

/// The exit code and the output of a run.
struct RunResult {
  int code = -1;  // 128 + signal after a signal
  std::string out;
  std::string err;
};

/// A program that runs beside the test.
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
  /// True once `text` is in stdout (or stderr), false on a timeout.
  [[nodiscard]] bool prints(const std::string& text) const;
  [[nodiscard]] bool prints_error(const std::string& text) const;
  void signal(int number) const;
  /// Waits for its exit.
  RunResult finish();
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
  RunResult run(const std::vector<std::string>& words, const std::string& input = "");
  std::unique_ptr<Background> start(const std::vector<std::string>& words);
  /// Starts it with that terminal as stdin, stdout and stderr; the caller stops it.
  pid_t start_at(const std::vector<std::string>& words, const std::string& terminal);
  /// The same for another program, named by its path.
  pid_t start_program_at(const std::vector<std::string>& command, const std::string& terminal);
  /// Runs and expects exit code 0.
  std::string ok(const std::vector<std::string>& words, const std::string& input = "");
  /// The same with `--json`, parsed.
  json::object ok_json(std::vector<std::string> words);
  /// Waits until the agent is listed as connected; false on a timeout.
  bool is_connected(const std::string& name);

  [[nodiscard]] const std::string& home() const { return home_; }
  /// The system token of the daemon; empty before its first run.
  [[nodiscard]] std::string system_token() const;
  [[nodiscard]] const std::string& project() const { return project_; }
  void use_home(std::string home) { home_ = std::move(home); }
  /// Creates another project directory; later runs start there.
  void enter_project(const std::string& name);
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }
  /// Runs later commands as this user, who becomes the owner of the sandbox, in this directory, which is not changed.
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
  uid_t user_ = 0;  // 0: the user of the test
  std::map<std::string, std::string> variables_;
  int runs_ = 0;
};

/// False for an exited process, even a zombie.
bool is_running(pid_t pid);

/// Polls until `holds` is true; false on a timeout.
bool eventually(const std::function<bool()>& holds);

/// The bytes of the file; empty when there is none.
std::string file_contents(const std::string& path);

/// The checks of that name in the report of `doctor`.
std::vector<json::object> doctor_checks(Sandbox& box, std::string_view name);

/// The objects in text with one JSON object per line, as `--json` prints lists; other lines are skipped.
std::vector<json::object> parse_json_lines(const std::string& text);

}  // namespace relay::cli_tests
