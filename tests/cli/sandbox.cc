#include "cli/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/unique_fd.h"
#include "config/paths.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTimeout{20};  // far longer than needed on a busy machine
constexpr std::chrono::milliseconds kPause{5};

int wait_for(pid_t pid) {
  const UniqueFd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  pollfd exited{process.get(), POLLIN, 0};
  if (::poll(&exited, 1, static_cast<int>(std::chrono::milliseconds{kTimeout}.count())) == 0) {
    ADD_FAILURE() << "process " << pid << " does not exit";
    ::kill(pid, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string program() {
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path() / "agent-relay").string();
}

bool is_running(pid_t pid) {
  // Not from /proc, which reports a process as dead while its threads still hold its sockets.
  const UniqueFd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  pollfd exited{process.get(), POLLIN, 0};
  return process && ::poll(&exited, 1, 0) == 0;
}

std::string file_contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<json::object> doctor_checks(Sandbox& box, std::string_view name) {
  std::vector<json::object> found;
  const auto ran = box.run({"doctor", "--json"});
  const auto report = parse_json_object(ran.out);
  EXPECT_TRUE(report.has_value()) << ran.out << ran.err;
  if (!report) return found;
  for (const auto& check : report->at("checks").as_array())
    if (string_member(check.as_object(), "check") == name) found.push_back(check.as_object());
  return found;
}

std::vector<json::object> parse_json_lines(const std::string& text) {
  std::vector<json::object> objects;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (auto object = parse_json_object(line)) objects.push_back(*std::move(object));
  return objects;
}

bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

Background::~Background() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  end_input();
}

void Background::type(const std::string& text) const {
  EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void Background::end_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

std::string Background::out() const { return file_contents(out_path_); }
std::string Background::err() const { return file_contents(err_path_); }
bool Background::prints(const std::string& text) const {
  return eventually([&] { return out().find(text) != std::string::npos; });
}
bool Background::prints_error(const std::string& text) const {
  return eventually([&] { return err().find(text) != std::string::npos; });
}
void Background::signal(int number) const { ::kill(pid_, number); }

RunResult Background::finish() {
  const int code = wait_for(std::exchange(pid_, -1));
  return {code, out(), err()};
}

Sandbox::Sandbox() {
  std::string pattern = "/tmp/relay-cli-XXXXXX";
  top_ = fs::canonical(::mkdtemp(pattern.data())).string();
  home_ = top_ + "/home";
  enter_project("project");
}

Sandbox::~Sandbox() {
  kill_daemon();
  fs::remove_all(top_);
}

std::string Sandbox::system_token() const {
  std::ifstream file{home_ + "/system.token"};
  std::string token;
  std::getline(file, token);
  return token;
}

void Sandbox::enter_project(const std::string& name) {
  project_ = top_ + "/" + name;
  fs::create_directories(project_ + "/.git");
}

void Sandbox::become(uid_t user, const std::string& directory) {
  user_ = user;
  project_ = directory;
  program_ = top_ + "/agent-relay";  // the build directory may be accessible to root only
  fs::copy_file(program(), program_);
  EXPECT_EQ(::chown(top_.c_str(), user, user), 0);
}

pid_t Sandbox::spawn(const std::vector<std::string>& words, int input, const std::string& out,
                     const std::string& err) const {
  std::vector<std::string> command = {program_};
  command.insert(command.end(), words.begin(), words.end());
  return spawn_program(std::move(command), input, out, err);
}

pid_t Sandbox::spawn_program(std::vector<std::string> command, int input, const std::string& out,
                             const std::string& err) const {
  std::map<std::string, std::string> variables = {
      {"AGENT_RELAY_HOME", home_}, {"HOME", top_}, {"TZ", "UTC"}, {"USER", "tester"}, {"PATH", std::getenv("PATH")}};
  for (const auto& [name, value] : variables_) variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (auto& word : command) argv.push_back(word.data());
  for (auto& entry : environment) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::chdir(project_.c_str()) != 0) ::_exit(126);
  const auto output = [&](const std::string& path) {  // empty for a terminal, which serves all three descriptors
    return path.empty() ? input : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  };
  if (out.empty()) {  // makes it the controlling terminal, so that Ctrl-C and resizes reach the program
    ::setsid();
    ::ioctl(input, TIOCSCTTY, 0);
  }
  ::dup2(input, STDIN_FILENO);
  ::dup2(output(out), STDOUT_FILENO);
  ::dup2(output(err), STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  if (user_ != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(user_) != 0 || ::setuid(user_) != 0)) ::_exit(125);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

RunResult Sandbox::run(const std::vector<std::string>& words, const std::string& input) {
  const auto base = top_ + "/run" + std::to_string(++runs_);
  const auto input_path = write(base + ".in", input);
  const int stdin_fd = ::open(input_path.c_str(), O_RDONLY | O_CLOEXEC);
  const pid_t child = spawn(words, stdin_fd, base + ".out", base + ".err");
  ::close(stdin_fd);
  const int code = wait_for(child);
  return {code, file_contents(base + ".out"), file_contents(base + ".err")};
}

std::unique_ptr<Background> Sandbox::start(const std::vector<std::string>& words) {
  const auto base = top_ + "/run" + std::to_string(++runs_);
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = spawn(words, ends[0], base + ".out", base + ".err");
  ::close(ends[0]);
  return std::make_unique<Background>(child, base + ".out", base + ".err", ends[1]);
}

pid_t Sandbox::start_at(const std::vector<std::string>& words, const std::string& terminal) {
  std::vector<std::string> command = {program_};
  command.insert(command.end(), words.begin(), words.end());
  return start_program_at(command, terminal);
}

pid_t Sandbox::start_program_at(const std::vector<std::string>& command, const std::string& terminal) {
  const int stdin_fd = ::open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_GE(stdin_fd, 0);
  const pid_t child = spawn_program(command, stdin_fd, "", "");
  ::close(stdin_fd);
  return child;
}

std::string Sandbox::ok(const std::vector<std::string>& words, const std::string& input) {
  const auto ran = run(words, input);
  EXPECT_EQ(ran.code, 0) << words.front() << ": " << ran.err;
  return ran.out;
}

json::object Sandbox::ok_json(std::vector<std::string> words) {
  words.emplace_back("--json");
  const auto out = ok(words);
  const auto parsed = parse_json_object(out);
  EXPECT_TRUE(parsed.has_value()) << words.front() << " printed no JSON object: " << out;
  return parsed.value_or(json::object{});
}

bool Sandbox::is_connected(const std::string& name) {
  return eventually([&] { return ("\n" + ok({"agents", "--names"})).contains("\n" + name + "\n"); });
}

pid_t Sandbox::daemon_pid() const {
  std::ifstream file{home_ + "/daemon.pid"};
  pid_t pid = 0;
  return file >> pid ? pid : 0;
}

void Sandbox::kill_daemon() const {
  const auto pid = daemon_pid();
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

std::string Sandbox::workspace_directory() const { return home_ + "/projects/" + config::project_id(project_); }

std::string Sandbox::write(const std::string& path, const std::string& text) const {
  fs::create_directories(fs::path{path}.parent_path());
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

}  // namespace relay::cli_tests
