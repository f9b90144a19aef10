#include "protocol/worker_requests.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/limits.h"

namespace relay::protocol {
namespace {

using Texts = std::vector<std::string>;

TEST(WorkerRequests, SpawnHasArgumentsAndOptions) {
  const auto spawn = *parse_spawn(
      R"({"name":"W","cli":"claude --model x","args":["a b",""],"task":"do\nit","cwd":"/tmp","team":"t","model":"m",)"
      R"("spawnerName":"Ada","interactive":true})");
  EXPECT_EQ(spawn.argv, (Texts{"claude", "--model", "x", "a b", ""}));
  EXPECT_EQ(spawn.task, "do\nit");
  EXPECT_EQ(spawn.directory, "/tmp");
  EXPECT_EQ(spawn.spawner, "Ada");
  for (const auto* bad : {"{}", R"({"name":"W"})", R"({"name":"W","cli":""})", R"({"name":"W","cli":5})",
                          R"({"name":"*","cli":"a"})", R"({"name":"W","cli":"a","cwd":"/a\u0000b"})",
                          R"({"name":"W","cli":"a","args":"b"})", R"({"name":"W","cli":"a","args":["b\u0000"]})",
                          R"({"name":"W","cli":"a","model":"\u001b"})", R"({"name":"W","cli":"a","model":"--yolo"})",
                          R"({"name":"W","cli":"a","spawnerName":"a b"})", R"({"name":"system","cli":"a"})"}) {
    EXPECT_FALSE(parse_spawn(bad)) << bad;
  }
  EXPECT_FALSE(parse_spawn(format(R"({{"name":"W","cli":"{}"}})", std::string(kMaxCommandBytes + 1, 'c'))));
}

TEST(WorkerRequests, EnvironmentIsBoundedAndNeverQuotedInErrors) {
  EXPECT_TRUE(parse_spawn(R"({"name":"W","cli":"a"})")->environment.empty()) << "published clients send none";
  EXPECT_EQ(parse_spawn(R"({"name":"W","cli":"a","environment":["PATH=/a:/b","EMPTY=","X=a=b\nc"]})")->environment,
            (Texts{"PATH=/a:/b", "EMPTY=", "X=a=b\nc"}));
  for (const auto* bad :
       {R"(["secret"])", R"(["=secret"])", R"(["A=secret\u0000"])", R"({"A":"secret"})", R"("A=secret")"}) {
    const auto parsed = parse_spawn(format(R"({{"name":"W","cli":"a","environment":{}}})", bad));
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().message().find("secret"), std::string::npos) << parsed.error().message();
  }
  const std::string half(kMaxEnvironmentBytes / 2, 'x');
  EXPECT_FALSE(parse_spawn(format(R"({{"name":"W","cli":"a","environment":["A={0}","B={0}"]}})", half)));
}

TEST(WorkerRequests, ReleaseAndInputRequireName) {
  const auto release = *parse_release(R"({"name":"W","reason":"done"})");
  EXPECT_EQ(release.name, "W");
  EXPECT_EQ(release.reason, "done");
  EXPECT_FALSE(parse_release("{}"));
  EXPECT_EQ(parse_send_input(R"({"name":"W","data":"y\r"})")->data, "y\r");
  for (const auto* bad :
       {R"({"name":"W"})", R"({"name":"W","data":""})", R"({"data":"y"})", R"({"name":"W","data":5})"})
    EXPECT_FALSE(parse_send_input(bad)) << bad;
  EXPECT_FALSE(parse_send_input(format(R"({{"name":"W","data":"{}"}})", std::string(kMaxInputBytes + 1, 'c'))));
}

}  // namespace
}  // namespace relay::protocol
