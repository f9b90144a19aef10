/// A disk that is full or read-only, and unreadable or damaged files.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

/// Sends until the store refuses a message. Returns that response.
json::object fill(RawClient& sender) {
  const std::string text(30'000, 'x');
  for (int i = 0; i < 2'000; ++i) {
    sender.send("Bob", text, format("fill-{}", i));
    auto response = sender.receive();
    if (!response || type_of(*response) != "ACK") return response.value_or(json::object{});
  }
  ADD_FAILURE() << "the disk never became full";
  return {};
}

void expect_storage_nack(const json::object& response) {
  EXPECT_EQ(type_of(response), "NACK") << json::serialize(response);
  EXPECT_EQ(payload_string(response, "code"), "STORAGE") << json::serialize(response);
  EXPECT_FALSE(payload_string(response, "message").empty());
}

TEST(Disk, FileSizeLimitNacksSendersAndTheDaemonKeepsRunning) {
  DaemonProcess daemon;
  daemon.in_child = [] {
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  register_agent(daemon.socket(), "Bob");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  expect_storage_nack(fill(alice));
  alice.send_frame(envelope("STATUS", "s-1"));
  alice.receive_type("STATUS_RESPONSE");
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0) << daemon.log();
}

/// A file system of two megabytes; only root can mount it.
class TinyDisk {
 public:
  explicit TinyDisk(std::string path) : path_{std::move(path)} {
    fs::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
  }
  ~TinyDisk() {
    while (mounted_ && ::umount2(path_.c_str(), MNT_DETACH) == 0) {}  // also a mount on top
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  [[nodiscard]] bool is_mounted() const { return mounted_; }
  /// Like `mount -o remount,ro`, but open files stay writable.
  void cover_read_only() const {
    ::mount(path_.c_str(), path_.c_str(), nullptr, MS_BIND, nullptr);
    ::mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr);
  }
  void grow() const { ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"); }

 private:
  std::string path_;
  bool mounted_ = false;
};

/// Sends and retries after the time in each NACK, as a sender should.
bool is_accepted_after_retry(RawClient& sender) {
  for (int tries = 0; tries < 3; ++tries) {
    sender.send("Bob", "space again", "after-1");
    const auto response = sender.receive(std::chrono::seconds{10});
    if (!response || string_member(*response, "type") != "NACK")
      return response && string_member(*response, "type") == "ACK";
    const auto retry_ms = integer_member(*object_member(*response, "payload"), "retry_after_ms");
    if (!retry_ms) return false;
    EXPECT_FALSE(sender.receive(std::chrono::milliseconds{*retry_ms}));
  }
  return false;
}

TEST(Disk, FullDiskNacksSendersUntilThereIsSpace) {
  DaemonProcess daemon;
  const TinyDisk disk{daemon.path("tiny")};
  if (!disk.is_mounted()) GTEST_SKIP() << "only root can mount a small file system";
  daemon.environment["AGENT_RELAY_STORAGE_PATH"] = daemon.path("tiny");
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  register_agent(daemon.socket(), "Bob");
  RawClient healthy{daemon.socket()};
  healthy.hello("Healthy");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  expect_storage_nack(fill(alice));
  healthy.send_frame(envelope("STATUS", "s-1"));
  healthy.receive_type("STATUS_RESPONSE");
  const auto full = daemon.command({"status"});
  EXPECT_NE(full.output.find("the last write failed"), std::string::npos) << full.output;
  EXPECT_NE(full.output.find("free some space"), std::string::npos) << full.output;
  EXPECT_NE(daemon.command({"status", "--json"}).output.find("\"canWrite\":false"), std::string::npos);
  const auto doctor = daemon.command({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_NE(doctor.output.find("free at " + daemon.path("tiny")), std::string::npos) << doctor.output;

  disk.grow();
  EXPECT_TRUE(is_accepted_after_retry(alice));
  EXPECT_EQ(daemon.command({"status"}).output.find("the last write failed"), std::string::npos);
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0) << daemon.log();
}

TEST(Disk, StatusAndDoctorReportAReadOnlyDisk) {
  DaemonProcess daemon;
  const TinyDisk disk{daemon.path("tiny")};
  if (!disk.is_mounted()) GTEST_SKIP() << "only root can mount a small file system";
  daemon.environment["AGENT_RELAY_STORAGE_PATH"] = daemon.path("tiny");
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  disk.grow();
  disk.cover_read_only();
  const auto status = daemon.command({"status"});
  EXPECT_NE(status.output.find("is read-only"), std::string::npos) << status.output;
  const auto doctor = daemon.command({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_NE(doctor.output.find("is read-only"), std::string::npos) << doctor.output;
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0) << daemon.log();
}

TEST(Disk, UnwritableHomeIsNamedAtStart) {
  DaemonProcess daemon;
  if (::geteuid() == 0) {  // root can write everywhere, so use another user
    ::chmod(fs::path{daemon.home()}.parent_path().c_str(), 0755);
    ASSERT_EQ(::chown(daemon.home().c_str(), kNobody, kNobody), 0);
    daemon.in_child = [] {
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(125);
    };
  }
  ASSERT_EQ(::chmod(daemon.home().c_str(), 0500), 0);
  const std::string ready_line = daemon.start();
  const int code = daemon.wait().exit_code;
  if (code == 127) GTEST_SKIP() << "the program cannot be reached by another user here";
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(ready_line.starts_with("error: ")) << ready_line;
  EXPECT_NE(ready_line.find("daemon.lock"), std::string::npos) << ready_line;
  EXPECT_NE(ready_line.find("AGENT_RELAY_HOME"), std::string::npos) << ready_line;
  ::chmod(daemon.home().c_str(), 0700);
}

TEST(Disk, UnreadableConfigurationIsNamedAtStart) {
  DaemonProcess daemon;
  fs::create_directory(daemon.home() + "/config.toml");  // even root cannot read a directory as a file
  const std::string ready_line = daemon.start();
  EXPECT_TRUE(ready_line.starts_with("error: ")) << ready_line;
  EXPECT_NE(ready_line.find("config.toml"), std::string::npos) << ready_line;
  EXPECT_NE(daemon.wait().exit_code, 0);
}

TEST(Disk, InvalidSettingIsNamedAtStart) {
  DaemonProcess daemon;
  std::ofstream{daemon.home() + "/config.toml"} << "debug = true\nheartbeat_ms = \"often\"\n";
  const std::string ready_line = daemon.start();
  EXPECT_TRUE(ready_line.starts_with("error: ")) << ready_line;
  EXPECT_NE(ready_line.find("heartbeat_ms"), std::string::npos) << ready_line;
  EXPECT_NE(daemon.wait().exit_code, 0);
}

/// Whether `doctor --json` reports a problem of this check with this text.
bool reports_problem(const std::string& doctor, std::string_view check, const std::string& text) {
  const auto found = parse_json_object(doctor);
  if (!found) return false;
  return std::ranges::any_of(found->at("checks").as_array(), [&](const json::value& value) {
    const auto& one = value.as_object();
    return string_member(one, "check") == check && string_member(one, "status") == "problem" &&
           string_member(one, "message").value_or("").contains(text);
  });
}

TEST(Disk, DamagedDatabaseIsQuarantinedWithAWarning) {
  DaemonProcess daemon;
  fs::create_directories(daemon.project_directory());
  std::ofstream{daemon.project_directory() + "/messages.sqlite"} << std::string(8192, 'z');
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  control.send_frame(envelope("WORKSPACE_LIST", "w-1"));
  const auto response = control.receive_type("WORKSPACE_RESPONSE");
  const auto& list = *array_member(*object_member(response, "payload"), "workspaces");
  ASSERT_EQ(list.size(), 1U);
  const std::string warning = string_member(list[0].get_object(), "warning").value_or("");
  EXPECT_NE(warning.find("damaged"), std::string::npos) << warning;
  EXPECT_NE(daemon.log().find("damaged"), std::string::npos);

  bool quarantined = false;
  for (const auto& entry : fs::directory_iterator{daemon.project_directory()}) {
    if (entry.path().string().find(".damaged-") == std::string::npos) continue;
    quarantined = quarantined || content_of(entry.path().string()) == std::string(8192, 'z');
  }
  EXPECT_TRUE(quarantined);
  const auto doctor = daemon.command({"doctor", "--json"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_TRUE(
      reports_problem(doctor.output, "store", "a damaged database was moved aside: " + daemon.project_directory()))
      << doctor.output;
  EXPECT_TRUE(reports_problem(doctor.output, "damage", "messages.sqlite is not a message store of Agent Relay"))
      << doctor.output;
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Disk, DamagedJournalIsQuarantinedAndReportedByDoctor) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  {
    register_agent(daemon.socket(), "Bob");
    RawClient alice{daemon.socket()};
    alice.hello("Alice");
    for (const auto* id : {"1", "2", "3"}) {
      alice.send("Bob", std::string(300, 'x'), id);
      alice.receive_type("ACK");
    }
  }
  EXPECT_EQ(daemon.command({"doctor", "--json"}).output.find("moved aside"), std::string::npos);
  daemon.terminate(SIGKILL);
  const auto journal = daemon.project_directory() + "/messages.sqlite-commits0";
  auto bytes = content_of(journal);
  const auto at = bytes.find(std::string(300, 'x'));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] = 'y';
  std::ofstream{journal, std::ios::binary} << bytes;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const auto doctor = daemon.command({"doctor", "--json"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_TRUE(
      reports_problem(doctor.output, "store", "a damaged journal was moved aside: " + daemon.project_directory()))
      << doctor.output;
  EXPECT_TRUE(reports_problem(doctor.output, "damage", "messages.sqlite-commits0 is damaged")) << doctor.output;
}

}  // namespace
}  // namespace relay::integration
