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

constexpr const char* kGreeting =
    "I'll send Bob a greeting.\n\n@relay:Bob hello from the scripted model\n\nWaiting for his answer.";

struct HookAdapterTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  net::AsioLoop loop;
  testing::Recorder recorder;
  std::unique_ptr<Adapter> adapter;
  pty::Command command;
  std::vector<hooks::HookResponse> answers;
  std::uint64_t calls = 0;

  void start(const std::string& agent, bool attended = true, const Texts& arguments = {}, pid_t pid = 1) {
    adapter = make_adapter(agent, loop);
    command = {.argv = {agent},
               .environment = {"HOME=" + directory.path(), "PATH=/bin",
                               "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + directory.file("none.json")},
               .directory = directory.path()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    adapter->prepare(command, {.program = "/opt/relay/agent-relay",
                               .private_file = directory.file("run.json"),
                               .instructions = "You may write to @relay:NAME.",
                               .attended = attended});
    adapter->start(recorder, pid);
  }
  /// Calls the agent's hook; returns the response, empty if there is none yet.
  hooks::HookResponse call(hooks::HookEvent event) {
    const auto before = answers.size();
    adapter->on_hook(event, ++calls, [this](const hooks::HookResponse& answer) { answers.push_back(answer); });
    return answers.size() > before ? answers.back() : hooks::HookResponse{};
  }
  /// A real payload of that agent, with a transcript of this test.
  hooks::HookEvent event(const std::string& name, const std::string& transcript = "transcript.jsonl") {
    auto event = hook_event(name);
    event.transcript = directory.file(transcript);
    return event;
  }
  /// Writes the line with the current time.
  void write(const std::string& line, const std::string& transcript = "transcript.jsonl") {
    write_unchanged(std::regex_replace(line, std::regex{R"("timestamp": *"[^"]*")"},
                                       format(R"("timestamp":"{}")", text::format_iso_time(loop.now().wall))),
                    transcript);
  }
  void write_unchanged(const std::string& line, const std::string& transcript = "transcript.jsonl") {
    std::ofstream{directory.file(transcript), std::ios::app} << line << '\n';
  }
  bool until(const std::function<bool()>& check) { return run_until(loop, check); }
  bool received(std::size_t count) {
    return until([&] { return recorder.texts.size() >= count; });
  }
  /// Long enough for a line to be reported by mistake.
  void wait_briefly() {
    bool later = false;
    const auto after = loop.after(Millis{20}, [&] { later = true; });
    ASSERT_TRUE(until([&] { return later; }));
  }
};

struct AgentCase {
  const char *agent, *start, *prompt, *transcript;
};
void PrintTo(const AgentCase& each, std::ostream* out) { *out << each.agent; }
struct EveryHookAgent : HookAdapterTest, ::testing::WithParamInterface<AgentCase> {};

TEST_P(EveryHookAgent, ReportsTextInputAndUsageOnce) {
  const auto [agent, start_event, prompt, transcript] = GetParam();
  start(agent);
  const auto failed = recorder.failed;  // Gemini's hooks, where others could write the file that names them
  EXPECT_TRUE(failed.empty() || agent == std::string_view{"gemini"});
  EXPECT_EQ(adapter->capabilities().output, "");
  call(event(start_event));
  EXPECT_EQ(adapter->capabilities().output, via::kTranscript);
  EXPECT_EQ(adapter->capabilities().usage, via::kTranscript);
  call(event(prompt));
  EXPECT_EQ(recorder.inputs, Texts{hook_event(prompt).prompt});
  for (const auto& line : record_lines(transcript)) write(line);
  ASSERT_TRUE(received(5));
  wait_briefly();
  ASSERT_EQ(recorder.texts.size(), 5U);
  EXPECT_EQ(std::ranges::count_if(recorder.agent_events,
                                  [](const auto& each) {
                                    const auto* started = std::get_if<events::ItemStarted>(&each.first);
                                    return started != nullptr && started->item_type == events::ItemType::Message;
                                  }),
            5);
  EXPECT_EQ(recorder.texts[0], kGreeting);
  EXPECT_NE(recorder.texts[2].find("```text\n@relay:Bob this is only an example"), std::string::npos)
      << "raw, with fences";
  for (const auto* given : {"please greet bob", "report at length", "tell everyone"})
    EXPECT_EQ(std::ranges::count(recorder.inputs, given), given == hook_event(prompt).prompt ? 2 : 1) << given;
  std::set<std::string> ids;
  for (const auto& usage : recorder.usage) ids.insert(usage.id);
  EXPECT_EQ(ids.size(), 5U) << "one per reply of the model";
  EXPECT_EQ(recorder.failed, failed);
}

TEST_P(EveryHookAgent, DoesNotReportEarlierLines) {
  const auto [agent, start_event, prompt, transcript] = GetParam();
  start(agent);
  const auto lines = record_lines(transcript);
  const auto half = lines.size() / 2;
  for (std::size_t i = 0; i < half; ++i) write(lines[i]);
  call(event(start_event));
  wait_briefly();
  EXPECT_TRUE(recorder.texts.empty());
  EXPECT_TRUE(recorder.usage.empty());
  EXPECT_TRUE(recorder.agent_events.empty());
  for (std::size_t i = half; i < lines.size(); ++i) write(lines[i]);
  ASSERT_TRUE(
      until([&] { return !recorder.texts.empty() && recorder.texts.back().starts_with("I'll tell both of them"); }));
  EXPECT_LT(recorder.texts.size(), 5U);
}

TEST_P(EveryHookAgent, RemovedTranscriptIsReportedAndReadAgainWhenRestored) {
  const auto [agent, start_event, prompt, transcript] = GetParam();
  start(agent);
  call(event(start_event));
  call(event(prompt));
  const auto lines = record_lines(transcript);
  for (const auto& line : lines) write(line);
  ASSERT_TRUE(received(5));
  wait_briefly();
  const auto texts_before = recorder.texts;
  std::filesystem::remove(directory.file("transcript.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output.empty(); })) << "its screen is read meanwhile";
  EXPECT_EQ(recorder.failed.back(),
            format("transcript: its transcript {} was removed", directory.file("transcript.jsonl")));
  auto inner = event(start_event, "inner.jsonl");
  inner.session = "another";
  inner.reason = "startup";
  if (agent != std::string_view{"codex"}) call(inner);  // an agent inside it does not replace it
  for (const auto& line : lines) write(line);           // repeated lines are not reported again
  ASSERT_TRUE(until([&] { return adapter->capabilities().output == via::kTranscript; }));
  wait_briefly();
  EXPECT_EQ(recorder.recovered.back(), "transcript");
  EXPECT_EQ(recorder.texts, texts_before);
}

TEST_P(EveryHookAgent, TranscriptMovedAwayAndBackDoesNotRepeatScreenOutput) {
  const auto [agent, start_event, prompt, transcript] = GetParam();
  start(agent);
  call(event(start_event));
  const auto lines = record_lines(transcript);
  const auto half = lines.size() / 2;
  const auto last = static_cast<std::size_t>(
      std::ranges::find_if(lines, [](const auto& line) { return line.contains("tell both of them"); }) - lines.begin());
  ASSERT_LT(half, last);
  for (std::size_t i = 0; i < half; ++i) write(lines[i]);
  ASSERT_TRUE(received(1));
  wait_briefly();
  const auto texts_before = recorder.texts;
  const auto inputs_before = recorder.inputs.size();
  std::filesystem::rename(directory.file("transcript.jsonl"), directory.file("away.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output.empty(); }));
  adapter->on_state(State::Working);
  for (std::size_t i = half; i < last; ++i) write(lines[i], "away.jsonl");  // the agent has the file open
  adapter->on_state(State::Idle);                                           // read from the screen
  std::filesystem::rename(directory.file("away.jsonl"), directory.file("transcript.jsonl"));
  ASSERT_TRUE(until([&] { return adapter->capabilities().output == via::kTranscript; }));
  wait_briefly();
  EXPECT_EQ(recorder.texts, texts_before);
  EXPECT_GT(recorder.inputs.size(), inputs_before) << "text typed meanwhile is seen";
  const auto turn_end = loop.now().wall;
  ASSERT_TRUE(until([&] { return loop.now().wall > turn_end; }));
  for (std::size_t i = last; i < lines.size(); ++i) write(lines[i]);
  ASSERT_TRUE(received(texts_before.size() + 1)) << "the next turn is read from the transcript";
}

INSTANTIATE_TEST_SUITE_P(
    Agents, EveryHookAgent,
    ::testing::Values(AgentCase{"claude", "claude/SessionStart-startup", "claude/UserPromptSubmit",
                                "claude-fence.jsonl"},
                      AgentCase{"codex", "codex/SessionStart-startup", "codex/UserPromptSubmit", "codex-fence.jsonl"},
                      AgentCase{"gemini", "gemini/SessionStart-startup", "gemini/BeforeAgent", "gemini-fence.jsonl"}),
    [](const auto& each) { return std::string{each.param.agent}; });

TEST_F(HookAdapterTest, OpenItemsEndWithAgent) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  for (const auto& line : record_lines("claude-tool.jsonl")) {
    if (line.find("tool_result") != std::string::npos) break;
    write(line);
  }
  const auto is_open = [&] {
    const auto* delta =
        recorder.agent_events.empty() ? nullptr : std::get_if<events::ItemDelta>(&recorder.agent_events.back().first);
    return delta != nullptr && delta->delta.type == events::DeltaType::ToolInput;
  };
  ASSERT_TRUE(until(is_open));
  adapter->on_agent_exit();
  const auto& completed = std::get<events::ItemCompleted>(recorder.agent_events.back().first);
  EXPECT_EQ(json::serialize(*completed.result), R"({"failed":true,"reason":"the agent has ended"})");
}

TEST_F(HookAdapterTest, DisplayedChunksAreDeltasBeforeTranscript) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  call(event("claude/UserPromptSubmit"));
  write(record_lines("claude-fence.jsonl")[0]);
  ASSERT_TRUE(until([&] { return std::ranges::count(recorder.inputs, "please greet bob") == 2; }))
      << "hook and transcript";
  recorder.agent_events.clear();
  Texts items, deltas;
  const auto read_events = [&] {
    items.clear();
    deltas.clear();
    for (const auto& [happened, at] : recorder.agent_events) {
      if (const auto* started = std::get_if<events::ItemStarted>(&happened)) items.push_back(started->item_id);
      const auto* delta = std::get_if<events::ItemDelta>(&happened);
      if (delta == nullptr) continue;
      EXPECT_EQ(items, Texts{delta->item_id});
      EXPECT_EQ(delta->delta.type, events::DeltaType::Text);
      deltas.push_back(delta->delta.content);
    }
  };
  EXPECT_EQ(call(event("claude/MessageDisplay-final")), hooks::HookResponse{});
  EXPECT_TRUE(recorder.agent_events.empty()) << "the chunk before it is missing";
  for (int time = 0; time < 2; ++time) {
    call(event("claude/MessageDisplay-delta"));
    read_events();
    EXPECT_EQ(deltas, (Texts{"I'll send Bob a greeting.\n\n", "@relay:Bob hello from the scripted model\n\n"}));
  }
  EXPECT_TRUE(recorder.texts.empty()) << "the transcript reports the whole text";
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(received(1));
  read_events();
  EXPECT_EQ(items.size(), 1U) << "one item, whichever source is first";
  EXPECT_EQ(deltas, (Texts{"I'll send Bob a greeting.\n\n", "@relay:Bob hello from the scripted model\n\n",
                           "Waiting for his answer."}));
  Texts completed;
  for (const auto& [happened, at] : recorder.agent_events)
    if (const auto* each = std::get_if<events::ItemCompleted>(&happened)) completed.push_back(each->item_id);
  EXPECT_EQ(completed, items);
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
}

TEST_F(HookAdapterTest, TruncatedChunkIsNoDelta) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  auto cut = event("claude/MessageDisplay-delta");
  cut.text_cut = true;
  call(cut);
  EXPECT_TRUE(recorder.agent_events.empty());
}

TEST_F(HookAdapterTest, FollowsNewTranscriptAfterClear) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  auto cleared = event("claude/SessionStart-startup", "two.jsonl");
  cleared.session = "another";
  cleared.reason = "clear";
  call(cleared);
  write(record_lines("claude-fence.jsonl")[4], "one.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "two.jsonl");
  ASSERT_TRUE(received(1));
  wait_briefly();
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
}

TEST_F(HookAdapterTest, LinesCopiedFromOlderSessionAreNotReported) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  write_unchanged(
      record_lines("claude-fence.jsonl")[4]);  // `--fork-session` copies the history into the new transcript
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(received(1));
  wait_briefly();
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
}

TEST_F(HookAdapterTest, LateHookOfAnotherSessionNamesNoTranscript) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  auto late = event("claude/Stop", "other.jsonl");
  late.session = "another";
  call(late);
  write(record_lines("claude-fence.jsonl")[4], "other.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "one.jsonl");
  ASSERT_TRUE(received(1));
  wait_briefly();
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
}

TEST_F(HookAdapterTest, InnerAgentOfSameKindGetsNoMessages) {
  start("claude");
  call(event("claude/SessionStart-startup", "one.jsonl"));
  recorder.pending = {{DeliveryMode::NextMessage, "for the outer agent"}};
  for (const auto* name : {"claude/SessionStart-startup", "claude/UserPromptSubmit"}) {
    auto inner = event(name, "inner.jsonl");
    inner.session = "another";
    EXPECT_EQ(call(inner).context, "") << name;
  }
  write(record_lines("claude-fence.jsonl")[4], "inner.jsonl");
  write(record_lines("claude-fence.jsonl")[1], "one.jsonl");
  ASSERT_TRUE(received(1));
  wait_briefly();
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
  EXPECT_EQ(call(event("claude/UserPromptSubmit", "one.jsonl")).context, "for the outer agent");
}

TEST_F(HookAdapterTest, MessagesAreTakenByTheirHook) {
  start("claude");
  recorder.pending = {{DeliveryMode::NextMessage, "with the next message"},
                      {DeliveryMode::NextToolCall, "with the next tool"},
                      {DeliveryMode::OnIdle, "not by a hook"}};
  for (const auto* other : {"claude/SessionStart-startup", "claude/PreToolUse-Bash", "claude/Stop",
                            "claude/Notification-idle_prompt", "claude/SessionEnd-other"})
    EXPECT_EQ(call(event(other)), hooks::HookResponse{}) << other;
  EXPECT_EQ(call(event("claude/PostToolUse-Bash")).context, "with the next tool");
  EXPECT_EQ(call(event("claude/UserPromptSubmit")).context, "with the next message");
  EXPECT_EQ(call(event("claude/UserPromptSubmit")).context, "") << "once";
  EXPECT_EQ(recorder.pending[DeliveryMode::OnIdle], "not by a hook");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextMessage).timing, DeliveryTiming::OnHook);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextToolCall).timing, DeliveryTiming::OnHook);
}

TEST_F(HookAdapterTest, SubagentTakesNothingAndNamesNoTranscript) {
  start("claude");
  recorder.pending = {{DeliveryMode::NextMessage, "m"}, {DeliveryMode::NextToolCall, "t"}};
  for (const auto* name : {"claude/UserPromptSubmit", "claude/PostToolUse-Bash", "claude/SessionStart-startup"}) {
    auto sub = event(name, "sub.jsonl");
    sub.subagent = "agent-7";
    EXPECT_EQ(call(sub), hooks::HookResponse{}) << name;
  }
  EXPECT_EQ(answers.size(), 3U) << "each gets an empty response";
  EXPECT_TRUE(recorder.inputs.empty());
  EXPECT_EQ(adapter->capabilities().output, "");
  EXPECT_EQ(recorder.pending[DeliveryMode::NextToolCall], "t");
}

TEST_F(HookAdapterTest, FailureOfTurnIsReported) {
  start("claude");
  const auto failed = event("claude/StopFailure-rate_limit");
  EXPECT_EQ(call(failed), hooks::HookResponse{});
  EXPECT_EQ(recorder.failures, Texts{failed.text});
}

TEST_F(HookAdapterTest, HookContextIsReportedOnceAsWritten) {
  start("gemini");
  call(event("gemini/SessionStart-startup"));
  write(R"({"id":"a","timestamp":"2026-11-15T19:59:07.696Z","type":"user","content":[{"text":"proceed"},)"
        R"({"text":"<hook_context>a &lt;b&gt; &amp; c</hook_context>"}]})");
  ASSERT_TRUE(
      until([&] { return std::ranges::find(recorder.inputs, "a &lt;b&gt; &amp; c") != recorder.inputs.end(); }));
  EXPECT_EQ(recorder.inputs, (Texts{"proceed", "a &lt;b&gt; &amp; c"})) << "one entry, one proof";
}

TEST_F(HookAdapterTest, SkippedLineDoesNotFailTranscript) {
  start("claude");
  call(event("claude/SessionStart-startup"));
  write(std::string(transcripts::kMaxLine + 1, 'x'));
  write(record_lines("claude-fence.jsonl")[1]);
  ASSERT_TRUE(received(1));
  EXPECT_EQ(recorder.texts, Texts{kGreeting});
  EXPECT_TRUE(recorder.failed.empty());
  EXPECT_EQ(adapter->capabilities().output, via::kTranscript);
}

TEST_F(HookAdapterTest, RunWithoutHooksReportsReasonAndNoCapabilities) {
  start("claude", true, {"--bare"});
  ASSERT_EQ(recorder.failed.size(), 1U);
  EXPECT_TRUE(recorder.failed[0].starts_with("hook: ")) << recorder.failed[0];
  EXPECT_GT(recorder.failed[0].size(), std::string{"hook: "}.size());
  EXPECT_EQ(command.argv, (Texts{"claude", "--bare"}));
  const auto can = adapter->capabilities();
  EXPECT_EQ(can.prompts, "");
  EXPECT_EQ(can.by(DeliveryMode::NextMessage).timing, DeliveryTiming::Never);
  adapter->on_state(State::Idle);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_EQ(recorder.failed.size(), 1U) << "reported once";
}

TEST_F(HookAdapterTest, TurnsWithoutHookFailInterfaceAndLateHookRecoversIt) {
  start("codex");
  adapter->on_state(State::Idle);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_TRUE(recorder.failed.empty()) << "Codex's start looks like a turn";
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  ASSERT_EQ(recorder.failed.size(), 1U);
  EXPECT_NE(recorder.failed[0].find("does not call its hooks"), std::string::npos) << recorder.failed[0];
  EXPECT_EQ(adapter->capabilities().prompts, "");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::NextToolCall).timing, DeliveryTiming::Never);
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(recorder.recovered, Texts{"hook"});
  EXPECT_EQ(adapter->capabilities().prompts, via::kHook);
}

TEST_F(HookAdapterTest, StartThatLooksLikeWorkIsNoTurn) {
  start("claude");
  adapter->on_state(State::Unknown);
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_TRUE(recorder.failed.empty());
}

TEST_F(HookAdapterTest, GeminiGetsInstructionsFromHook) {
  start("gemini");
  EXPECT_EQ(call(event("gemini/SessionStart-startup")).context, "You may write to @relay:NAME.");
  EXPECT_EQ(adapter->capabilities().prompts, "") << "its hooks cannot approve a permission";
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).timing, DeliveryTiming::Never) << "messages are typed";
}

TEST_F(HookAdapterTest, OneShotCodexIsReadFromItsOpenRollout) {
  const std::string rollout = ".codex/sessions/2026/11/18/rollout-2026-11-18T11-53-32-01a1ee81.jsonl";
  std::filesystem::create_directories(directory.file(".codex/sessions/2026/11/18"));
  for (const auto& line : record_lines("codex-session.jsonl")) write_unchanged(line, rollout);  // a resumed session
  start("codex", true, {"exec", "resume", "--last", "please greet bob"}, ::getpid());
  EXPECT_EQ(command.argv, (Texts{"codex", "exec", "resume", "--last", "please greet bob"}));
  EXPECT_TRUE(adapter->capabilities().output_expected);
  for (const auto& line : record_lines("codex-fence.jsonl")) write(line, rollout);
  const std::ofstream open{directory.file(rollout), std::ios::app};  // this process acts as the agent
  ASSERT_TRUE(received(5)) << "lines from before the rollout was found are reported";
  EXPECT_EQ(recorder.texts.size(), 5U);
  EXPECT_EQ(recorder.texts[0], kGreeting);
  EXPECT_EQ(adapter->capabilities().output, via::kTranscript);
  EXPECT_EQ(adapter->capabilities().state, "") << "it reports no status";
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate, DeliveryMode::NextMessage})
    EXPECT_EQ(adapter->capabilities().by(mode).timing, DeliveryTiming::Never) << "it exits after its turn";
  ASSERT_EQ(recorder.failed.size(), 1U);
  EXPECT_TRUE(recorder.failed[0].starts_with("hook: no hooks: ")) << recorder.failed[0];
}

TEST_F(HookAdapterTest, GeminiTranscriptIsFoundWithoutHooks) {
  start("gemini");
  ASSERT_EQ(command.argv.size(), 3U);
  EXPECT_EQ(command.argv[1], "--session-id");
  const auto chats = ".gemini/tmp/proj/chats/";
  std::filesystem::create_directories(directory.file(chats));
  adapter->on_state(State::Idle);
  EXPECT_EQ(adapter->capabilities().output, "") << "its transcript starts with the first prompt";
  const auto transcript = format("{}session-2026-11-15T08-18-{}.jsonl", chats, command.argv[2].substr(0, 8));
  const auto lines = record_lines("gemini-fence.jsonl");
  write(lines[0], std::string{chats} + "session-2026-11-15T08-18-00000000.jsonl");
  write(lines[0], transcript);
  adapter->on_state(State::Working);
  EXPECT_EQ(adapter->capabilities().output, via::kTranscript);
  for (std::size_t i = 1; i < lines.size(); ++i) write(lines[i], transcript);
  ASSERT_TRUE(received(5));
  EXPECT_EQ(recorder.texts[0], kGreeting);
}

TEST_F(HookAdapterTest, SessionChosenByUserIsKept) {
  start("gemini", true, {"--resume", "latest"});
  EXPECT_EQ(command.argv, (Texts{"gemini", "--resume", "latest"}));
}

TEST_F(HookAdapterTest, OtherAgentsGetNoInstructionsFromHook) {
  for (const auto* agent : {"claude", "codex"}) {
    start(agent);
    EXPECT_EQ(call(event(std::string{agent} + "/SessionStart-startup")), hooks::HookResponse{}) << agent;
  }
}

TEST_F(HookAdapterTest, CodexQueueIsUsedAfterFirstPrompt) {
  start("codex");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).timing, DeliveryTiming::Never);
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, via::kQueue);
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::Immediate).timing, DeliveryTiming::Never);
}

TEST_F(HookAdapterTest, PermissionOfSubagentIsReported) {
  start("claude");
  auto request = event("claude/PermissionRequest-Bash");
  request.subagent = "agent-7";
  call(request);
  ASSERT_EQ(recorder.prompts.size(), 1U);
  adapter->answer(recorder.prompts[0].id, {.decision = PromptAnswer::Decision::Approve},
                  [](const Result<void>& outcome) { ASSERT_TRUE(outcome); });
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{.decision = hooks::HookDecision::Allow}});
}

TEST_F(HookAdapterTest, FailedInboxIsReportedOnceAndNotUsedInThatSession) {
  start("claude");
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, via::kInbox);
  int failures = 0;
  for (int i = 0; i < 2; ++i)
    adapter->deliver({.key = "d", .text = "t"}, [&](const Result<void>& outcome) { failures += outcome ? 0 : 1; });
  EXPECT_EQ(failures, 2);
  ASSERT_EQ(recorder.failed.size(), 1U);
  EXPECT_TRUE(recorder.failed[0].starts_with("inbox: ")) << recorder.failed[0];
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).timing, DeliveryTiming::Never);
  call(event("claude/Stop"));
  EXPECT_TRUE(recorder.recovered.empty());
  call(event("claude/SessionStart-startup"));
  EXPECT_EQ(recorder.recovered, Texts{"inbox"}) << "a new session is tried again";
  EXPECT_EQ(adapter->capabilities().by(DeliveryMode::OnIdle).via, via::kInbox);
}

TEST_F(HookAdapterTest, InnerAgentOfOtherKindIsIgnored) {
  start("claude");
  recorder.pending = {{DeliveryMode::NextMessage, "m"}, {DeliveryMode::NextToolCall, "t"}};
  for (const auto* name : {"codex/SessionStart-startup", "codex/UserPromptSubmit", "codex/PostToolUse-Bash",
                           "codex/PermissionRequest-Bash"})
    EXPECT_EQ(call(event(name, "inner.jsonl")), hooks::HookResponse{}) << name;
  EXPECT_EQ(answers.size(), 4U) << "each gets a response";
  EXPECT_TRUE(recorder.inputs.empty());
  EXPECT_TRUE(recorder.prompts.empty());
  EXPECT_EQ(recorder.pending[DeliveryMode::NextMessage], "m");
  EXPECT_EQ(adapter->capabilities().output, "");
}

TEST_F(HookAdapterTest, CodexQueueIsNotUsedAfterAnInterruptedTurn) {
  start("codex");
  const auto interface = [&] { return adapter->capabilities().by(DeliveryMode::OnIdle).timing; };
  call(event("codex/SessionStart-startup"));
  call(event("codex/UserPromptSubmit"));
  EXPECT_EQ(interface(), DeliveryTiming::Anytime);
  const auto turn = [&](const char* type) {
    write(format(R"({{"timestamp":"","type":"event_msg","payload":{{"type":"{}","turn_id":"t1"}}}})", type));
  };
  turn("task_started");
  turn("turn_aborted");
  ASSERT_TRUE(until([&] { return interface() == DeliveryTiming::Never; }));
  turn("task_started");
  ASSERT_TRUE(until([&] { return interface() == DeliveryTiming::Anytime; }));
  turn("task_complete");
  wait_briefly();
  EXPECT_EQ(interface(), DeliveryTiming::Anytime);
}

/// This process acts as the agent: its open locks identify the thread on the screen.
struct CodexThreadTest : HookAdapterTest {
  const std::string second = "01a1f214-3782-7a21-91f1-65aa8afa5aeb";
  std::vector<std::ofstream> open;
  int opened = 0;

  void SetUp() override {
    std::filesystem::create_directories(directory.file(".codex/thread-writer-locks"));
    start("codex", true, {}, ::getpid());
    show(hook_event("codex/SessionStart-startup").session);
    call(event("codex/SessionStart-startup"));
    call(event("codex/UserPromptSubmit"));
    adapter->on_state(State::Working);
    adapter->on_state(State::Idle);
  }
  void show(const std::string& thread) {
    const auto lock = directory.file(".codex/thread-writer-locks/" + thread + ".lock");
    open.emplace_back(lock);
    std::filesystem::last_write_time(lock, std::filesystem::file_time_type{std::chrono::seconds{++opened}});
  }
  DeliveryTiming queue() const { return adapter->capabilities().by(DeliveryMode::OnIdle).timing; }
};

TEST_F(CodexThreadTest, MessageAfterNewDoesNotGoToAbandonedThread) {
  EXPECT_EQ(queue(), DeliveryTiming::Anytime);
  show(second);  // `/new`
  adapter->on_state(State::Working);
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::Never) << "messages are typed";
  auto started = event("codex/SessionStart-startup", "second.jsonl");
  started.session = second;
  call(started);  // the first prompt there
  EXPECT_EQ(queue(), DeliveryTiming::Anytime);
}

TEST_F(CodexThreadTest, MessageDeliveredRightAfterNewIsReturned) {
  show(second);
  adapter->deliver({.key = "d1", .text = "hello"}, [](const Result<void>&) {});
  EXPECT_EQ(recorder.returned, Texts{"d1"});
  EXPECT_EQ(queue(), DeliveryTiming::Never);
}

TEST_F(CodexThreadTest, QueueOfResumedThreadIsUsedAgain) {
  show(second);
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::Never);
  show(hook_event("codex/SessionStart-startup").session);  // `/resume`, no prompt
  adapter->on_state(State::Idle);
  EXPECT_EQ(queue(), DeliveryTiming::Anytime);
}

TEST_F(HookAdapterTest, CodexShowsDialogAtOnceWhenNoRuleDecides) {
  start("codex");
  call(event("codex/PermissionRequest-Bash"));
  ASSERT_EQ(recorder.prompts.size(), 1U);
  ASSERT_TRUE(answers.empty());
  adapter->show_dialog(recorder.prompts[0].id);
  EXPECT_EQ(answers, std::vector{hooks::HookResponse{}}) << "it shows nothing before its hook returns";
}

TEST_F(HookAdapterTest, HookOfUnattendedCodexStaysOpen) {
  start("codex", false);
  call(event("codex/PermissionRequest-Bash"));
  adapter->show_dialog(recorder.prompts.at(0).id);
  EXPECT_TRUE(answers.empty());
}

TEST_F(HookAdapterTest, ClaudeShowsDialogWhileHookIsOpen) {
  start("claude");
  call(event("claude/PermissionRequest-Bash"));
  adapter->show_dialog(recorder.prompts.at(0).id);
  EXPECT_TRUE(answers.empty()) << "it can still be answered by the hook";
}

}  // namespace
}  // namespace relay::adapters
