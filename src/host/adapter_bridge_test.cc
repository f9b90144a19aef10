#include "host/adapter_bridge.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

using adapters::DeliveryTiming;
using protocol::DeliveryMode;
using Texts = std::vector<std::string>;

/// An adapter whose answers the test sets.
struct FakeAdapter final : adapters::Adapter {
  void prepare(pty::Command&, const adapters::LaunchContext&) override {}
  void start(adapters::Listener& to, pid_t) override { listener = &to; }
  adapters::NativeCapabilities capabilities() const override { return can; }
  void deliver(const adapters::NativeDelivery&, OnAccepted done) override { done({}); }
  void answer(const std::string& prompt, const adapters::PromptAnswer&, OnAnswered done) override {
    answered.push_back(prompt);
    done(std::exchange(outcome, {}));
  }
  std::optional<adapters::ReportedState> reported_state() const override { return state; }

  adapters::Listener* listener = nullptr;
  adapters::NativeCapabilities can;
  std::optional<adapters::ReportedState> state = {};
  Texts answered;
  Result<void> outcome = {};  // of the next answer
};

struct AdapterBridgeTest : ::testing::Test, adapters::OutputListener, adapters::DeliveryListener {
  net::AsioLoop loop;
  FakeAdapter* adapter = nullptr;
  std::unique_ptr<AdapterBridge> bridge;
  Texts output, model_inputs, client_events;
  std::vector<events::Event> agent_events;
  int changes = 0;

  Result<void> answer(const AnswerPrompt& request) const {
    Result<void> outcome = fail("it was not answered");
    bridge->answer(request, [&](const Result<void>& result) { outcome = result; });
    return outcome;
  }

  void SetUp() override {
    auto made = std::make_unique<FakeAdapter>();
    adapter = made.get();
    start(std::move(made));
  }
  void start(std::unique_ptr<FakeAdapter> made) {
    bridge = std::make_unique<AdapterBridge>(std::move(made), "h");
    bridge->start(loop, 1,
                  {.output = *this,
                   .deliveries = *this,
                   .report_event = [this](events::Event event, WallMs) { agent_events.push_back(std::move(event)); },
                   .notify_clients = [this](const std::string& event) { client_events.push_back(event); },
                   .on_changed = [this] { ++changes; }});
  }
  void on_assistant_text(std::string_view markdown, std::string_view) override { output.emplace_back(markdown); }
  void on_returned(const std::vector<std::string>&, std::string_view) override {}
  void on_model_input(std::string_view text, std::string_view via, std::string_view id) override {
    model_inputs.push_back(format("{} via {} {}", text, via, id));
  }
  std::string take_pending(DeliveryMode mode, std::size_t max_bytes) override {
    return format("{} {}", protocol::name_of(mode), max_bytes);
  }

  adapters::Listener& listener() { return *adapter->listener; }
  std::string describe() {
    text::JsonWriter out;
    bridge->describe(out);
    return out.take();
  }
  json::object member(std::string_view name) {
    const auto all = parse_json_object(describe());
    const auto* found = all ? object_member(*all, name) : nullptr;
    return found ? *found : json::object{};
  }
};

TEST_F(AdapterBridgeTest, IdleAgentIsNoEmptyEvidence) {
  adapter->state = adapters::ReportedState{profiles::State::Idle, {}};
  EXPECT_EQ(bridge->reported_state()->detail, "idle");
  adapter->state = adapters::ReportedState{profiles::State::Working, "retry in 5 s"};
  EXPECT_EQ(bridge->reported_state()->detail, "retry in 5 s");
}

adapters::Prompt permission(std::string id) {
  return {.id = std::move(id), .tool = "Bash", .summary = "Bash: make", .input = "{}", .via = adapters::via::kHook};
}

TEST_F(AdapterBridgeTest, AdapterReportsOutputAndDeliveriesToTheirListeners) {
  listener().output().on_assistant_text("@relay:Bob hi", "transcript");
  listener().deliveries().on_model_input("hello", "hook", "UserPromptSubmit");
  EXPECT_EQ(output, Texts{"@relay:Bob hi"});
  EXPECT_EQ(model_inputs, Texts{"hello via hook UserPromptSubmit"});
  EXPECT_EQ(listener().deliveries().take_pending(DeliveryMode::NextMessage, 9), "next-message 9");
  EXPECT_EQ(bridge->delivery_target(), adapter);
}

TEST_F(AdapterBridgeTest, NamesInterfaceOfEachTask) {
  EXPECT_EQ(bridge->capability_codes(),
            R"({"output":"screen","state":"screen","prompts":"","usage":"",)"
            R"("delivery":{"immediate":"pty","on-idle":"pty","manual":"fetch"},"proof":"seen"})");
  adapter->can = {.output = "transcript", .state = "hook", .prompts = "hook", .usage = "transcript"};
  adapter->can.by(DeliveryMode::OnIdle) = {DeliveryTiming::WhenIdle, "inbox"};
  adapter->can.by(DeliveryMode::NextMessage) = {DeliveryTiming::OnHook, "hook"};
  EXPECT_EQ(
      bridge->capability_codes(),
      R"({"output":"transcript","state":"hook","prompts":"hook","usage":"transcript",)"
      R"("delivery":{"immediate":"pty","next-message":"hook","on-idle":"inbox","manual":"fetch"},"proof":"seen"})");
  bridge->on_agent_exit();
  EXPECT_EQ(bridge->capabilities().output, "") << "an agent that has ended can do nothing";
}

TEST_F(AdapterBridgeTest, OffersNothingTypedWithoutATerminal) {
  AdapterBridge headless{nullptr, "h", profiles::DialogKeys::None, {}, false};
  EXPECT_EQ(
      headless.capability_codes(),
      R"({"terminal":false,"output":"","state":"","prompts":"","usage":"","delivery":{"manual":"fetch"},"proof":"submitted"})");
  EXPECT_FALSE(headless.modes().has(DeliveryMode::OnIdle));
  EXPECT_TRUE(headless.modes().has(DeliveryMode::Manual));
  AdapterBridge unprofiled{nullptr, "h", profiles::DialogKeys::None,
                           FallbackInterfaces{.output = adapters::via::kLines, .delivery = adapters::via::kInboxFile}};
  EXPECT_NE(unprofiled.capability_codes().find(R"("proof":"accepted")"), std::string::npos)
      << "nothing is typed into it";
}

TEST_F(AdapterBridgeTest, OffersSupportedModes) {
  const auto offered = [&] {
    Texts names;
    for (const auto mode : protocol::kDeliveryModes)
      if (bridge->modes().has(mode)) names.emplace_back(protocol::name_of(mode));
    return names;
  };
  EXPECT_EQ(offered(), (Texts{"immediate", "on-idle", "manual"})) << "typed, or fetched";
  adapter->can.by(DeliveryMode::NextMessage) = {DeliveryTiming::OnHook, "hook"};
  adapter->can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::OnHook, "hook"};
  EXPECT_EQ(offered().size(), 5U);
  adapter->can.by(DeliveryMode::NextToolCall) = {};
  EXPECT_EQ(offered(), (Texts{"immediate", "next-message", "on-idle", "manual"})) << "an interface that failed";
}

TEST_F(AdapterBridgeTest, CountsUsageOfAnswerOnce) {
  adapter->can.usage = "transcript";
  EXPECT_TRUE(member("usage").empty());
  listener().on_usage({.id = "a", .model = "opus", .input = 10, .output = 1, .cost = 0.5});
  listener().on_usage({.id = "a", .model = "opus", .input = 10, .output = 7, .cost = 0.75});
  listener().on_usage({.id = "b", .model = "sonnet", .input = 5, .output = 2, .cache_read = 100});
  const auto usage = member("usage");
  EXPECT_EQ(integer_member(usage, "input"), 15);
  EXPECT_EQ(integer_member(usage, "output"), 9);
  EXPECT_EQ(integer_member(usage, "cacheRead"), 100);
  EXPECT_EQ(string_member(usage, "source"), "transcript");
  EXPECT_EQ(string_member(usage, "model"), "sonnet");
  EXPECT_DOUBLE_EQ(usage.at("cost").as_double(), 0.75);
}

TEST_F(AdapterBridgeTest, TotalUsageOutlivesEntries) {
  adapter->can.usage = "transcript";
  for (std::size_t i = 0; i < 3 * kMaxUsageEntries; ++i)
    listener().on_usage({.id = format("a{}", i), .model = "opus", .input = 1});
  EXPECT_EQ(integer_member(member("usage"), "input"), static_cast<std::int64_t>(3 * kMaxUsageEntries));
}

TEST_F(AdapterBridgeTest, UsageAfterExitIsCounted) {
  adapter->can.usage = "transcript";
  listener().on_usage({.id = "a", .model = "opus", .input = 10});
  bridge->on_agent_exit();
  listener().on_usage({.id = "b", .model = "opus", .input = 5});
  EXPECT_EQ(integer_member(member("usage"), "input"), 15);
  EXPECT_EQ(string_member(member("usage"), "source"), "transcript");
}

TEST_F(AdapterBridgeTest, PromptBlocksUntilClosed) {
  EXPECT_FALSE(bridge->reported_state());
  listener().on_prompt(permission("p1"));
  ASSERT_TRUE(bridge->reported_state());
  EXPECT_EQ(bridge->reported_state()->state, profiles::State::Blocked);
  EXPECT_EQ(bridge->reported_state()->detail, "asks: Bash: make");
  EXPECT_EQ(bridge->reported_state()->via, adapters::via::kHook) << "not the interface of its state";
  EXPECT_TRUE(answer({.prompt = "p1"}));
  EXPECT_EQ(adapter->answered, Texts{"p1"});
  listener().on_prompt_closed("p1", {.by = "hook"});
  listener().on_prompt_closed("p1", {.by = "user"});
  EXPECT_FALSE(bridge->reported_state());
  EXPECT_EQ(
      client_events,
      (Texts{
          R"({"event":"prompt","id":"p1","requestId":"h-p1","kind":"permission","tool":"Bash","summary":"Bash: make","input":"{}",)"
          R"("via":"hook"})",
          R"({"event":"prompt-closed","id":"p1","by":"hook"})"}));
  EXPECT_EQ(changes, 2);
  const auto late = answer({.prompt = "p1"});
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().message().starts_with("that prompt is not open any more"));
  EXPECT_EQ(adapter->answered.size(), 1U);
}

TEST_F(AdapterBridgeTest, FailedAnswerIsNotRecorded) {
  listener().on_prompt(permission("p1"));
  adapter->outcome = fail(protocol::NackCode::Busy, "its server does not answer");
  const auto failed = answer({.prompt = "p1", .by = "policy"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(protocol::nack_code_of(failed.error()), protocol::NackCode::Busy);
  adapter->outcome = fail("two answers are required");
  EXPECT_EQ(protocol::nack_code_of(answer({.prompt = "p1"}).error()), protocol::NackCode::BadRequest);
  listener().on_prompt_closed("p1", {.by = "user", .decision = adapters::PromptAnswer::Decision::Approve});
  EXPECT_EQ(std::get<events::PermissionResolved>(agent_events.back()).resolved_by, "human");
}

TEST_F(AdapterBridgeTest, ResolutionNamesClient) {
  listener().on_prompt(permission("p1"));
  listener().on_prompt(permission("p2"));
  EXPECT_EQ(bridge->requests().size(), 2U);
  EXPECT_TRUE(
      answer({.prompt = "h-p1", .reply = {.decision = adapters::PromptAnswer::Decision::Deny}, .by = "policy"}));
  EXPECT_EQ(adapter->answered, Texts{"p1"}) << "by either name";
  listener().on_prompt_closed("p1", {.by = "hook"});
  listener().on_prompt_closed("p2", {.by = "user", .decision = adapters::PromptAnswer::Decision::Approve});
  ASSERT_EQ(agent_events.size(), 4U);
  const auto& denied = std::get<events::PermissionResolved>(agent_events[2]);
  EXPECT_EQ(denied.request_id, "h-p1");
  EXPECT_EQ(denied.resolution, events::Resolution::Denied);
  EXPECT_EQ(denied.resolved_by, "policy");
  EXPECT_EQ(std::get<events::PermissionResolved>(agent_events[3]).resolved_by, "human");
  EXPECT_TRUE(bridge->requests().empty());
}

TEST_F(AdapterBridgeTest, ExitClosesPrompts) {
  listener().on_prompt(permission("p1"));
  bridge->on_agent_exit();
  bridge->on_agent_exit();
  ASSERT_EQ(agent_events.size(), 2U);
  EXPECT_EQ(std::get<events::PermissionResolved>(agent_events[1]).resolution, events::Resolution::Withdrawn);
}

TEST_F(AdapterBridgeTest, QuestionListsChoices) {
  auto prompt = permission("p1");
  prompt.kind = adapters::PromptKind::Question;
  prompt.questions = {{.text = "Which?", .choices = {"red", "blue"}, .multiple = true}};
  listener().on_prompt(prompt);
  text::JsonWriter out;
  bridge->describe_prompts(out, 5'000);
  const auto all = *parse_json_object(out.take());
  const auto& shown = array_member(all, "prompts")->at(0).as_object();
  EXPECT_EQ(json::serialize(*shown.if_contains("questions")),
            R"([{"text":"Which?","multiple":true,"choices":["red","blue"]}])");
  EXPECT_LE(integer_member(shown, "since"), 5'000);
}

TEST_F(AdapterBridgeTest, FloodOfPromptsIsBoundedAndReported) {
  for (std::size_t i = 0; i < kMaxOpenPrompts + 2; ++i) listener().on_prompt(permission(format("p{}", i)));
  text::JsonWriter out;
  bridge->describe_prompts(out, 0);
  EXPECT_EQ(array_member(*parse_json_object(out.take()), "prompts")->size(), kMaxOpenPrompts);
  EXPECT_EQ(
      std::ranges::count(client_events, R"({"event":"prompt-closed","id":"p0","by":"nobody: too many are open"})"), 1);
  EXPECT_EQ(
      std::ranges::count(client_events, R"({"event":"prompt-closed","id":"p1","by":"nobody: too many are open"})"), 1);
  EXPECT_FALSE(answer({.prompt = "p0"}));
}

TEST_F(AdapterBridgeTest, ReportsFailedInterfaceUntilRecovery) {
  listener().on_interface_failed("hook", "turned off");
  listener().on_interface_failed("inbox", "connection refused");
  listener().on_interface_failed("hook", "turned off in its settings");
  EXPECT_NE(describe().find(R"("failedInterfaces":[{"via":"inbox","reason":"connection refused"},)"
                            R"({"via":"hook","reason":"turned off in its settings"}])"),
            std::string::npos)
      << describe();
  EXPECT_EQ(changes, 3);
  listener().on_interface_recovered("hook");
  listener().on_interface_recovered("inbox");
  EXPECT_EQ(describe().find("failedInterfaces"), std::string::npos);
  for (std::size_t i = 0; i < 3 * kMaxFailedInterfaces; ++i)
    listener().on_interface_failed(format("interface {}", i), "x");
  EXPECT_EQ(array_member(*parse_json_object(describe()), "failedInterfaces")->size(), kMaxFailedInterfaces);
}

TEST_F(AdapterBridgeTest, KeepsTheLastFailure) {
  listener().on_failure("one", "hook");
  listener().on_failure("You have hit your limit", "transcript");
  EXPECT_NE(describe().find(R"("lastFailure":"You have hit your limit")"), std::string::npos);
}

TEST_F(AdapterBridgeTest, WithoutAdapterNothingIsSupported) {
  start(nullptr);
  EXPECT_FALSE(bridge->reported_state());
  EXPECT_EQ(bridge->capabilities().output, "");
  bool replied = false;
  bridge->on_hook({}, 1, [&](const hooks::HookResponse& answer) { replied = answer == hooks::HookResponse{}; });
  EXPECT_EQ(bridge->delivery_target(), nullptr);
  EXPECT_TRUE(replied);
  EXPECT_FALSE(answer({.prompt = "p1"}));
}

}  // namespace
}  // namespace relay::host
