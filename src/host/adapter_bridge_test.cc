#include "host/adapter_bridge.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

using adapters::DeliveryTiming;
using protocol::DeliveryMode;
using Texts = std::vector<std::string>;

/// Doors that do what the test says.
struct FakeAdapter final : adapters::Adapter {
  void prepare(pty::Command&, const adapters::LaunchContext&) override {}
  void start(adapters::Listener& told, pid_t) override { listener = &told; }
  adapters::NativeCapabilities capabilities() const override { return can; }
  void deliver(const adapters::NativeDelivery&, OnAccepted done) override { done({}); }
  void answer(const std::string& prompt, const adapters::PromptAnswer&, OnAnswered done) override {
    answered.push_back(prompt);
    done(std::exchange(outcome, {}));
  }

  adapters::Listener* listener = nullptr;
  std::optional<adapters::ReportedState> reported_state() const override { return knows; }

  adapters::NativeCapabilities can;
  std::optional<adapters::ReportedState> knows = {};
  Texts answered;
  Result<void> outcome = {};  // of the next answer
};

struct AdapterBridgeTest : ::testing::Test, AdapterBridgeListener {
  net::AsioLoop loop;
  FakeAdapter* doors = nullptr;
  std::unique_ptr<AdapterBridge> side;
  Texts heard, given, events;
  std::vector<events::Event> happened;
  int changes = 0;

  Result<void> answer(const AnswerPrompt& wish) const {
    Result<void> outcome = fail("it was not told");
    side->answer(wish, [&](const Result<void>& told) { outcome = told; });
    return outcome;
  }

  void SetUp() override {
    auto made = std::make_unique<FakeAdapter>();
    doors = made.get();
    side = std::make_unique<AdapterBridge>(std::move(made), *this, "h");
    side->start(loop, 1);
  }
  void on_assistant_text(std::string_view markdown) override { heard.emplace_back(markdown); }
  void on_returned(const std::vector<std::string>&, std::string_view) override {}
  void on_model_input(std::string_view text, std::string_view way, std::string_view id) override {
    given.push_back(format("{} by {} {}", text, way, id));
  }
  void on_changed() override { ++changes; }
  void on_client_event(const std::string& event) override { events.push_back(event); }
  void on_agent_event(events::Event event, WallMs) override { happened.push_back(std::move(event)); }
  std::string take_pending(DeliveryMode mode, std::size_t max_bytes) override {
    return format("{} {}", protocol::name_of(mode), max_bytes);
  }

  adapters::Listener& told() { return *doors->listener; }
  std::string described() {
    text::JsonWriter out;
    side->describe(out);
    return out.take();
  }
  json::object member(std::string_view name) {
    const auto all = parse_json_object(described());
    const auto* found = all ? object_member(*all, name) : nullptr;
    return found ? *found : json::object{};
  }
};

TEST_F(AdapterBridgeTest, IdleAgentIsNoEmptyEvidence) {
  doors->knows = adapters::ReportedState{profiles::State::Idle, {}};
  EXPECT_EQ(side->reported_state()->says, "idle");
  doors->knows = adapters::ReportedState{profiles::State::Working, "retry in 5 s"};
  EXPECT_EQ(side->reported_state()->says, "retry in 5 s");
}

adapters::Prompt permission(std::string id) {
  return {.id = std::move(id), .tool = "Bash", .summary = "Bash: make", .input = "{}", .via = adapters::way::kHook};
}

TEST_F(AdapterBridgeTest, PassesReportsOfAdapter) {
  told().on_assistant_text("@relay:Bob hi", "transcript");
  told().on_model_input("hello", "hook", "UserPromptSubmit");
  EXPECT_EQ(heard, Texts{"@relay:Bob hi"});
  EXPECT_EQ(given, Texts{"hello by hook UserPromptSubmit"});
  EXPECT_EQ(told().take_pending(DeliveryMode::NextMessage, 9), "next-message 9");
  EXPECT_EQ(side->delivery_target(), doors);
}

TEST_F(AdapterBridgeTest, NamesInterfaceOfEachTask) {
  EXPECT_EQ(side->capability_codes(),
            R"({"output":"screen","state":"screen","prompts":"","usage":"",)"
            R"("delivery":{"immediate":"pty","on-idle":"pty","manual":"fetch"},"proof":"seen"})");
  doors->can = {.output = "transcript", .state = "hook", .prompts = "hook", .usage = "transcript"};
  doors->can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, "inbox"};
  doors->can.by(DeliveryMode::NextMessage) = {DeliveryTiming::Asked, "hook"};
  EXPECT_EQ(
      side->capability_codes(),
      R"({"output":"transcript","state":"hook","prompts":"hook","usage":"transcript",)"
      R"("delivery":{"immediate":"pty","next-message":"hook","on-idle":"inbox","manual":"fetch"},"proof":"seen"})");
  side->on_agent_exit();
  EXPECT_EQ(side->capabilities().output, "") << "an agent that has ended can do nothing";
}

TEST_F(AdapterBridgeTest, OffersNothingTypedWithoutATerminal) {
  AdapterBridge headless{nullptr, *this, "h", profiles::DialogKeys::None, {}, false};
  EXPECT_EQ(
      headless.capability_codes(),
      R"({"terminal":false,"output":"","state":"","prompts":"","usage":"","delivery":{"manual":"fetch"},"proof":"submitted"})");
  EXPECT_FALSE(headless.modes().has(DeliveryMode::OnIdle));
  EXPECT_TRUE(headless.modes().has(DeliveryMode::Manual));
  AdapterBridge unprofiled{nullptr, *this, "h", profiles::DialogKeys::None,
                           FallbackInterfaces{.hear = adapters::way::kLines, .speak = adapters::way::kInboxFile}};
  EXPECT_NE(unprofiled.capability_codes().find(R"("proof":"accepted")"), std::string::npos)
      << "nothing is typed into it";
}

TEST_F(AdapterBridgeTest, OffersSupportedModes) {
  const auto offered = [&] {
    Texts names;
    for (const auto mode : protocol::kDeliveryModes)
      if (side->modes().has(mode)) names.emplace_back(protocol::name_of(mode));
    return names;
  };
  EXPECT_EQ(offered(), (Texts{"immediate", "on-idle", "manual"})) << "typed, or kept";
  doors->can.by(DeliveryMode::NextMessage) = {DeliveryTiming::Asked, "hook"};
  doors->can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::Asked, "hook"};
  EXPECT_EQ(offered().size(), 5U);
  doors->can.by(DeliveryMode::NextToolCall) = {};
  EXPECT_EQ(offered(), (Texts{"immediate", "next-message", "on-idle", "manual"})) << "a way that broke";
}

TEST_F(AdapterBridgeTest, CountsUsageOfAnswerOnce) {
  doors->can.usage = "transcript";
  EXPECT_TRUE(member("usage").empty());
  told().on_usage({.id = "a", .model = "opus", .input = 10, .output = 1, .cost = 0.5});
  told().on_usage({.id = "a", .model = "opus", .input = 10, .output = 7, .cost = 0.75});
  told().on_usage({.id = "b", .model = "sonnet", .input = 5, .output = 2, .cache_read = 100});
  const auto usage = member("usage");
  EXPECT_EQ(integer_member(usage, "input"), 15);
  EXPECT_EQ(integer_member(usage, "output"), 9);
  EXPECT_EQ(integer_member(usage, "cacheRead"), 100);
  EXPECT_EQ(string_member(usage, "source"), "transcript");
  EXPECT_EQ(string_member(usage, "model"), "sonnet");
  EXPECT_DOUBLE_EQ(usage.at("cost").as_double(), 0.75);
}

TEST_F(AdapterBridgeTest, TotalUsageOutlivesEntries) {
  doors->can.usage = "transcript";
  for (std::size_t i = 0; i < 3 * kMaxCountedAnswers; ++i)
    told().on_usage({.id = format("a{}", i), .model = "opus", .input = 1});
  EXPECT_EQ(integer_member(member("usage"), "input"), static_cast<std::int64_t>(3 * kMaxCountedAnswers));
}

TEST_F(AdapterBridgeTest, UsageAfterExitIsCounted) {
  doors->can.usage = "transcript";
  told().on_usage({.id = "a", .model = "opus", .input = 10});
  side->on_agent_exit();
  told().on_usage({.id = "b", .model = "opus", .input = 5});
  EXPECT_EQ(integer_member(member("usage"), "input"), 15);
  EXPECT_EQ(string_member(member("usage"), "source"), "transcript");
}

TEST_F(AdapterBridgeTest, PromptBlocksUntilClosed) {
  EXPECT_FALSE(side->reported_state());
  told().on_prompt(permission("p1"));
  ASSERT_TRUE(side->reported_state());
  EXPECT_EQ(side->reported_state()->state, profiles::State::Blocked);
  EXPECT_EQ(side->reported_state()->says, "asks: Bash: make");
  EXPECT_EQ(side->reported_state()->via, adapters::way::kHook) << "not what else is known of it";
  EXPECT_TRUE(answer({.prompt = "p1"}));
  EXPECT_EQ(doors->answered, Texts{"p1"});
  told().on_prompt_closed("p1", {.by = "hook"});
  told().on_prompt_closed("p1", {.by = "user"});
  EXPECT_FALSE(side->reported_state());
  EXPECT_EQ(
      events,
      (Texts{
          R"({"event":"prompt","id":"p1","requestId":"h-p1","kind":"permission","tool":"Bash","summary":"Bash: make","input":"{}",)"
          R"("via":"hook"})",
          R"({"event":"prompt-closed","id":"p1","by":"hook"})"}));
  EXPECT_EQ(changes, 2);
  const auto late = answer({.prompt = "p1"});
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().message().starts_with("that prompt is not open any more"));
  EXPECT_EQ(doors->answered.size(), 1U);
}

TEST_F(AdapterBridgeTest, FailedAnswerIsNotRecorded) {
  told().on_prompt(permission("p1"));
  doors->outcome = fail(protocol::NackCode::Busy, "its server does not answer");
  const auto lost = answer({.prompt = "p1", .by = "policy"});
  ASSERT_FALSE(lost);
  EXPECT_EQ(protocol::nack_code_of(lost.error()), protocol::NackCode::Busy);
  doors->outcome = fail("it asks two");
  EXPECT_EQ(protocol::nack_code_of(answer({.prompt = "p1"}).error()), protocol::NackCode::BadRequest);
  told().on_prompt_closed("p1", {.by = "user", .verdict = adapters::PromptAnswer::Decision::Allow});
  EXPECT_EQ(std::get<events::PermissionResolved>(happened.back()).resolved_by, "human");
}

TEST_F(AdapterBridgeTest, ResolutionNamesClient) {
  told().on_prompt(permission("p1"));
  told().on_prompt(permission("p2"));
  EXPECT_EQ(side->requests().size(), 2U);
  EXPECT_TRUE(answer({.prompt = "h-p1", .reply = {.verdict = adapters::PromptAnswer::Decision::Deny}, .by = "policy"}));
  EXPECT_EQ(doors->answered, Texts{"p1"}) << "by either name";
  told().on_prompt_closed("p1", {.by = "hook"});
  told().on_prompt_closed("p2", {.by = "user", .verdict = adapters::PromptAnswer::Decision::Allow});
  ASSERT_EQ(happened.size(), 4U);
  const auto& denied = std::get<events::PermissionResolved>(happened[2]);
  EXPECT_EQ(denied.request_id, "h-p1");
  EXPECT_EQ(denied.resolution, events::Resolution::Denied);
  EXPECT_EQ(denied.resolved_by, "policy");
  EXPECT_EQ(std::get<events::PermissionResolved>(happened[3]).resolved_by, "human");
  EXPECT_TRUE(side->requests().empty());
}

TEST_F(AdapterBridgeTest, ExitClosesPrompts) {
  told().on_prompt(permission("p1"));
  side->on_agent_exit();
  side->on_agent_exit();
  ASSERT_EQ(happened.size(), 2U);
  EXPECT_EQ(std::get<events::PermissionResolved>(happened[1]).resolution, events::Resolution::Withdrawn);
}

TEST_F(AdapterBridgeTest, QuestionListsChoices) {
  auto prompt = permission("p1");
  prompt.kind = adapters::PromptKind::Question;
  prompt.questions = {{.text = "Which?", .choices = {"red", "blue"}, .several = true}};
  told().on_prompt(prompt);
  text::JsonWriter out;
  side->describe_prompts(out, 5'000);
  const auto all = *parse_json_object(out.take());
  const auto& shown = array_member(all, "prompts")->at(0).as_object();
  EXPECT_EQ(json::serialize(*shown.if_contains("questions")),
            R"([{"text":"Which?","multiple":true,"choices":["red","blue"]}])");
  EXPECT_LE(integer_member(shown, "since"), 5'000);
}

TEST_F(AdapterBridgeTest, FloodOfPromptsIsBoundedAndReported) {
  for (std::size_t i = 0; i < kMaxOpenPrompts + 2; ++i) told().on_prompt(permission(format("p{}", i)));
  text::JsonWriter out;
  side->describe_prompts(out, 0);
  EXPECT_EQ(array_member(*parse_json_object(out.take()), "prompts")->size(), kMaxOpenPrompts);
  EXPECT_EQ(std::ranges::count(events, R"({"event":"prompt-closed","id":"p0","by":"nobody: too many are open"})"), 1);
  EXPECT_EQ(std::ranges::count(events, R"({"event":"prompt-closed","id":"p1","by":"nobody: too many are open"})"), 1);
  EXPECT_FALSE(answer({.prompt = "p0"}));
}

TEST_F(AdapterBridgeTest, ReportsFailedInterfaceUntilRecovery) {
  told().on_interface_failed("hook", "turned off");
  told().on_interface_failed("inbox", "nobody listens");
  told().on_interface_failed("hook", "turned off in its settings");
  EXPECT_NE(described().find(R"("failedInterfaces":[{"via":"inbox","reason":"nobody listens"},)"
                             R"({"via":"hook","reason":"turned off in its settings"}])"),
            std::string::npos)
      << described();
  EXPECT_EQ(changes, 3);
  told().on_interface_recovered("hook");
  told().on_interface_recovered("inbox");
  EXPECT_EQ(described().find("failedInterfaces"), std::string::npos);
  for (std::size_t i = 0; i < 3 * kMaxBroken; ++i) told().on_interface_failed(format("way {}", i), "x");
  EXPECT_EQ(array_member(*parse_json_object(described()), "failedInterfaces")->size(), kMaxBroken);
}

TEST_F(AdapterBridgeTest, KeepsTheLastFailure) {
  told().on_failure("one", "hook");
  told().on_failure("You have hit your limit", "transcript");
  EXPECT_NE(described().find(R"("lastFailure":"You have hit your limit")"), std::string::npos);
}

TEST_F(AdapterBridgeTest, WithoutAdapterNothingIsSupported) {
  side = std::make_unique<AdapterBridge>(nullptr, *this, "h");
  side->start(loop, 1);
  EXPECT_FALSE(side->reported_state());
  EXPECT_EQ(side->capabilities().output, "");
  bool replied = false;
  side->on_hook({}, 1, [&](const hooks::HookResponse& answer) { replied = answer == hooks::HookResponse{}; });
  EXPECT_EQ(side->delivery_target(), nullptr);
  EXPECT_TRUE(replied);
  EXPECT_FALSE(answer({.prompt = "p1"}));
}

}  // namespace
}  // namespace relay::host
