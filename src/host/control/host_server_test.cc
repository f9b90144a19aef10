#include "host/control/host_server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "client/testing/virtual_loop.h"
#include "protocol/frame.h"

namespace relay::host {
namespace {

/// The client's end of a connection.
struct FakeClient final : net::Stream {
  void start(net::StreamListener& to) override { listener = &to; }
  void write(std::string_view bytes) override { reader.push(bytes), waiting += slow ? bytes.size() : 0; }
  std::size_t bytes_waiting() const override { return waiting; }
  void pause_reading() override { paused = true; }
  void resume_reading() override { paused = false; }
  void close(net::Drain) override { closed = true; }
  net::Peer peer() const override { return {.pid = pid}; }

  pid_t pid = 0;
  net::StreamListener* listener = nullptr;
  protocol::FrameReader reader;
  std::size_t waiting = 0;
  bool slow = false, paused = false, closed = false;
};

struct HostServerTest : ::testing::Test, HostService, net::Network {
  client::testing::VirtualLoop loop;
  terminal::Screen screen_{{20, 4}};
  HostServer server{loop, *this, *this};
  net::OnAccept accept;
  std::string typed;
  std::vector<pty::WindowSize> sizes;
  std::string released;
  std::string name = "Bob";
  OnDone on_done;
  adapters::Adapter::HookReply hook;

  struct Listening final : net::Listener {
    std::string where = "/server";
    const std::string& path() const override { return where; }
  };
  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept on_accept) override {
    accept = std::move(on_accept);
    return std::make_unique<Listening>();
  }
  void connect(const std::string&, net::OnConnect) override {}

  const std::string& agent() const override { return name; }
  const terminal::Screen& screen() const override { return screen_; }
  void describe(text::JsonWriter& answer) const override { answer.field("name", "Bob"); }
  void explain(text::JsonWriter& answer) const override { describe_state(answer); }
  void describe_state(text::JsonWriter& answer) const override { answer.field("state", "idle"); }
  void client_input(std::string_view bytes) override { typed += bytes; }
  void client_interrupt() override { typed += "interrupt"; }
  void client_text(const std::string& text, OnDone done) override {
    if (text == "no") return done(fail("not now"));
    typed += "text " + text;
    on_done = std::move(done);
  }
  void client_resize(pty::WindowSize size) override {
    sizes.push_back(size);
    screen_.resize({size.columns, size.rows});
    server.on_resized();
  }
  void client_release(const ReleaseAgent& request) override { released = request.reason; }
  void hook_called(const hooks::HookEvent& event, std::uint64_t, adapters::Adapter::HookReply reply) override {
    typed += "hook " + event.name;
    hook = std::move(reply);
  }
  void hook_disconnected(std::uint64_t) override { typed += " gone"; }
  void fetch_messages(const FetchMessages& request, text::JsonWriter& answer) override {
    answer.field("take", request.take);
  }
  void describe_prompts(text::JsonWriter& answer) const override { answer.begin_array("prompts").end(); }
  void answer_prompt(const AnswerPrompt& request, OnDone done) override {
    if (request.prompt != "p1") return done(fail("that prompt is not open"));
    typed += request.reply.decision == adapters::PromptAnswer::Decision::Approve ? "approved"
                                                                                 : "denied: " + request.reply.message;
    typed += " by " + request.by;
    done({});
  }

  void show_dialog(const std::string& prompt) override { typed += "shows " + prompt; }

  void SetUp() override { ASSERT_TRUE(server.listen("/server")); }

  /// Owned by the server.
  FakeClient& come(pid_t pid = 0) {
    auto client = std::make_unique<FakeClient>();
    client->pid = pid;
    auto& seen = *client;
    accept(std::move(client));
    return seen;
  }
  static void send(FakeClient& client, std::string_view body) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
    client.listener->on_bytes(bytes);
  }
  static std::vector<std::string> received(FakeClient& client) {
    std::vector<std::string> frames;
    for (;;) {
      const auto frame = client.reader.next();
      if (!frame || !*frame) return frames;
      frames.emplace_back(**frame);
    }
  }
  /// What a terminal that showed all of that would hold.
  terminal::Screen screen_of(FakeClient& client) {
    terminal::Screen other{screen_.size()};
    for (const auto& frame : received(client))
      if (const auto bytes = terminal_bytes(frame)) other.feed(*bytes);
    return other;
  }
  void output(std::string_view bytes) {
    screen_.feed(bytes);
    server.on_output(bytes);
  }
  static constexpr std::string_view kView = R"({"method":"attach","mode":"view","columns":20,"rows":4})";
  static constexpr std::string_view kDrive = R"({"method":"attach","mode":"drive","columns":30,"rows":5})";
};

TEST_F(HostServerTest, AttachedClientGetsScreenThenOutput) {
  output("before\r\n\x1b[1mbold");
  auto& client = come();
  send(client, kView);
  output("\r\nafter");
  EXPECT_EQ(screen_of(client), screen_);
}

TEST_F(HostServerTest, ProcessInsideAnotherAgentCannotReleaseOrActAsAgent) {
  server.classify_by([](const net::Peer& peer) {
    return peer.pid == 6   ? protocol::agent_origin("In")
           : peer.pid == 7 ? protocol::agent_origin("Bob")
           : peer.pid == 8 ? protocol::PeerOrigin{}
           : peer.pid == 9 ? protocol::daemon_origin()
                           : protocol::user_origin();
  });
  const std::string release = R"({"method":"release","by":"human","reason":"enough"})";
  const std::string take = R"({"method":"fetch","take":true,"ids":["m1"]})", look = R"({"method":"fetch"})";
  const std::string call = R"({"method":"hook","event":{"agent":"claude","name":"Stop","kind":"stop"}})";
  const auto does = [&](pid_t pid, const std::string& request) {
    auto& client = come(pid);
    send(client, request);
    const auto responses = received(client);
    return responses.empty() || responses[0].find(R"("code":"REFUSED")") == std::string::npos;
  };
  EXPECT_FALSE(does(6, release) || does(6, take) || does(6, call)) << "another agent";
  EXPECT_FALSE(does(8, release) || does(8, take) || does(8, call)) << "an unknown process";
  EXPECT_TRUE(does(6, look));
  EXPECT_FALSE(does(7, release)) << "the agent itself requests it from the daemon";
  EXPECT_EQ(released, "");
  EXPECT_TRUE(does(7, take) && does(7, call));
  EXPECT_TRUE(does(9, release));
  EXPECT_EQ(released, "enough");
  EXPECT_TRUE(does(5, take) && does(5, call) && does(5, release));
}

TEST_F(HostServerTest, ProcessInsideAgentMayReadButNotTypeOrAnswer) {
  server.classify_by([](const net::Peer& peer) {
    return peer.pid == 7   ? protocol::agent_origin("Bob")
           : peer.pid == 8 ? protocol::PeerOrigin{}
                           : protocol::user_origin();
  });
  for (const pid_t pid : {7, 8}) {
    auto& inside = come(pid);
    for (const std::string_view request :
         {kDrive, std::string_view{R"({"method":"input","data":"y"})"}, std::string_view{R"({"method":"interrupt"})"},
          std::string_view{R"({"method":"answer","prompt":"p1","decision":"approve"})"}}) {
      send(inside, request);
      const auto responses = received(inside);
      ASSERT_EQ(responses.size(), 1u) << request;
      EXPECT_NE(responses[0].find("only the user may type here, answer or end Bob"), std::string::npos) << responses[0];
    }
    send(inside, R"({"method":"describe"})");
    EXPECT_NE(received(inside).at(0).find("true"), std::string::npos) << "reading is allowed";
  }
  EXPECT_EQ(typed, "");
  auto& user = come(9);
  send(user, R"({"method":"input","data":"y"})");
  EXPECT_EQ(typed, "y");
}

TEST_F(HostServerTest, ClientAttachedInsideSequenceGetsItWhole) {
  output("text\x1b[3");
  auto& client = come();
  send(client, kView);
  output("1mred");
  EXPECT_EQ(screen_of(client), screen_);
}

TEST_F(HostServerTest, SlowClientLosesOutputAndCatchesUp) {
  auto& client = come();
  send(client, kView);
  (void)received(client);
  client.slow = true;
  for (int i = 0; i < 300; ++i) output(std::string(10'000, 'x'));
  EXPECT_LE(client.waiting, kMaxClientBacklogBytes + 100'000);
  (void)received(client);
  output("\x1b[2J\x1b[Hthe end");
  client.waiting = 0;
  client.slow = false;
  client.listener->on_written(0);
  EXPECT_EQ(screen_of(client), screen_);
  output(" and on");
  EXPECT_EQ(received(client).size(), 1u);
}

TEST_F(HostServerTest, OnlyDrivingClientTypes) {
  auto& watcher = come();
  auto& driver = come();
  send(watcher, kView);
  send(driver, kDrive);
  send(watcher, "\x01no");
  send(driver, "\x01yes");
  EXPECT_EQ(typed, "yes");
}

TEST_F(HostServerTest, LastDrivingClientSetsSize) {
  auto& first = come();
  auto& second = come();
  send(first, kDrive);
  send(second, R"({"method":"attach","mode":"drive","columns":50,"rows":9})");
  EXPECT_EQ(screen_.size(), (terminal::Size{50, 9}));
  send(first, "\x01k");
  EXPECT_EQ(screen_.size(), (terminal::Size{30, 5}));
  send(second, R"({"method":"resize","columns":51,"rows":9})");
  EXPECT_EQ(screen_.size(), (terminal::Size{30, 5})) << "another client sets the size";
  first.listener->on_closed("gone");
  loop.run_now();
  EXPECT_EQ(screen_.size(), (terminal::Size{51, 9}));
}

TEST_F(HostServerTest, InterruptPressesKeyOfProfile) {
  auto& client = come();
  send(client, R"({"method":"interrupt","id":"1"})");
  EXPECT_EQ(received(client), std::vector<std::string>{R"({"method":"interrupt","id":"1","ok":true})"});
  EXPECT_EQ(typed, "interrupt");
}

TEST_F(HostServerTest, EveryRequestGetsOneResponse) {
  auto& client = come();
  send(client, R"({"method":"describe","id":"1"})");
  send(client, R"({"method":"input","text":"no","id":"2"})");
  send(client, R"({"method":"input","keys":["Up"]})");
  send(client, R"({"method":"screen"})");
  send(client, "{broken");
  send(client, R"({"method":"release","reason":"done"})");
  const auto responses = received(client);
  ASSERT_EQ(responses.size(), 6u);
  EXPECT_EQ(responses[0], R"({"method":"describe","id":"1","ok":true,"name":"Bob"})");
  EXPECT_EQ(responses[1], R"({"method":"input","id":"2","ok":false,"error":"not now"})");
  EXPECT_EQ(typed, "\x1b[A");
  EXPECT_EQ(parse_json_object(responses[3])->at("columns"), 20);
  EXPECT_NE(responses[4].find(R"("ok":false)"), std::string::npos);
  EXPECT_EQ(released, "done");
}

TEST_F(HostServerTest, HookIsAnsweredLater) {
  auto& client = come();
  send(client, R"({"method":"hook","event":{"agent":"claude","kind":"prompt","name":"UserPromptSubmit"}})");
  EXPECT_EQ(typed, "hook UserPromptSubmit");
  EXPECT_TRUE(received(client).empty());
  hook({.context = "words"});
  EXPECT_EQ(received(client),
            (std::vector<std::string>{R"({"method":"hook","ok":true,"answer":{"context":"words"}})"}));
  client.listener->on_closed("gone");
  EXPECT_EQ(typed, "hook UserPromptSubmit") << "it had its answer";
}

TEST_F(HostServerTest, DisconnectedHookIsReported) {
  auto& client = come();
  send(client, R"({"method":"hook","event":{"agent":"claude","kind":"permission","name":"PermissionRequest"}})");
  client.listener->on_closed("gone");
  loop.run_now();
  EXPECT_EQ(typed, "hook PermissionRequest gone");
  hook({.decision = hooks::HookDecision::Allow});  // too late, and harmless
}

TEST_F(HostServerTest, PromptIsAnsweredByClient) {
  auto& client = come();
  send(client, R"({"method":"prompts"})");
  send(client, R"({"method":"answer","prompt":"p1","decision":"deny","message":"not today"})");
  send(client, R"({"method":"answer","prompt":"p2","decision":"approve"})");
  send(client, R"({"method":"answer","prompt":"p1","decision":"perhaps"})");
  send(client, R"({"method":"fetch","take":true})");
  EXPECT_EQ(received(client), (std::vector<std::string>{
                                  R"({"method":"prompts","ok":true,"prompts":[]})", R"({"method":"answer","ok":true})",
                                  R"({"method":"answer","ok":false,"error":"that prompt is not open"})",
                                  R"({"method":"","ok":false,"error":"decision must be approve, deny or timeout"})",
                                  R"({"method":"fetch","ok":true,"take":true})"}));
  EXPECT_EQ(typed, "denied: not today by human");
}

TEST_F(HostServerTest, WatchingClientGetsStatesCommandsAndExit) {
  auto& client = come();
  send(client, R"({"method":"watch"})");
  server.on_command_sent("Alice", "message");
  server.on_exit(3);
  EXPECT_EQ(
      received(client),
      (std::vector<std::string>{R"({"method":"watch","ok":true})", R"({"event":"state","state":"idle"})",
                                R"({"event":"sent","to":"Alice","kind":"message"})", R"({"event":"exit","code":3})"}));
}

TEST_F(HostServerTest, TextIsAnsweredWhenTyped) {
  auto& client = come();
  auto& other = come();
  send(client, R"({"method":"input","text":"hello","id":"1"})");
  EXPECT_TRUE(received(client).empty());
  on_done({});
  EXPECT_EQ(received(client), std::vector<std::string>{R"({"method":"input","id":"1","ok":true})"});
  send(other, R"({"method":"input","text":"bye"})");
  other.listener->on_closed("gone");
  (void)received(other);
  on_done({});  // disconnected, not yet destroyed
  EXPECT_TRUE(received(other).empty());
  send(client, R"({"method":"input","text":"again"})");
  client.listener->on_closed("gone");
  loop.run_now();
  on_done({});  // the client has disconnected
}

TEST_F(HostServerTest, ManyClientsDisconnectDuringEvent) {
  std::vector<FakeClient*> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(&come());
    send(*clients.back(), kDrive);
  }
  clients[1]->waiting = clients[2]->waiting =
      10 * kMaxClientBacklogBytes;  // they read nothing and are disconnected with the next event
  server.on_state();
  loop.run_now();
  loop.run_now();
  EXPECT_EQ(server.attached_clients(), 1u);
}

TEST_F(HostServerTest, ClientThatNeverReadsIsDisconnected) {
  auto& client = come();
  client.slow = true;
  for (int i = 0; i < 20'000 && !client.closed; ++i) send(client, R"({"method":"screen","format":"ansi"})");
  EXPECT_TRUE(client.closed);
  EXPECT_LE(client.waiting, kMaxClientBacklogBytes + 10'000);
}

TEST_F(HostServerTest, ClientWithBrokenFrameIsDisconnected) {
  auto& client = come();
  client.listener->on_bytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.closed);
  loop.run_now();
  EXPECT_EQ(server.attached_clients(), 0u);
}

TEST_F(HostServerTest, ExcessClientsAreRefused) {
  for (std::size_t i = 0; i < kMaxClients; ++i) (void)come();
  bool closed = false;
  struct Watched final : net::Stream {
    explicit Watched(bool& flag) : closed{flag} {}
    void start(net::StreamListener&) override { ADD_FAILURE(); }
    void write(std::string_view) override {}
    std::size_t bytes_waiting() const override { return 0; }
    void pause_reading() override {}
    void resume_reading() override {}
    void close(net::Drain) override { closed = true; }
    net::Peer peer() const override { return {}; }
    bool& closed;
  };
  accept(std::make_unique<Watched>(closed));
  EXPECT_TRUE(closed);
}

TEST_F(HostServerTest, BackpressurePausesOnlyTypingClients) {
  auto& driver = come();
  auto& other = come();
  send(driver, kDrive);
  server.on_backpressure(true);
  send(driver, "\x01more");
  EXPECT_TRUE(driver.paused);
  send(other, R"({"method":"input","data":"y"})");
  send(other, R"({"method":"describe"})");
  EXPECT_FALSE(other.paused);
  const auto responses = received(other);
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_NE(responses[0].find("does not read"), std::string::npos) << responses[0];
  EXPECT_EQ(typed, "more");
  server.on_backpressure(false);
  EXPECT_FALSE(driver.paused);
}

}  // namespace
}  // namespace relay::host
