/// A daemon with the HTTP API in a sandbox, and the profile of the scripted agent. Kills the hosts that a test leaves.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "api/http_client.h"
#include "cli/sandbox.h"

namespace relay::api_tests {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct HttpFixture : ::testing::Test {
  cli_tests::Sandbox box;
  std::unique_ptr<HttpClient> http;

  /// Starts the daemon and connects `http` to it.
  void up() {
    box.ok({"up"});
    std::filesystem::create_directories(box.home() + "/profiles");
    std::filesystem::copy_file(SCRIPTED_PROFILE, box.home() + "/profiles/scripted.toml",
                               std::filesystem::copy_options::overwrite_existing);
    http = std::make_unique<HttpClient>(*string_member(box.ok_json({"status"}), "http"));
  }
  void SetUp() override { up(); }

  ~HttpFixture() override {  // hosts are not children of the test
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator{box.workspace_directory() + "/hosts", none}) {
      if (entry.path().extension() != ".json") continue;
      const auto record = parse_json_object(text_of(entry.path()));
      if (const auto pid = record ? integer_member(*record, "hostPid") : std::nullopt; pid && *pid > 1)
        ::kill(static_cast<pid_t>(*pid), SIGKILL);
    }
  }
};

}  // namespace relay::api_tests
