#include "scripted_agent/agent.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

using namespace std::chrono_literals;
using Kind = Key::Kind;

/// Drives an agent with a manual clock.
class AgentDriver {
 public:
  explicit AgentDriver(const std::string& script = "{}", Options options = {})
      : agent{std::move(options), parse_script(script).value(), journal} {
    agent.start(40, 20);
    output = agent.take_output();
  }
  void press(Key key) {
    agent.on_key(key, now);
    collect_output();
  }
  void send(const std::string& text) {
    press({Kind::Paste, text});
    pass(1s);
    press({Kind::Enter});
  }
  /// Advances the clock; runs every due timer.
  void pass(Millis time) {
    const auto end = now + time;
    while (agent.wake_at() && *agent.wake_at() <= end) {
      now = std::max(now, *agent.wake_at());
      agent.on_time(now);
      collect_output();
    }
    now = end;
  }
  bool shows(std::string_view text) const { return output.contains(text); }
  void forget() { output.clear(); }

  SteadyTime now{};
  Journal journal;
  Agent agent;
  std::string output;

 private:
  void collect_output() {
    while (agent.has_output()) output += agent.take_output();
  }
};

TEST(Agent, AnswersByScriptAfterWorking) {
  AgentDriver driver{R"({"rules":[{"contains":"hello","reply":"Hi there"}]})"};
  driver.send("hello");
  driver.pass(150ms);
  EXPECT_TRUE(driver.shows("Working…"));
  EXPECT_FALSE(driver.shows("● "));
  driver.pass(100ms);
  EXPECT_TRUE(driver.shows("● Hi there"));
  EXPECT_FALSE(driver.agent.wake_at()) << "an idle agent needs no wake-ups";
}

TEST(Agent, StreamsReplyInChunks) {
  AgentDriver driver{R"({"rules":[{"contains":"x","work_ms":0,"reply":"abcdef","chunk":2,"chunk_ms":10}]})"};
  driver.send("x");
  driver.pass(0ms);
  EXPECT_TRUE(driver.shows("● ab\r\n"));
  EXPECT_FALSE(driver.shows("● abcd"));
  driver.pass(10ms);
  EXPECT_TRUE(driver.shows("● abcd\r\n"));
  driver.pass(10ms);
  EXPECT_TRUE(driver.shows("● abcdef\r\n"));
}

TEST(Agent, OpensItsDialogSilentlyAndEnterApproves) {
  Options options;
  options.titles = Options::Show::Yes;
  AgentDriver driver{R"({"rules":[{"contains":"rm","dialog":{"title":"Run it?"},"reply":"ran","denied":"left"}]})",
                     options};
  driver.send("rm");
  driver.forget();
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("Run it?"));
  EXPECT_FALSE(driver.shows("Action"));
  driver.press({Kind::Text, "a message for the composer"});
  EXPECT_FALSE(driver.shows("for the composer"));
  driver.press({Kind::Enter});
  EXPECT_TRUE(driver.shows("● ran"));
}

TEST(Agent, EscapeDeniesAndArrowsChoose) {
  const std::string script =
      R"({"rules":[{"contains":"q","dialog":{"kind":"question","title":"Which?","options":["red","blue"]},
          "reply":"you chose {answer}","denied":"none"}]})";
  AgentDriver driver{script};
  driver.send("q");
  driver.pass(1s);
  driver.press({Kind::Down});
  driver.press({Kind::Enter});
  EXPECT_TRUE(driver.shows("● you chose blue"));
  driver.send("q");
  driver.pass(1s);
  driver.press({Kind::Escape});
  EXPECT_TRUE(driver.shows("● none"));
}

TEST(Agent, CanSwallowAnEnter) {
  Options options;
  options.swallowed_enters = 1;
  AgentDriver driver{"{}", options};
  driver.send("one");
  driver.pass(1s);
  EXPECT_FALSE(driver.shows("● "));
  driver.press({Kind::Enter});
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● You said: one"));
}

TEST(Agent, EarlyEnterJoinsText) {
  Options options;
  options.burst = 50ms;
  AgentDriver driver{"{}", options};
  driver.press({Kind::Text, "one"});
  driver.press({Kind::Enter});
  driver.pass(60ms);
  driver.press({Kind::Enter});
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● You said: one\r\n")) << "with the line end";
}

TEST(Agent, ShowsPasteOnOneLineWithoutControls) {
  AgentDriver driver;
  driver.press({Kind::Paste, "a\r\nb\x07"});
  EXPECT_TRUE(driver.shows("│ > a↵b? "));
}

TEST(Agent, OpensADialogBetweenPasteAndEnter) {
  AgentDriver driver{R"({"moments":[{"when":"after_paste","after_ms":50,"dialog":{"title":"Update?"}}]})"};
  driver.press({Kind::Paste, "kept"});
  EXPECT_FALSE(driver.shows("Update?"));
  driver.pass(50ms);
  EXPECT_TRUE(driver.shows("Update?"));
  driver.forget();
  driver.press({Kind::Escape});
  EXPECT_TRUE(driver.shows("│ > kept")) << "the text is unchanged";
  driver.press({Kind::Enter});
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● You said: kept"));
}

TEST(Agent, DialogSwallowsPaste) {
  AgentDriver driver{R"({"moments":[{"when":"before_paste","dialog":{"title":"Update?"}}]})"};
  driver.press({Kind::Paste, "lost"});
  driver.press({Kind::Enter});
  EXPECT_TRUE(driver.shows("⎿ Yes"));
  EXPECT_FALSE(driver.shows("lost"));
}

TEST(Agent, OpensDialogWhileWorkingAndContinues) {
  AgentDriver driver{R"({"moments":[{"when":"after_paste","after_ms":1100,"dialog":{}}]})"};
  driver.send("one");  // Enter comes after a second
  driver.pass(5s);
  EXPECT_FALSE(driver.shows("● "));
  driver.press({Kind::Escape});
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● You said: one"));
}

TEST(Agent, ExitsByScript) {
  AgentDriver driver{R"({"moments":[{"when":"after_paste","exit":7}]})"};
  driver.press({Kind::Paste, "x"});
  EXPECT_TRUE(driver.agent.finished());
  EXPECT_EQ(driver.agent.exit_code(), 7);
  AgentDriver other{R"({"default":{"reply":"bye","exit":3}})"};
  other.send("x");
  other.pass(1s);
  EXPECT_TRUE(other.shows("● bye"));
  EXPECT_EQ(other.agent.exit_code(), 3);
}

TEST(Agent, FoldsLongPasteAndSubmitsAll) {
  Options options;
  options.fold = 5;
  AgentDriver driver{"{}", options};
  driver.press({Kind::Text, "see "});
  driver.press({Kind::Paste, "a long text"});
  EXPECT_TRUE(driver.shows("│ > see [Pasted text #1]"));
  driver.press({Kind::Enter});
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● You said: see a long text"));
}

TEST(Agent, WrapsComposerAndShowsEndOfLongText) {
  AgentDriver driver;
  driver.press({Kind::Text, "one two three four five six seven eight"});
  EXPECT_TRUE(driver.shows("│ > one two three four five six seven  │\r\n│   eight"));
  driver.forget();
  std::string long_text(1000, 'x');
  long_text += " end";
  driver.press({Kind::Paste, long_text});
  EXPECT_FALSE(driver.shows("one two"));
  EXPECT_TRUE(driver.shows("end "));
}

TEST(Agent, ExclamationMarkRunsShell) {
  AgentDriver driver;
  driver.send("!rm");
  driver.pass(1s);
  EXPECT_FALSE(driver.shows("● "));
}

TEST(Agent, AnswersQueuedPromptsLater) {
  AgentDriver driver;
  driver.send("one");
  driver.press({Kind::Text, "two"});
  driver.press({Kind::Enter});
  driver.pass(10s);
  EXPECT_TRUE(driver.shows("You said: one"));
  EXPECT_TRUE(driver.shows("You said: two"));
}

TEST(Agent, ReportsStateWhenEnabled) {
  Options options;
  options.status = Options::Show::Yes;
  AgentDriver driver{R"({"rules":[{"contains":"rm","dialog":{}}]})", options};
  EXPECT_TRUE(driver.shows("\x1b]7501;state=idle:app=scripted\a"));
  driver.send("rm");
  EXPECT_TRUE(driver.shows("state=working"));
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("state=blocked:app=scripted:kind=permission"));
}

TEST(Agent, ExitsOnTwoControlCOrCommand) {
  AgentDriver driver;
  driver.press({Kind::ControlC});
  driver.press({Kind::Text, "x"});
  driver.press({Kind::ControlC});
  EXPECT_FALSE(driver.agent.finished()) << "another key came between";
  driver.press({Kind::ControlC});
  EXPECT_TRUE(driver.agent.finished());
  AgentDriver other;
  other.send("/exit");
  EXPECT_TRUE(other.agent.finished());
}

TEST(Agent, WrapsAndRedrawsOnResize) {
  AgentDriver driver{R"({"default":{"reply":"one two three four five six seven eight nine"}})"};
  driver.send("x");
  driver.pass(1s);
  EXPECT_TRUE(driver.shows("● one two three four five six seven\r\n  eight nine\r\n"));
  driver.agent.on_resize(20, 20);
  EXPECT_TRUE(driver.agent.take_output().contains("● one two three four\r\n  five six seven"));
}

TEST(Agent, Floods) {
  AgentDriver driver;
  driver.send("/flood 1");
  EXPECT_GT(driver.output.size(), 1024U * 1024);
  EXPECT_TRUE(driver.shows("flood 00000001 xxx"));
}

TEST(Agent, KeepsTheComposerAtTheBottomOfTheAlternateScreen) {
  Options options;
  options.surface = Options::Surface::Alternate;
  AgentDriver driver{"{}", options};
  EXPECT_TRUE(driver.shows("\x1b[?1049h"));
  driver.forget();
  driver.press({Kind::Text, "draft"});
  EXPECT_TRUE(driver.output.starts_with("\x1b[H"));
  EXPECT_TRUE(driver.shows("│ > draft"));
  EXPECT_TRUE(driver.output.ends_with("\x1b[18;10H")) << "after the draft, third line from the bottom";
}

}  // namespace
}  // namespace relay::scripted_agent
