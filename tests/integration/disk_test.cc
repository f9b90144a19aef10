/// What the disk may do: be full, be read-only, hold something unreadable or damaged.
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

/// Sends until the store refuses; the refusal's frame.
json::object fill(RawClient& sender) {
  const std::string text(30'000, 'x');
  for (int i = 0; i < 2'000; ++i) {
    sender.send("Bob", text, format("fill-{}", i));
    auto answer = sender.hear();
    if (!answer || type_of(*answer) != "ACK") return answer.value_or(json::object{});
  }
  ADD_FAILURE() << "the disk never became full";
  return {};
}

void expect_refused_in_one_sentence(const json::object& answer) {
  EXPECT_EQ(type_of(answer), "NACK") << json::serialize(answer);
  EXPECT_EQ(payload_text(answer, "code"), "STORAGE") << json::serialize(answer);
  EXPECT_FALSE(payload_text(answer, "message").empty());
}

TEST(Disk, WhenFileSizesAreLimitedSendersAreToldAndTheDaemonLives) {
  DaemonProcess daemon;
  daemon.in_child = [] {
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob{daemon.socket()};
  bob.hello("Bob");
  bob.leave();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  expect_refused_in_one_sentence(fill(alice));
  alice.say(envelope("STATUS", "s-1"));
  alice.hear_type("STATUS_RESPONSE");
  EXPECT_EQ(daemon.end(SIGTERM).exit_code, 0) << daemon.log();
}

/// A file system of two megabytes; only root may have one.
class TinyDisk {
 public:
  explicit TinyDisk(std::string path) : path_{std::move(path)} {
    fs::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
  }
  ~TinyDisk() {
    while (mounted_ && ::umount2(path_.c_str(), MNT_DETACH) == 0) {}  // what covers it too
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  [[nodiscard]] bool is_mounted() const { return mounted_; }
  /// As after `mount -o remount,ro`, though whoever has a file open may still write it.
  void cover_read_only() const {
    ::mount(path_.c_str(), path_.c_str(), nullptr, MS_BIND, nullptr);
    ::mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr);
  }
  void grow() const { ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"); }

 private:
  std::string path_;
  bool mounted_ = false;
};

/// Sends as a sender should: refused for now, it comes again after the time it was told.
bool is_taken_as_soon_as_promised(RawClient& sender) {
  for (int tries = 0; tries < 3; ++tries) {
    sender.send("Bob", "room again", "after-1");
    const auto answer = sender.hear(std::chrono::seconds{10});
    if (!answer || string_member(*answer, "type") != "NACK") return answer && string_member(*answer, "type") == "ACK";
    const auto wait = integer_member(*object_member(*answer, "payload"), "retry_after_ms");
    if (!wait) return false;
    EXPECT_FALSE(sender.hear(std::chrono::milliseconds{*wait}));
  }
  return false;
}

TEST(Disk, WhenFullSendersAreToldAndItGoesOnOnceThereIsRoom) {
  DaemonProcess daemon;
  const TinyDisk disk{daemon.path("tiny")};
  if (!disk.is_mounted()) GTEST_SKIP() << "only root can mount a small file system";
  daemon.environment["AGENT_RELAY_STORAGE_PATH"] = daemon.path("tiny");
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob{daemon.socket()};
  bob.hello("Bob");
  bob.leave();
  RawClient innocent{daemon.socket()};
  innocent.hello("Innocent");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  expect_refused_in_one_sentence(fill(alice));
  innocent.say(envelope("STATUS", "s-1"));
  innocent.hear_type("STATUS_RESPONSE");
  const auto full = daemon.command({"status"});
  EXPECT_NE(full.text.find("the last write failed"), std::string::npos) << full.text;
  EXPECT_NE(full.text.find("free some space"), std::string::npos) << full.text;
  EXPECT_NE(daemon.command({"status", "--json"}).text.find("\"canWrite\":false"), std::string::npos);
  const auto doctor = daemon.command({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_NE(doctor.text.find("free at " + daemon.path("tiny")), std::string::npos) << doctor.text;

  disk.grow();
  EXPECT_TRUE(is_taken_as_soon_as_promised(alice));
  EXPECT_EQ(daemon.command({"status"}).text.find("the last write failed"), std::string::npos);
  EXPECT_EQ(daemon.end(SIGTERM).exit_code, 0) << daemon.log();
}

TEST(Disk, StatusAndDoctorSayThatItBecameReadOnly) {
  DaemonProcess daemon;
  const TinyDisk disk{daemon.path("tiny")};
  if (!disk.is_mounted()) GTEST_SKIP() << "only root can mount a small file system";
  daemon.environment["AGENT_RELAY_STORAGE_PATH"] = daemon.path("tiny");
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  disk.grow();
  disk.cover_read_only();
  const auto status = daemon.command({"status"});
  EXPECT_NE(status.text.find("is read-only"), std::string::npos) << status.text;
  const auto doctor = daemon.command({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_NE(doctor.text.find("is read-only"), std::string::npos) << doctor.text;
  EXPECT_EQ(daemon.end(SIGTERM).exit_code, 0) << daemon.log();
}

TEST(Disk, AHomeThatCannotBeWrittenIsNamedAtTheStart) {
  DaemonProcess daemon;
  if (::geteuid() == 0) {  // root writes everywhere, so somebody else tries
    ::chmod(fs::path{daemon.home()}.parent_path().c_str(), 0755);
    ASSERT_EQ(::chown(daemon.home().c_str(), kNobody, kNobody), 0);
    daemon.in_child = [] {
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(125);
    };
  }
  ASSERT_EQ(::chmod(daemon.home().c_str(), 0500), 0);
  const std::string said = daemon.start();
  const int code = daemon.wait().exit_code;
  if (code == 127) GTEST_SKIP() << "the program cannot be reached by another user here";
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(said.starts_with("error: ")) << said;
  EXPECT_NE(said.find("daemon.lock"), std::string::npos) << said;
  EXPECT_NE(said.find("AGENT_RELAY_HOME"), std::string::npos) << said;
  ::chmod(daemon.home().c_str(), 0700);
}

TEST(Disk, AConfigurationThatCannotBeReadIsNamedAtTheStart) {
  DaemonProcess daemon;
  fs::create_directory(daemon.home() + "/config.toml");  // not even root reads a directory as text
  const std::string said = daemon.start();
  EXPECT_TRUE(said.starts_with("error: ")) << said;
  EXPECT_NE(said.find("config.toml"), std::string::npos) << said;
  EXPECT_NE(daemon.wait().exit_code, 0);
}

TEST(Disk, AConfigurationWithAMistakeIsNamedWithItsLine) {
  DaemonProcess daemon;
  std::ofstream{daemon.home() + "/config.toml"} << "debug = true\nheartbeat_ms = \"often\"\n";
  const std::string said = daemon.start();
  EXPECT_TRUE(said.starts_with("error: ")) << said;
  EXPECT_NE(said.find("heartbeat_ms"), std::string::npos) << said;
  EXPECT_NE(daemon.wait().exit_code, 0);
}

/// `doctor --json` has a problem under that name that says so.
bool says(const std::string& doctor, std::string_view check, const std::string& words) {
  const auto found = parse_json_object(doctor);
  if (!found) return false;
  return std::ranges::any_of(found->at("checks").as_array(), [&](const json::value& value) {
    const auto& one = value.as_object();
    return string_member(one, "check") == check && string_member(one, "status") == "problem" &&
           string_member(one, "message").value_or("").contains(words);
  });
}

TEST(Disk, ADamagedDatabaseIsSetAsideWithAWordAndWorkGoesOn) {
  DaemonProcess daemon;
  fs::create_directories(daemon.project_directory());
  std::ofstream{daemon.project_directory() + "/messages.sqlite"} << std::string(8192, 'z');
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  control.say(envelope("WORKSPACE_LIST", "w-1"));
  const auto answer = control.hear_type("WORKSPACE_RESPONSE");
  const auto& list = *array_member(*object_member(answer, "payload"), "workspaces");
  ASSERT_EQ(list.size(), 1U);
  const std::string warning = string_member(list[0].get_object(), "warning").value_or("");
  EXPECT_NE(warning.find("damaged"), std::string::npos) << warning;
  EXPECT_NE(daemon.log().find("damaged"), std::string::npos);

  bool kept = false;
  for (const auto& entry : fs::directory_iterator{daemon.project_directory()}) {
    if (entry.path().string().find(".damaged-") == std::string::npos) continue;
    kept = kept || content_of(entry.path().string()) == std::string(8192, 'z');
  }
  EXPECT_TRUE(kept);
  const auto doctor = daemon.command({"doctor", "--json"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_TRUE(says(doctor.text, "store", "a damaged database was moved aside: " + daemon.project_directory()))
      << doctor.text;
  EXPECT_TRUE(says(doctor.text, "damage", "messages.sqlite is not a message store of Agent Relay")) << doctor.text;
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Disk, ADamagedJournalIsSetAsideAndDoctorTellsIt) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  {
    RawClient bob{daemon.socket()};
    bob.hello("Bob");
    bob.leave();
    RawClient alice{daemon.socket()};
    alice.hello("Alice");
    for (const auto* id : {"1", "2", "3"}) {
      alice.send("Bob", std::string(300, 'x'), id);
      alice.hear_type("ACK");
    }
  }
  EXPECT_EQ(daemon.command({"doctor", "--json"}).text.find("moved aside"), std::string::npos);
  daemon.end(SIGKILL);
  const auto journal = daemon.project_directory() + "/messages.sqlite-commits0";
  auto bytes = content_of(journal);
  const auto at = bytes.find(std::string(300, 'x'));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] = 'y';
  std::ofstream{journal, std::ios::binary} << bytes;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const auto doctor = daemon.command({"doctor", "--json"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_TRUE(says(doctor.text, "store", "a damaged journal was moved aside: " + daemon.project_directory()))
      << doctor.text;
  EXPECT_TRUE(says(doctor.text, "damage", "messages.sqlite-commits0 is damaged")) << doctor.text;
}

}  // namespace
}  // namespace relay::integration
