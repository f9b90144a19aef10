#include "adapters/hook_adapter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "adapters/testing/hook_payloads.h"
#include "adapters/testing/recorder.h"
#include "base/format.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "text/iso_time.h"
#include "transcripts/testing/records.h"

namespace relay::adapters {
namespace {

using hooks::HookEventKind;
using net::testing::run_until;
using profiles::State;
using protocol::DeliveryMode;
using testing::hook_event;
using transcripts::testing::record_lines;
using Texts = std::vector<std::string>;

constexpr const char* kGreeted =
    "I'll send Bob a greeting.\n\n@relay:Bob hello from the scripted model\n\nWaiting for his answer.";

struct HookedAdapterTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  testing::Recorder told;
  std::unique_ptr<Adapter> adapter;
  pty::Command command;
  std::vector<hooks::HookResponse> answers;
  std::uint64_t calls = 0;

  void start(const std::string& agent, bool attended = true, const Texts& arguments = {}, pid_t pid = 1) {
    adapter = adapter_for(agent, loop);
    command = {.argv = {agent},
               .environment = {"HOME=" + place.path(), "PATH=/bin",
                               "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + place.file("none.json")},
               .directory = place.path()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    adapter->prepare(command, {.program = "/opt/relay/agent-relay",
                               .private_file = place.file("run.json"),
                               .instructions = "You may write to @relay:NAME.",
                               .attended = attended});
    adapter->start(told, pid);
  }
  /// The agent's hook comes to the door; what it was told, if it was told something at once.
  hooks::HookResponse call(hooks::HookEvent event) {
    const auto before = answers.size();
    adapter->on_hook(event, ++calls, [this](const hooks::HookResponse& answer) { answers.push_back(answer); });
    return answers.size() > before ? answers.back() : hooks::HookResponse{};
  }
  /// A real payload of that agent, but its record is ours.
  hooks::HookEvent event(const std::string& name, const std::string& record = "record.jsonl") {
    auto it = hook_event(name);
    it.transcript = place.file(record);
    return it;
  }
  /// A line as if it was written now.
  void write(const std::string& line, const std::string& record = "record.jsonl") {
    write_as_it_is(std::regex_replace(line, std::regex{R"("timestamp": *"[^"]*")"},
                                      format(R"("timestamp":"{}")", text::format_iso_time(loop.now().wall))),
                   record);
  }
  void write_as_it_is(const std::string& line, const std::string& record = "record.jsonl") {
    std::ofstream{place.file(record), std::ios::app} << line << '\n';
  }
  bool until(const std::function<bool()>& check) { return run_until(loop, check); }
  bool heard(std::size_t count) {
    return until([&] { return told.heard.size() >= count; });
  }
  /// Enough for a line that is wrongly heard to be heard.
  void settle() {
    bool later = false;
    const auto after = loop.after(Millis{20}, [&] { later = true; });
    ASSERT_TRUE(until([&] { return later; }));
  }
};

struct Spoken {
  const char *agent, *start, *prompt, *record;
};
void PrintTo(const Spoken& spoken, std::ostream* out) { *out << spoken.agent; }
struct EveryHookedAgent : HookedAdapterTest, ::testing::WithParamInterface<Spoken> {};

TEST_P(EveryHookedAgent, HearsEachTextOnceSeesWhatWasGivenAndCounts) {
  const auto [agent, start_event, prompt, record] = GetParam();
  start(agent);
  const auto broken = told.broken;  // Gemini's hooks, where others could write the file that names them
  EXPECT_TRUE(broken.empty() || agent == std::string_view{"gemini"});
  EXPECT_EQ(adapter->capabilities().output, "");
  call(event(start_event));
  EXPECT_EQ(adapter->capabilities().output, way::kTranscript);
  EXPECT_EQ(adapter->capabilities().usage, way::kTranscript);
  call(event(prompt));
  EXPECT_EQ(told.given, Texts{hook_event(prompt).prompt});
  for (const auto& line : record_lines(record)) write(line);
  ASSERT_TRUE(heard(5));
  settle();
  ASSERT_EQ(told.heard.size(), 5U);
  EXPECT_EQ(std::ranges::count_if(told.happened,
                                  [](const auto& each) {
                                    const auto* started = std::get_if<events::ItemStarted>(&each.first);
                                    return started != nullptr && started->item_type == events::ItemType::Message;
                                  }),
            5);
  EXPECT_EQ(told.heard[0], kGreeted);
  EXPECT_NE(told.heard[2].find("```text\n@relay:Bob this is only an example"), std::string::npos)
      << "raw, fences and all";
  for (const auto* given : {"please greet bob", "report at length", "tell everyone"})
    EXPECT_EQ(std::ranges::count(told.given, given), given == hook_event(prompt).prompt ? 2 : 1) << given;
  std::set<std::string> ids;
  for (const auto& usage : told.usage) ids.insert(usage.id);
  EXPECT_EQ(ids.size(), 5U) << "one per answer of the model";
  EXPECT_EQ(told.broken, broken);
}

TEST_P(EveryHookedAgent, DoesNotHearWhatStoodThereBefore) {
  const auto [agent, start_event, prompt, record] = GetParam();
  start(agent);
  const auto lines = record_lines(record);
  const auto half = lines.size() / 2;
  for (std::size_t i = 0; i < half; ++i) write(lines[i]);
  call(event(start_event));
  settle();
  EXPECT_TRUE(told.heard.empty());
  EXPECT_TRUE(told.usage.empty());
  EXPECT_TRUE(told.happened.empty());
  for (std::size_t i = half; i < lines.size(); ++i) write(lines[i]);
  ASSERT_TRUE(until([&] { return !told.heard.empty() && told.heard.back().starts_with("I'll tell both of them"); }));
  EXPECT_LT(told.heard.size(), 5U);
}

TEST_P(EveryHookedAgent, RecordThatWasRemovedIsToldAndHeardAgainWhenItIsBack) {
  const auto [agent, start_event, prompt, record] = GetParam();
  start(agent);
  call(event(start_event));
  call(event(prompt));
  const auto lines = record_lines(record);
  for (const auto& line : lines) write(line);
  ASSERT_TRUE(heard(5));
  settle();
  const auto told_before = told.heard;
  std::filesystem::remove(place.file("record.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output.empty(); })) << "its screen is heard meanwhile";
  EXPECT_EQ(told.broken.back(), format("transcript: its record {} was removed", place.file("record.jsonl")));
  auto inner = event(start_event, "inner.jsonl");
  inner.session = "another";
  inner.reason = "startup";
  if (agent != std::string_view{"codex"}) call(inner);  // an agent inside it does not take its place
  for (const auto& line : lines) write(line);           // what it repeats was heard
  ASSERT_TRUE(until([&] { return adapter->capabilities().output == way::kTranscript; }));
  settle();
  EXPECT_EQ(told.mended.back(), "transcript");
  EXPECT_EQ(told.heard, told_before);
}

TEST_P(EveryHookedAgent, RecordThatIsMovedAwayAndBackDoesNotRepeatWhatTheScreenSaid) {
  const auto [agent, start_event, prompt, record] = GetParam();
  start(agent);
  call(event(start_event));
  const auto lines = record_lines(record);
  const auto half = lines.size() / 2;
  const auto last = static_cast<std::size_t>(
      std::ranges::find_if(lines, [](const auto& line) { return line.contains("tell both of them"); }) - lines.begin());
  ASSERT_LT(half, last);
  for (std::size_t i = 0; i < half; ++i) write(lines[i]);
  ASSERT_TRUE(heard(1));
  settle();
  const auto told_before = told.heard;
  const auto given_before = told.given.size();
  std::filesystem::rename(place.file("record.jsonl"), place.file("away.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output.empty(); }));
  adapter->on_state(State::Working);
  for (std::size_t i = half; i < last; ++i) write(lines[i], "away.jsonl");  // it has the file open
  adapter->on_state(State::Idle);                                           // heard on the screen
  std::filesystem::rename(place.file("away.jsonl"), place.file("record.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output == way::kTranscript; }));
  settle();
  EXPECT_EQ(told.heard, told_before);
  EXPECT_GT(told.given.size(), given_before) << "what was typed meanwhile is seen";
  const auto rested = loop.now().wall;
  ASSERT_TRUE(until([&] { return loop.now().wall > rested; }));
  for (std::size_t i = last; i < lines.size(); ++i) write(lines[i]);
  ASSERT_TRUE(heard(told_before.size() + 1)) << "the next turn is heard in the record";
}

INSTANTIATE_TEST_SUITE_P(
    Agents, EveryHookedAgent,
    ::testing::Values(Spoken{"claude", "claude/SessionStart-startup", "claude/UserPromptSubmit", "claude-fence.jsonl"},
                      Spoken{"codex", "codex/SessionStart-startup", "codex/UserPromptSubmit", "codex-fence.jsonl"},
                      Spoken{"gemini", "gemini/SessionStart-startup", "gemini/BeforeAgent", "gemini-fence.jsonl"}),
    [](const auto& each) { return std::string{each.param.agent}; });

TEST_F(HookedAdapterTest, WhatWasBegunEndsWithTheAgent) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  for (const auto& line : record_lines("claude-tool.jsonl")) {
    if (line.find("tool_result") != std::string::npos) break;
    write(line);
  }
  const auto is_open = [&] {
    const auto* delta = told.happened.empty() ? nullptr : std::get_if<events::ItemDelta>(&told.happened.back().first);
    return delta != nullptr && delta->delta.type == events::DeltaType::ToolInput;
  };
  ASSERT_TRUE(until(is_open));
  adapter->on_agent_exit();
  const auto& completed = std::get<events::ItemCompleted>(told.happened.back().first);
  EXPECT_EQ(json::serialize(*completed.result), R"({"failed":true,"reason":"the agent has ended"})");
}

TEST_F(HookedAdapterTest, PiecesThatClaudeDisplaysAreDeltasBeforeItsTranscriptHasTheWhole) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  call(event("claude/UserPromptSubmit"));
  write(record_lines("claude-fence.jsonl")[0]);
  ASSERT_TRUE(until([&] { return std::ranges::count(told.given, "please greet bob") == 2; })) << "hook and transcript";
  told.happened.clear();
  Texts items, deltas;
  const auto read_events = [&] {
    items.clear();
    deltas.clear();
    for (const auto& [happened, at] : told.happened) {
      if (const auto* started = std::get_if<events::ItemStarted>(&happened)) items.push_back(started->item_id);
      const auto* delta = std::get_if<events::ItemDelta>(&happened);
      if (delta == nullptr) continue;
      EXPECT_EQ(items, Texts{delta->item_id});
      EXPECT_EQ(delta->delta.type, events::DeltaType::Text);
      deltas.push_back(delta->delta.content);
    }
  };
  EXPECT_EQ(call(event("claude/MessageDisplay-final")), hooks::HookResponse{});
  EXPECT_TRUE(told.happened.empty()) << "the piece before it has not come yet";
  for (int time = 0; time < 2; ++time) {
    call(event("claude/MessageDisplay-delta"));
    read_events();
    EXPECT_EQ(deltas, (Texts{"I'll send Bob a greeting.\n\n", "@relay:Bob hello from the scripted model\n\n"}));
  }
  EXPECT_TRUE(told.heard.empty()) << "the transcript has the whole";
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(heard(1));
  read_events();
  EXPECT_EQ(items.size(), 1U) << "one item, whichever source was first";
  EXPECT_EQ(deltas, (Texts{"I'll send Bob a greeting.\n\n", "@relay:Bob hello from the scripted model\n\n",
                           "Waiting for his answer."}));
  Texts completed;
  for (const auto& [happened, at] : told.happened)
    if (const auto* each = std::get_if<events::ItemCompleted>(&happened)) completed.push_back(each->item_id);
  EXPECT_EQ(completed, items);
  EXPECT_EQ(told.heard, Texts{kGreeted});
}

TEST_F(HookedAdapterTest, PieceThatWasCutIsNoDelta) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  auto cut = event("claude/MessageDisplay-delta");
  cut.text_cut = true;
  call(cut);
  EXPECT_TRUE(told.happened.empty());
}

TEST_F(HookedAdapterTest, GoesOverToAnotherRecordWhenTheSessionIsCleared) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  auto cleared = event("claude/SessionStart-startup", "two.jsonl");
  cleared.session = "another";
  cleared.reason = "clear";
  call(cleared);
  write(record_lines("claude-fence.jsonl")[4], "one.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "two.jsonl");
  ASSERT_TRUE(heard(1));
  settle();
  EXPECT_EQ(told.heard, Texts{kGreeted});
}

TEST_F(HookedAdapterTest, WhatWasCopiedFromAnOlderSessionIsNotHeard) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  write_as_it_is(record_lines("claude-fence.jsonl")[4]);  // `--fork-session` copies the history into the new record
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(heard(1));
  settle();
  EXPECT_EQ(told.heard, Texts{kGreeted});
}

TEST_F(HookedAdapterTest, ALateHookOfAnotherSessionNamesNoRecord) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  auto stranger = event("claude/Stop", "other.jsonl");
  stranger.session = "another";
  call(stranger);
  write(record_lines("claude-fence.jsonl")[4], "other.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "one.jsonl");
  ASSERT_TRUE(heard(1));
  settle();
  EXPECT_EQ(told.heard, Texts{kGreeted});
}

TEST_F(HookedAdapterTest, AnAgentOfTheSameKindInsideOursGetsNothingOfOurs) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  told.waiting = {{DeliveryMode::NextMessage, "for ours"}};
  for (const auto* name : {"claude/SessionStart-startup", "claude/UserPromptSubmit"}) {
    auto inner = event(name, "inner.jsonl");
    inner.session = "another";
    EXPECT_EQ(call(inner).context, "") << name;
  }
  write(record_lines("claude-fence.jsonl")[4], "inner.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "one.jsonl");
  ASSERT_TRUE(heard(1));
  settle();
  EXPECT_EQ(told.heard, Texts{kGreeted});
  EXPECT_EQ(call(event("claude/UserPromptSubmit", "one.jsonl")).context, "for ours");
}

TEST_F(HookedAdapterTest, WordsAreTakenByTheHookTheyWaitFor) {
  start("claude");
  told.waiting = {{DeliveryMode::NextMessage, "with the next message"},
                  {DeliveryMode::NextToolCall, "with the next tool"},
                  {DeliveryMode::OnIdle, "not by a hook"}};
  for (const auto* other : {"claude/SessionStart-startup", "claude/PreToolUse-Bash", "claude/Stop",
                            "claude/Notification-idle_prompt", "claude/SessionEnd-other"})
    EXPECT_EQ(call(event(other)), hooks::HookResponse{}) << other;
  EXPECT_EQ(call(event("claude/PostToolUse-Bash")).context, "with the next tool");
  EXPECT_EQ(call(event("claude/UserPromptSubmit")).context, "with the next message");
  EXPECT_EQ(call(event("claude/UserPromptSubmit")).context, "") << "once";
  EXPECT_EQ(told.waiting[DeliveryMode::OnIdle], "not by a hook");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextMessage).moment, DeliveryTiming::Asked);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextToolCall).moment, DeliveryTiming::Asked);
}

TEST_F(HookedAdapterTest, ASubagentTakesNothingAndNamesNoRecord) {
  start("claude");
  told.waiting = {{DeliveryMode::NextMessage, "m"}, {DeliveryMode::NextToolCall, "t"}};
  for (const auto* name : {"claude/UserPromptSubmit", "claude/PostToolUse-Bash", "claude/SessionStart-startup"}) {
    auto sub = event(name, "sub.jsonl");
    sub.subagent = "agent-7";
    EXPECT_EQ(call(sub), hooks::HookResponse{}) << name;
  }
  EXPECT_EQ(answers.size(), 3U) << "each is answered, with nothing";
  EXPECT_TRUE(told.given.empty());
  EXPECT_EQ(adapter->capabilities().output, "");
  EXPECT_EQ(told.waiting[DeliveryMode::NextToolCall], "t");
}

TEST_F(HookedAdapterTest, TellsTheFailureThatEndedATurn) {
  start("claude");
  const auto failed = event("claude/StopFailure-rate_limit");
  EXPECT_EQ(call(failed), hooks::HookResponse{});
  EXPECT_EQ(told.failures, Texts{failed.text});
}

TEST_F(HookedAdapterTest, WhatAHookAddedIsToldOnceAsItStandsThere) {
  start("gemini");
  call(event("gemini/SessionStart-startup"));
  write(R"({"id":"a","timestamp":"2026-11-15T19:59:07.696Z","type":"user","content":[{"text":"go on"},)"
        R"({"text":"<hook_context>a &lt;b&gt; &amp; c</hook_context>"}]})");
  ASSERT_TRUE(until([&] { return std::ranges::find(told.given, "a &lt;b&gt; &amp; c") != told.given.end(); }));
  EXPECT_EQ(told.given, (Texts{"go on", "a &lt;b&gt; &amp; c"})) << "one record, one proof";
}

TEST_F(HookedAdapterTest, OneLineLeftOutDoesNotBreakTheRecord) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  write(std::string(transcripts::kMaxLine + 1, 'x'));
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(heard(1));
  EXPECT_EQ(told.heard, Texts{kGreeted});
  EXPECT_TRUE(told.broken.empty());
  EXPECT_EQ(adapter->capabilities().output, way::kTranscript);
}

TEST_F(HookedAdapterTest, WithoutHooksItSaysWhyAndPromisesNothing) {
  start("claude", true, {"--bare"});
  ASSERT_EQ(told.broken.size(), 1U);
  EXPECT_TRUE(told.broken[0].starts_with("hook: ")) << told.broken[0];
  EXPECT_GT(told.broken[0].size(), std::string{"hook: "}.size());
  EXPECT_EQ(command.argv, (Texts{"claude", "--bare"}));
  const auto can = adapter->capabilities();
  EXPECT_EQ(can.prompts, "");
  EXPECT_EQ(can.by(DeliveryMode::NextMessage).moment, DeliveryTiming::Never);
  adapter->on_state(State::Idle);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_EQ(told.broken.size(), 1U) << "said once";
}

TEST_F(HookedAdapterTest, AWholeTurnWithoutAHookBreaksTheWayAndALateHookMendsIt) {
  start("codex");
  adapter->on_state(State::Idle);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_TRUE(told.broken.empty()) << "its start looks like a turn";
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  ASSERT_EQ(told.broken.size(), 1U);
  EXPECT_NE(told.broken[0].find("does not call its hooks"), std::string::npos) << told.broken[0];
  EXPECT_EQ(adapter->capabilities().prompts, "");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextToolCall).moment, DeliveryTiming::Never);
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(told.mended, Texts{"hook"});
  EXPECT_EQ(adapter->capabilities().prompts, way::kHook);
}

TEST_F(HookedAdapterTest, AStartThatLooksLikeWorkIsNoTurn) {
  start("claude");
  adapter->on_state(State::Unknown);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_TRUE(told.broken.empty());
}

TEST_F(HookedAdapterTest, GeminiIsGreetedWithTheInstructions) {
  start("gemini");
  EXPECT_EQ(call(event("gemini/SessionStart-startup")).context, "You may write to @relay:NAME.");
  EXPECT_EQ(adapter->capabilities().prompts, "") << "its hooks cannot give a permission";
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).moment, DeliveryTiming::Never) << "it is typed to";
}

TEST_F(HookedAdapterTest, CodexForOnePromptIsHeardInTheRolloutItHasOpen) {
  const std::string rollout = ".codex/sessions/2026/11/18/rollout-2026-11-18T11-53-32-01a1ee81.jsonl";
  std::filesystem::create_directories(place.file(".codex/sessions/2026/11/18"));
  for (const auto& line : record_lines("codex-session.jsonl")) write_as_it_is(line, rollout);  // it is resumed
  start("codex", true, {"exec", "resume", "--last", "please greet bob"}, ::getpid());
  EXPECT_EQ(command.argv, (Texts{"codex", "exec", "resume", "--last", "please greet bob"}));
  EXPECT_TRUE(adapter->capabilities().hears_soon);
  for (const auto& line : record_lines("codex-fence.jsonl")) write(line, rollout);
  const std::ofstream open{place.file(rollout), std::ios::app};  // this process stands for the agent
  ASSERT_TRUE(heard(5)) << "what it wrote before its rollout was found counts";
  EXPECT_EQ(told.heard.size(), 5U);
  EXPECT_EQ(told.heard[0], kGreeted);
  EXPECT_EQ(adapter->capabilities().output, way::kTranscript);
  EXPECT_EQ(adapter->capabilities().state, "") << "it draws no status";
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate, DeliveryMode::NextMessage})
    EXPECT_EQ(adapter->capabilities().by(mode).moment, DeliveryTiming::Never) << "it ends after its turn";
  ASSERT_EQ(told.broken.size(), 1U);
  EXPECT_TRUE(told.broken[0].starts_with("hook: no hooks: ")) << told.broken[0];
}

TEST_F(HookedAdapterTest, GeminisRecordIsFoundWithoutHooks) {
  start("gemini");
  ASSERT_EQ(command.argv.size(), 3U);
  EXPECT_EQ(command.argv[1], "--session-id");
  const auto chats = ".gemini/tmp/proj/chats/";
  std::filesystem::create_directories(place.file(chats));
  adapter->on_state(State::Idle);
  EXPECT_EQ(adapter->capabilities().output, "") << "it begins a record with its first prompt";
  const auto record = format("{}session-2026-11-15T08-18-{}.jsonl", chats, command.argv[2].substr(0, 8));
  const auto lines = record_lines("gemini-fence.jsonl");
  write(lines[0], std::string{chats} + "session-2026-11-15T08-18-00000000.jsonl");
  write(lines[0], record);
  adapter->on_state(State::Working);
  EXPECT_EQ(adapter->capabilities().output, way::kTranscript);
  for (std::size_t i = 1; i < lines.size(); ++i) write(lines[i], record);
  ASSERT_TRUE(heard(5));
  EXPECT_EQ(told.heard[0], kGreeted);
}

TEST_F(HookedAdapterTest, ASessionThatThePersonChoseIsTheirs) {
  start("gemini", true, {"--resume", "latest"});
  EXPECT_EQ(command.argv, (Texts{"gemini", "--resume", "latest"}));
}

TEST_F(HookedAdapterTest, OthersAreNotGreeted) {
  for (const auto* agent : {"claude", "codex"}) {
    start(agent);
    EXPECT_EQ(call(event(std::string{agent} + "/SessionStart-startup")), hooks::HookResponse{}) << agent;
  }
}

TEST_F(HookedAdapterTest, CodexIsQueuedToFromItsFirstPromptOn) {
  start("codex");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).moment, DeliveryTiming::Never);
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, way::kQueue);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::Immediate).moment, DeliveryTiming::Never);
}

TEST_F(HookedAdapterTest, APermissionOfASubagentIsAskedToo) {
  start("claude");
  auto asks = event("claude/PermissionRequest-Bash");
  asks.subagent = "agent-7";
  call(asks);
  ASSERT_EQ(told.prompts.size(), 1U);
  adapter->answer(told.prompts[0].id, {.verdict = PromptAnswer::Decision::Allow},
                  [](const Result<void>& outcome) { ASSERT_TRUE(outcome); });
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = hooks::HookDecision::Allow}});
}

TEST_F(HookedAdapterTest, AnInboxThatIsGoneIsToldOnceAndNotOfferedInThatSession) {
  start("claude");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, way::kInbox);
  int failures = 0;
  for (int i = 0; i < 2; ++i)
    adapter->deliver({.delivery = "d", .text = "t"}, [&](const Result<void>& outcome) { failures += outcome ? 0 : 1; });
  EXPECT_EQ(failures, 2);
  ASSERT_EQ(told.broken.size(), 1U);
  EXPECT_TRUE(told.broken[0].starts_with("inbox: ")) << told.broken[0];
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).moment, DeliveryTiming::Never);
  call(event("claude/Stop"));
  EXPECT_TRUE(told.mended.empty());
  call(event("claude/SessionStart-startup"));
  EXPECT_EQ(told.mended, Texts{"inbox"}) << "a session that begins is tried anew";
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, way::kInbox);
}

TEST_F(HookedAdapterTest, AnotherAgentInsideOursIsNotTakenForIt) {
  start("claude");
  told.waiting = {{DeliveryMode::NextMessage, "m"}, {DeliveryMode::NextToolCall, "t"}};
  for (const auto* name : {"codex/SessionStart-startup", "codex/UserPromptSubmit", "codex/PostToolUse-Bash",
                           "codex/PermissionRequest-Bash"})
    EXPECT_EQ(call(event(name, "its.jsonl")), hooks::HookResponse{}) << name;
  EXPECT_EQ(answers.size(), 4U) << "it is not kept waiting";
  EXPECT_TRUE(told.given.empty());
  EXPECT_TRUE(told.prompts.empty());
  EXPECT_EQ(told.waiting[DeliveryMode::NextMessage], "m");
  EXPECT_EQ(adapter->capabilities().output, "");
}

TEST_F(HookedAdapterTest, CodexQueueIsNotUsedAfterAnInterruptedTurn) {
  start("codex");
  const auto interface = [&] { return adapter->capabilities().by(DeliveryMode::OnIdle).moment; };
  call(event("codex/SessionStart-startup"));
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(interface(), DeliveryTiming::AnyTime);
  const auto turn = [&](const char* type) {
    write(format(R"({{"timestamp":"","type":"event_msg","payload":{{"type":"{}","turn_id":"t1"}}}})", type));
  };
  turn("task_started");
  turn("turn_aborted");
  ASSERT_TRUE(until([&] { return interface() == DeliveryTiming::Never; }));
  turn("task_started");
  ASSERT_TRUE(until([&] { return interface() == DeliveryTiming::AnyTime; }));
  turn("task_complete");
  settle();
  EXPECT_EQ(interface(), DeliveryTiming::AnyTime);
}

/// This process stands for the agent: what it has open tells which thread is on the screen.
struct CodexThreadTest : HookedAdapterTest {
  const std::string second = "01a1f214-3782-7a21-91f1-65aa8afa5aeb";
  std::vector<std::ofstream> open;
  int opened = 0;

  void SetUp() override {
    std::filesystem::create_directories(place.file(".codex/thread-writer-locks"));
    start("codex", true, {}, ::getpid());
    show(hook_event("codex/SessionStart-startup").session);
    call(event("codex/SessionStart-startup"));
    call(event("codex/UserPromptSubmit"));
    adapter->on_state(State::Working);
    adapter->on_state(State::Idle);
  }
  void show(const std::string& thread) {
    const auto lock = place.file(".codex/thread-writer-locks/" + thread + ".lock");
    open.emplace_back(lock);
    std::filesystem::last_write_time(lock, std::filesystem::file_time_type{std::chrono::seconds{++opened}});
  }
  DeliveryTiming queue() const { return adapter->capabilities().by(DeliveryMode::OnIdle).moment; }
};

TEST_F(CodexThreadTest, MessageAfterNewDoesNotGoIntoTheAbandonedConversation) {
  EXPECT_EQ(queue(), DeliveryTiming::AnyTime);
  show(second);  // `/new`
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::Never) << "it is typed";
  auto started = event("codex/SessionStart-startup", "second.jsonl");
  started.session = second;
  call(started);  // the first prompt there
  EXPECT_EQ(queue(), DeliveryTiming::AnyTime);
}

TEST_F(CodexThreadTest, MessageThatIsHandedOverRightAfterNewIsGivenBack) {
  show(second);
  adapter->deliver({.delivery = "d1", .text = "hello"}, [](const Result<void>&) {});
  EXPECT_EQ(told.returned, Texts{"d1"});
  EXPECT_EQ(queue(), DeliveryTiming::Never);
}

TEST_F(CodexThreadTest, ThreadThatIsResumedIsQueuedToAgain) {
  show(second);
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::Never);
  show(hook_event("codex/SessionStart-startup").session);  // `/resume`, no prompt
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::AnyTime);
}

TEST_F(HookedAdapterTest, CodexShowsItsDialogAtOnceWhenNoRuleDecides) {
  start("codex");
  call(event("codex/PermissionRequest-Bash"));
  ASSERT_EQ(told.prompts.size(), 1U);
  ASSERT_TRUE(answers.empty());
  adapter->show_dialog(told.prompts[0].id);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}}) << "it shows nothing before its hook returns";
}

TEST_F(HookedAdapterTest, TheHookOfACodexWithoutAPersonStaysOpenForAnAnswerFromElsewhere) {
  start("codex", false);
  call(event("codex/PermissionRequest-Bash"));
  adapter->show_dialog(told.prompts.at(0).id);
  EXPECT_TRUE(answers.empty());
}

TEST_F(HookedAdapterTest, ClaudeShowsItsDialogBesideItsHook) {
  start("claude");
  call(event("claude/PermissionRequest-Bash"));
  adapter->show_dialog(told.prompts.at(0).id);
  EXPECT_TRUE(answers.empty()) << "it can still be answered from elsewhere";
}

}  // namespace
}  // namespace relay::adapters
