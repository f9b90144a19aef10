#include "scripted_agent/agent.h"

#include <gtest/gtest.h>

namespace relay::scripted_agent {
namespace {

using namespace std::chrono_literals;
using Kind = Key::Kind;

/// An agent whose time moves by hand.
class Talk {
 public:
  explicit Talk(const std::string& script = "{}", Options options = {})
      : agent{std::move(options), parse_script(script).value(), journal} {
    agent.start(40, 20);
    shown = agent.take_output();
  }
  void press(Key key) {
    agent.on_key(key, now);
    look();
  }
  void say(const std::string& text) {
    press({Kind::Paste, text});
    pass(1s);
    press({Kind::Enter});
  }
  /// Time passes; everything that becomes due happens.
  void pass(Millis time) {
    const auto end = now + time;
    while (agent.wake_at() && *agent.wake_at() <= end) {
      now = std::max(now, *agent.wake_at());
      agent.on_time(now);
      look();
    }
    now = end;
  }
  bool shows(std::string_view text) const { return shown.contains(text); }
  void forget() { shown.clear(); }

  SteadyTime now{};
  Journal journal;
  Agent agent;
  std::string shown;

 private:
  void look() {
    while (agent.has_output()) shown += agent.take_output();
  }
};

TEST(Agent, AnswersByScriptAfterWorking) {
  Talk talk{R"({"rules":[{"contains":"hello","reply":"Hi there"}]})"};
  talk.say("hello");
  talk.pass(150ms);
  EXPECT_TRUE(talk.shows("Working…"));
  EXPECT_FALSE(talk.shows("● "));
  talk.pass(100ms);
  EXPECT_TRUE(talk.shows("● Hi there"));
  EXPECT_FALSE(talk.agent.wake_at()) << "idle means no wake-ups";
}

TEST(Agent, StreamsReplyInChunks) {
  Talk talk{R"({"rules":[{"contains":"x","work_ms":0,"reply":"abcdef","chunk":2,"chunk_ms":10}]})"};
  talk.say("x");
  talk.pass(0ms);
  EXPECT_TRUE(talk.shows("● ab\r\n"));
  EXPECT_FALSE(talk.shows("● abcd"));
  talk.pass(10ms);
  EXPECT_TRUE(talk.shows("● abcd\r\n"));
  talk.pass(10ms);
  EXPECT_TRUE(talk.shows("● abcdef\r\n"));
}

TEST(Agent, OpensItsDialogSilentlyAndEnterApproves) {
  Options options;
  options.titles = Options::Show::Yes;
  Talk talk{R"({"rules":[{"contains":"rm","dialog":{"title":"Run it?"},"reply":"ran","denied":"left"}]})", options};
  talk.say("rm");
  talk.forget();
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("Run it?"));
  EXPECT_FALSE(talk.shows("Action"));
  talk.press({Kind::Text, "a message that was meant for the composer"});
  EXPECT_FALSE(talk.shows("meant"));
  talk.press({Kind::Enter});
  EXPECT_TRUE(talk.shows("● ran"));
}

TEST(Agent, EscapeDeniesAndArrowsChoose) {
  const std::string script =
      R"({"rules":[{"contains":"q","dialog":{"kind":"question","title":"Which?","options":["red","blue"]},
          "reply":"you chose {answer}","denied":"none"}]})";
  Talk talk{script};
  talk.say("q");
  talk.pass(1s);
  talk.press({Kind::Down});
  talk.press({Kind::Enter});
  EXPECT_TRUE(talk.shows("● you chose blue"));
  talk.say("q");
  talk.pass(1s);
  talk.press({Kind::Escape});
  EXPECT_TRUE(talk.shows("● none"));
}

TEST(Agent, CanSwallowAnEnter) {
  Options options;
  options.swallowed_enters = 1;
  Talk talk{"{}", options};
  talk.say("one");
  talk.pass(1s);
  EXPECT_FALSE(talk.shows("● "));
  talk.press({Kind::Enter});
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● You said: one"));
}

TEST(Agent, EarlyEnterJoinsText) {
  Options options;
  options.burst = 50ms;
  Talk talk{"{}", options};
  talk.press({Kind::Text, "one"});
  talk.press({Kind::Enter});
  talk.pass(60ms);
  talk.press({Kind::Enter});
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● You said: one\r\n")) << "with the line end inside";
}

TEST(Agent, ShowsPasteOnOneLineWithoutControls) {
  Talk talk;
  talk.press({Kind::Paste, "a\r\nb\x07"});
  EXPECT_TRUE(talk.shows("│ > a↵b? "));
}

TEST(Agent, OpensADialogBetweenPasteAndEnter) {
  Talk talk{R"({"moments":[{"when":"after_paste","after_ms":50,"dialog":{"title":"Update?"}}]})"};
  talk.press({Kind::Paste, "kept"});
  EXPECT_FALSE(talk.shows("Update?"));
  talk.pass(50ms);
  EXPECT_TRUE(talk.shows("Update?"));
  talk.forget();
  talk.press({Kind::Escape});
  EXPECT_TRUE(talk.shows("│ > kept")) << "the text stands where it stood";
  talk.press({Kind::Enter});
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● You said: kept"));
}

TEST(Agent, DialogSwallowsPaste) {
  Talk talk{R"({"moments":[{"when":"before_paste","dialog":{"title":"Update?"}}]})"};
  talk.press({Kind::Paste, "lost"});
  talk.press({Kind::Enter});
  EXPECT_TRUE(talk.shows("⎿ Yes"));
  EXPECT_FALSE(talk.shows("lost"));
}

TEST(Agent, OpensDialogWhileWorkingAndContinues) {
  Talk talk{R"({"moments":[{"when":"after_paste","after_ms":1100,"dialog":{}}]})"};
  talk.say("one");  // Enter comes after a second
  talk.pass(5s);
  EXPECT_FALSE(talk.shows("● "));
  talk.press({Kind::Escape});
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● You said: one"));
}

TEST(Agent, ExitsByScript) {
  Talk talk{R"({"moments":[{"when":"after_paste","exit":7}]})"};
  talk.press({Kind::Paste, "x"});
  EXPECT_TRUE(talk.agent.finished());
  EXPECT_EQ(talk.agent.exit_code(), 7);
  Talk other{R"({"default":{"reply":"bye","exit":3}})"};
  other.say("x");
  other.pass(1s);
  EXPECT_TRUE(other.shows("● bye"));
  EXPECT_EQ(other.agent.exit_code(), 3);
}

TEST(Agent, FoldsLongPasteAndSubmitsAll) {
  Options options;
  options.fold = 5;
  Talk talk{"{}", options};
  talk.press({Kind::Text, "see "});
  talk.press({Kind::Paste, "a long text"});
  EXPECT_TRUE(talk.shows("│ > see [Pasted text #1]"));
  talk.press({Kind::Enter});
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● You said: see a long text"));
}

TEST(Agent, WrapsComposerAndShowsEndOfLongText) {
  Talk talk;
  talk.press({Kind::Text, "one two three four five six seven eight"});
  EXPECT_TRUE(talk.shows("│ > one two three four five six seven  │\r\n│   eight"));
  talk.forget();
  std::string long_text(1000, 'x');
  long_text += " end";
  talk.press({Kind::Paste, long_text});
  EXPECT_FALSE(talk.shows("one two"));
  EXPECT_TRUE(talk.shows("end "));
}

TEST(Agent, ExclamationMarkRunsShell) {
  Talk talk;
  talk.say("!rm");
  talk.pass(1s);
  EXPECT_FALSE(talk.shows("● "));
}

TEST(Agent, AnswersQueuedPromptsLater) {
  Talk talk;
  talk.say("one");
  talk.press({Kind::Text, "two"});
  talk.press({Kind::Enter});
  talk.pass(10s);
  EXPECT_TRUE(talk.shows("You said: one"));
  EXPECT_TRUE(talk.shows("You said: two"));
}

TEST(Agent, ReportsStateWhenEnabled) {
  Options options;
  options.status = Options::Show::Yes;
  Talk talk{R"({"rules":[{"contains":"rm","dialog":{}}]})", options};
  EXPECT_TRUE(talk.shows("\x1b]7501;state=idle:app=scripted\a"));
  talk.say("rm");
  EXPECT_TRUE(talk.shows("state=working"));
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("state=blocked:app=scripted:kind=permission"));
}

TEST(Agent, ExitsOnTwoControlCOrCommand) {
  Talk talk;
  talk.press({Kind::ControlC});
  talk.press({Kind::Text, "x"});
  talk.press({Kind::ControlC});
  EXPECT_FALSE(talk.agent.finished()) << "another key came between";
  talk.press({Kind::ControlC});
  EXPECT_TRUE(talk.agent.finished());
  Talk other;
  other.say("/exit");
  EXPECT_TRUE(other.agent.finished());
}

TEST(Agent, WrapsAndRedrawsOnResize) {
  Talk talk{R"({"default":{"reply":"one two three four five six seven eight nine"}})"};
  talk.say("x");
  talk.pass(1s);
  EXPECT_TRUE(talk.shows("● one two three four five six seven\r\n  eight nine\r\n"));
  talk.agent.on_resize(20, 20);
  EXPECT_TRUE(talk.agent.take_output().contains("● one two three four\r\n  five six seven"));
}

TEST(Agent, Floods) {
  Talk talk;
  talk.say("/flood 1");
  EXPECT_GT(talk.shown.size(), 1024U * 1024);
  EXPECT_TRUE(talk.shows("flood 00000001 xxx"));
}

TEST(Agent, KeepsTheComposerAtTheBottomOfTheAlternateScreen) {
  Options options;
  options.surface = Options::Surface::Alternate;
  Talk talk{"{}", options};
  EXPECT_TRUE(talk.shows("\x1b[?1049h"));
  talk.forget();
  talk.press({Kind::Text, "draft"});
  EXPECT_TRUE(talk.shown.starts_with("\x1b[H"));
  EXPECT_TRUE(talk.shows("│ > draft"));
  EXPECT_TRUE(talk.shown.ends_with("\x1b[18;10H")) << "behind the draft, third line from below";
}

}  // namespace
}  // namespace relay::scripted_agent
