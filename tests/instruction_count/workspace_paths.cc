/// A message from the bytes of its SEND to the bytes of its responses: the real workspace and broker on a memory store, a
/// loop with a fixed clock, and streams that are strings.
#include "base/format.h"
#include "base/random.h"
#include "client/testing/virtual_loop.h"
#include "daemon/testing/fake_stream.h"
#include "daemon/workspace.h"
#include "paths.h"
#include "prose.h"
#include "protocol/frame.h"
#include "store/memory/store.h"
#include "store/queue/inline_queue.h"

namespace relay::cost {
namespace {

constexpr std::size_t kBodyBytes = 1024;
constexpr std::uint64_t kMessages = 200;
constexpr std::uint64_t kBroadcasts = 5;
constexpr std::uint64_t kAgents = 200;

using daemon::testing::FakePeer;
using daemon::testing::FakeStream;
using Agent = std::shared_ptr<FakePeer>;

std::string framed(std::string_view body) {
  std::string bytes;
  protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
  return bytes;
}

std::string send_frame(std::uint64_t number, std::string_view to) {
  return framed(format(
      R"({{"v":1,"type":"SEND","id":"1700000000000-{}","ts":1,"to":"{}","payload":{{"kind":"message","body":"{}"}}}})",
      number, to, prose(kBodyBytes, number)));
}

class TestWorkspace {
 public:
  TestWorkspace() {
    auto store = std::make_unique<store::MemoryStore>();
    auto state = store->load();
    RELAY_ASSERT(state);
    const auto make_queue = [&](store::StoreListener& listener) {
      return std::make_unique<store::InlineStoreQueue>(
          std::move(store), [this](net::Task task) { loop_.post(std::move(task)); }, listener);
    };
    workspace_ =
        std::make_unique<daemon::Workspace>(daemon::WorkspaceOptions{}, loop_, random_, make_queue, *std::move(state));
  }

  Agent join(std::string_view name) {
    auto agent = std::make_shared<FakePeer>();
    workspace_->accept(std::make_unique<FakeStream>(agent));
    send(*agent, framed(format(R"({{"v":1,"type":"HELLO","id":"h","ts":1,"payload":{{"agent":"{}","capabilities":)"
                               R"({{"ack":true,"send_ack":true,"outbox":"1700000000000"}}}}}})",
                               name)));
    expect(*agent, R"("type":"WELCOME")");
    return agent;
  }

  void send(FakePeer& agent, std::string_view bytes) {
    agent.send(bytes);
    loop_.run_now();
  }

  /// Acknowledges the one DELIVER that it received.
  void acknowledge(FakePeer& agent) {
    constexpr std::string_view kId = R"("type":"DELIVER","id":")";
    const auto start = agent.received.find(kId);
    RELAY_ASSERT(start != std::string::npos);
    const auto id = std::string_view{agent.received}.substr(start + kId.size());
    const auto bytes = framed(format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":1}}}})",
                                     id.substr(0, id.find('"'))));
    agent.received.clear();
    send(agent, bytes);
  }

  /// Asserts that the received bytes contain `part`, and clears them.
  static void expect(FakePeer& agent, std::string_view part) {
    RELAY_ASSERT(agent.received.contains(part));
    agent.received.clear();
  }

 private:
  client::testing::VirtualLoop loop_;
  SeededRandom random_{1};
  std::unique_ptr<daemon::Workspace> workspace_;
};

/// Alice sends `count` messages to the others, which acknowledge each. The frames are prepared in advance.
Workload messages(std::string_view to, std::vector<std::string> names, std::uint64_t count) {
  auto workspace = std::make_unique<TestWorkspace>();
  const auto alice = workspace->join("Alice");
  std::vector<Agent> others;
  for (const auto& name : names) others.push_back(workspace->join(name));
  alice->received.clear();
  for (const auto& other : others) other->received.clear();
  std::vector<std::string> frames;
  for (std::uint64_t number = 1; number <= 2 * count; ++number) frames.push_back(send_frame(number, to));
  return [=, workspace = std::move(workspace), others = std::move(others), frames = std::move(frames),
          next = std::size_t{0}]() mutable {
    for (const auto end = next + count; next < end; ++next) {
      workspace->send(*alice, frames.at(next));
      TestWorkspace::expect(*alice, R"("type":"ACK")");
      for (const auto& other : others) workspace->acknowledge(*other);
    }
    return count * others.size();
  };
}

}  // namespace

Workload prepare_frame() { return messages("Bob", {"Bob"}, kMessages); }

Workload prepare_broadcast() {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < kAgents; ++i) names.push_back(format("Agent{}", i));
  return messages("*", std::move(names), kBroadcasts);
}

}  // namespace relay::cost
