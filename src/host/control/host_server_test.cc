#include "host/control/host_server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "client/testing/virtual_loop.h"
#include "protocol/frame.h"

namespace relay::host {
namespace {

/// One end of a connection at the door, held by the test.
struct FakeClient final : net::Stream {
  void start(net::StreamListener& to) override { door = &to; }
  void write(std::string_view bytes) override { reader.push(bytes), waiting += slow ? bytes.size() : 0; }
  std::size_t bytes_waiting() const override { return waiting; }
  void pause_reading() override { paused = true; }
  void resume_reading() override { paused = false; }
  void close(net::Drain) override { closed = true; }
  net::Peer peer() const override { return {.pid = pid}; }

  pid_t pid = 0;
  net::StreamListener* door = nullptr;
  protocol::FrameReader reader;
  std::size_t waiting = 0;
  bool slow = false, paused = false, closed = false;
};

struct HostServerTest : ::testing::Test, HostService, net::Network {
  client::testing::VirtualLoop loop;
  terminal::Screen screen_{{20, 4}};
  HostServer door{loop, *this, *this};
  net::OnAccept accept;
  std::string typed;
  std::vector<pty::WindowSize> sizes;
  std::string released;
  std::string name = "Bob";
  OnDone said;
  adapters::Adapter::HookReply hook;

  struct Listening final : net::Listener {
    std::string where = "/door";
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
    typed += "says " + text;
    said = std::move(done);
  }
  void client_resize(pty::WindowSize size) override {
    sizes.push_back(size);
    screen_.resize({size.columns, size.rows});
    door.on_resized();
  }
  void client_release(const ReleaseAgent& wish) override { released = wish.reason; }
  void hook_called(const hooks::HookEvent& event, std::uint64_t, adapters::Adapter::HookReply reply) override {
    typed += "hook " + event.name;
    hook = std::move(reply);
  }
  void hook_closed(std::uint64_t) override { typed += " gone"; }
  void fetch_messages(const FetchMessages& wish, text::JsonWriter& answer) override { answer.field("take", wish.take); }
  void describe_prompts(text::JsonWriter& answer) const override { answer.begin_array("prompts").end(); }
  void answer_prompt(const AnswerPrompt& wish, OnDone done) override {
    if (wish.prompt != "p1") return done(fail("that prompt is not open any more"));
    typed +=
        wish.reply.verdict == adapters::PromptAnswer::Decision::Allow ? "allowed" : "denied: " + wish.reply.message;
    typed += " by " + wish.by;
    done({});
  }

  void show_dialog(const std::string& prompt) override { typed += "shows " + prompt; }

  void SetUp() override { ASSERT_TRUE(door.listen("/door")); }

  /// Lives in the door; the test keeps a way to it.
  FakeClient& come(pid_t pid = 0) {
    auto guest = std::make_unique<FakeClient>();
    guest->pid = pid;
    auto& seen = *guest;
    accept(std::move(guest));
    return seen;
  }
  static void say(FakeClient& guest, std::string_view body) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
    guest.door->on_bytes(bytes);
  }
  static std::vector<std::string> heard(FakeClient& guest) {
    std::vector<std::string> frames;
    for (;;) {
      const auto frame = guest.reader.next();
      if (!frame || !*frame) return frames;
      frames.emplace_back(**frame);
    }
  }
  /// What a terminal that showed all of that would hold.
  terminal::Screen shown(FakeClient& guest) {
    terminal::Screen other{screen_.size()};
    for (const auto& frame : heard(guest))
      if (const auto bytes = terminal_bytes(frame)) other.feed(*bytes);
    return other;
  }
  void output(std::string_view bytes) {
    screen_.feed(bytes);
    door.on_output(bytes);
  }
  static constexpr std::string_view kView = R"({"method":"attach","mode":"view","columns":20,"rows":4})";
  static constexpr std::string_view kDrive = R"({"method":"attach","mode":"drive","columns":30,"rows":5})";
};

TEST_F(HostServerTest, AttachedClientGetsScreenThenOutput) {
  output("before\r\n\x1b[1mbold");
  auto& guest = come();
  say(guest, kView);
  output("\r\nafter");
  EXPECT_EQ(shown(guest), screen_);
}

TEST_F(HostServerTest, ProcessInsideAnotherAgentCannotReleaseOrActAsAgent) {
  door.classify_by([](const net::Peer& peer) {
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
    auto& guest = come(pid);
    say(guest, request);
    const auto answers = heard(guest);
    return answers.empty() || answers[0].find(R"("code":"REFUSED")") == std::string::npos;
  };
  EXPECT_FALSE(does(6, release) || does(6, take) || does(6, call)) << "another agent";
  EXPECT_FALSE(does(8, release) || does(8, take) || does(8, call)) << "nobody knows";
  EXPECT_TRUE(does(6, look));
  EXPECT_FALSE(does(7, release)) << "its own agent asks the daemon";
  EXPECT_EQ(released, "");
  EXPECT_TRUE(does(7, take) && does(7, call));
  EXPECT_TRUE(does(9, release));
  EXPECT_EQ(released, "enough");
  EXPECT_TRUE(does(5, take) && does(5, call) && does(5, release));
}

TEST_F(HostServerTest, ProcessInsideAgentMayReadButNotTypeOrAnswer) {
  door.classify_by([](const net::Peer& peer) {
    return peer.pid == 7   ? protocol::agent_origin("Bob")
           : peer.pid == 8 ? protocol::PeerOrigin{}
                           : protocol::user_origin();
  });
  for (const pid_t pid : {7, 8}) {
    auto& inside = come(pid);
    for (const std::string_view request :
         {kDrive, std::string_view{R"({"method":"input","data":"y"})"}, std::string_view{R"({"method":"interrupt"})"},
          std::string_view{R"({"method":"answer","prompt":"p1","decision":"approve"})"}}) {
      say(inside, request);
      const auto answers = heard(inside);
      ASSERT_EQ(answers.size(), 1u) << request;
      EXPECT_NE(answers[0].find("only the user may type here, answer or end Bob"), std::string::npos) << answers[0];
    }
    say(inside, R"({"method":"describe"})");
    EXPECT_NE(heard(inside).at(0).find("true"), std::string::npos) << "looking is free";
  }
  EXPECT_EQ(typed, "");
  auto& user = come(9);
  say(user, R"({"method":"input","data":"y"})");
  EXPECT_EQ(typed, "y");
}

TEST_F(HostServerTest, ClientAttachedInsideSequenceGetsItWhole) {
  output("text\x1b[3");
  auto& guest = come();
  say(guest, kView);
  output("1mred");
  EXPECT_EQ(shown(guest), screen_);
}

TEST_F(HostServerTest, SlowClientLosesOutputAndCatchesUp) {
  auto& guest = come();
  say(guest, kView);
  (void)heard(guest);
  guest.slow = true;
  for (int i = 0; i < 300; ++i) output(std::string(10'000, 'x'));
  EXPECT_LE(guest.waiting, kMaxClientBacklogBytes + 100'000);
  (void)heard(guest);
  output("\x1b[2J\x1b[Hthe end");
  guest.waiting = 0;
  guest.slow = false;
  guest.door->on_written(0);
  EXPECT_EQ(shown(guest), screen_);
  output(" and on");
  EXPECT_EQ(heard(guest).size(), 1u);
}

TEST_F(HostServerTest, OnlyDrivingClientTypes) {
  auto& watcher = come();
  auto& driver = come();
  say(watcher, kView);
  say(driver, kDrive);
  say(watcher, "\x01no");
  say(driver, "\x01yes");
  EXPECT_EQ(typed, "yes");
}

TEST_F(HostServerTest, LastDrivingClientSetsSize) {
  auto& first = come();
  auto& second = come();
  say(first, kDrive);
  say(second, R"({"method":"attach","mode":"drive","columns":50,"rows":9})");
  EXPECT_EQ(screen_.size(), (terminal::Size{50, 9}));
  say(first, "\x01k");
  EXPECT_EQ(screen_.size(), (terminal::Size{30, 5}));
  say(second, R"({"method":"resize","columns":51,"rows":9})");
  EXPECT_EQ(screen_.size(), (terminal::Size{30, 5})) << "not his turn";
  first.door->on_closed("gone");
  loop.run_now();
  EXPECT_EQ(screen_.size(), (terminal::Size{51, 9}));
}

TEST_F(HostServerTest, InterruptPressesKeyOfProfile) {
  auto& guest = come();
  say(guest, R"({"method":"interrupt","id":"1"})");
  EXPECT_EQ(heard(guest), std::vector<std::string>{R"({"method":"interrupt","id":"1","ok":true})"});
  EXPECT_EQ(typed, "interrupt");
}

TEST_F(HostServerTest, EveryRequestGetsOneResponse) {
  auto& guest = come();
  say(guest, R"({"method":"describe","id":"1"})");
  say(guest, R"({"method":"input","text":"no","id":"2"})");
  say(guest, R"({"method":"input","keys":["Up"]})");
  say(guest, R"({"method":"screen"})");
  say(guest, "{broken");
  say(guest, R"({"method":"release","reason":"done"})");
  const auto answers = heard(guest);
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0], R"({"method":"describe","id":"1","ok":true,"name":"Bob"})");
  EXPECT_EQ(answers[1], R"({"method":"input","id":"2","ok":false,"error":"not now"})");
  EXPECT_EQ(typed, "\x1b[A");
  EXPECT_EQ(parse_json_object(answers[3])->at("columns"), 20);
  EXPECT_NE(answers[4].find(R"("ok":false)"), std::string::npos);
  EXPECT_EQ(released, "done");
}

TEST_F(HostServerTest, HookIsAnsweredLater) {
  auto& guest = come();
  say(guest, R"({"method":"hook","event":{"agent":"claude","kind":"prompt","name":"UserPromptSubmit"}})");
  EXPECT_EQ(typed, "hook UserPromptSubmit");
  EXPECT_TRUE(heard(guest).empty());
  hook({.context = "words"});
  EXPECT_EQ(heard(guest), (std::vector<std::string>{R"({"method":"hook","ok":true,"answer":{"context":"words"}})"}));
  guest.door->on_closed("gone");
  EXPECT_EQ(typed, "hook UserPromptSubmit") << "it had its answer";
}

TEST_F(HostServerTest, DisconnectedHookIsReported) {
  auto& guest = come();
  say(guest, R"({"method":"hook","event":{"agent":"claude","kind":"permission","name":"PermissionRequest"}})");
  guest.door->on_closed("gone");
  loop.run_now();
  EXPECT_EQ(typed, "hook PermissionRequest gone");
  hook({.decision = hooks::HookDecision::Allow});  // too late, and harmless
}

TEST_F(HostServerTest, PromptIsAnsweredByClient) {
  auto& guest = come();
  say(guest, R"({"method":"prompts"})");
  say(guest, R"({"method":"answer","prompt":"p1","decision":"deny","message":"not today"})");
  say(guest, R"({"method":"answer","prompt":"p2","decision":"approve"})");
  say(guest, R"({"method":"answer","prompt":"p1","decision":"perhaps"})");
  say(guest, R"({"method":"fetch","take":true})");
  EXPECT_EQ(heard(guest), (std::vector<std::string>{
                              R"({"method":"prompts","ok":true,"prompts":[]})", R"({"method":"answer","ok":true})",
                              R"({"method":"answer","ok":false,"error":"that prompt is not open any more"})",
                              R"({"method":"","ok":false,"error":"decision must be approve, deny or timeout"})",
                              R"({"method":"fetch","ok":true,"take":true})"}));
  EXPECT_EQ(typed, "denied: not today by human");
}

TEST_F(HostServerTest, WatchingClientGetsStatesCommandsAndExit) {
  auto& guest = come();
  say(guest, R"({"method":"watch"})");
  door.on_command_sent("Alice", "message");
  door.on_exit(3);
  EXPECT_EQ(heard(guest), (std::vector<std::string>{
                              R"({"method":"watch","ok":true})", R"({"event":"state","state":"idle"})",
                              R"({"event":"sent","to":"Alice","kind":"message"})", R"({"event":"exit","code":3})"}));
}

TEST_F(HostServerTest, TextIsAnsweredWhenTyped) {
  auto& guest = come();
  auto& other = come();
  say(guest, R"({"method":"input","text":"hello","id":"1"})");
  EXPECT_TRUE(heard(guest).empty());
  said({});
  EXPECT_EQ(heard(guest), std::vector<std::string>{R"({"method":"input","id":"1","ok":true})"});
  say(other, R"({"method":"input","text":"bye"})");
  other.door->on_closed("gone");
  (void)heard(other);
  said({});  // leaving, not yet buried
  EXPECT_TRUE(heard(other).empty());
  say(guest, R"({"method":"input","text":"again"})");
  guest.door->on_closed("gone");
  loop.run_now();
  said({});  // nobody is there to hear it
}

TEST_F(HostServerTest, ManyClientsDisconnectDuringEvent) {
  std::vector<FakeClient*> guests;
  for (int i = 0; i < 3; ++i) {
    guests.push_back(&come());
    say(*guests.back(), kDrive);
  }
  guests[1]->waiting = guests[2]->waiting = 10 * kMaxClientBacklogBytes;  // they read nothing: let go at the next word
  door.on_state();
  loop.run_now();
  loop.run_now();
  EXPECT_EQ(door.watchers(), 1u);
}

TEST_F(HostServerTest, ClientThatNeverReadsIsDisconnected) {
  auto& guest = come();
  guest.slow = true;
  for (int i = 0; i < 20'000 && !guest.closed; ++i) say(guest, R"({"method":"screen","format":"ansi"})");
  EXPECT_TRUE(guest.closed);
  EXPECT_LE(guest.waiting, kMaxClientBacklogBytes + 10'000);
}

TEST_F(HostServerTest, ClientWithBrokenFrameIsDisconnected) {
  auto& guest = come();
  guest.door->on_bytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(guest.closed);
  loop.run_now();
  EXPECT_EQ(door.watchers(), 0u);
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

TEST_F(HostServerTest, BackpressurePausesTypingClientsAlone) {
  auto& driver = come();
  auto& other = come();
  say(driver, kDrive);
  door.on_backpressure(true);
  say(driver, "\x01more");
  EXPECT_TRUE(driver.paused);
  say(other, R"({"method":"input","data":"y"})");
  say(other, R"({"method":"describe"})");
  EXPECT_FALSE(other.paused);
  const auto answers = heard(other);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_NE(answers[0].find("does not read"), std::string::npos) << answers[0];
  EXPECT_EQ(typed, "more");
  door.on_backpressure(false);
  EXPECT_FALSE(driver.paused);
}

}  // namespace
}  // namespace relay::host
