/// The line editor of the chat on a real terminal, read by a terminal model.
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/terminal.h"
#include "terminal/screen.h"

namespace relay::cli_tests {
namespace {

/// A chat on a terminal of a given size, and its screen.
class ChatTerminal {
 public:
  ChatTerminal(Sandbox& box, std::vector<std::string> words, unsigned short columns = 80)
      : screen_{{.columns = columns, .rows = 24}}, columns_{columns}, terminal_{box, words} {
    terminal_.resize(columns, 24);
    ::kill(terminal_.pid(), SIGWINCH);
    EXPECT_TRUE(shows("you are")) << all();
  }

  void type(const std::string& text) const { terminal_.type(text); }
  /// True once a row has exactly this text.
  bool shows_row(const std::string& row) {
    return eventually([&] { return ("\n" + all()).find("\n" + row + "\n") != std::string::npos; });
  }
  bool shows(const std::string& text) {
    return eventually([&] { return all().find(text) != std::string::npos; });
  }
  /// All rows, each with a newline.
  std::string all() {
    terminal_.read_all_raw([&](std::string_view bytes) { screen_.feed(bytes); });
    std::string text;
    for (int row = 0; row < screen_.size().rows; ++row) {
      auto line = screen_.grid().text(row);
      while (line.ends_with(' ')) line.pop_back();
      text += line + "\n";
    }
    return text;
  }
  void resize(unsigned short columns) {
    columns_ = columns;
    screen_.resize({.columns = columns, .rows = 24});
    terminal_.resize(columns, 24);
  }
  int finish() { return terminal_.finish(); }

 private:
  terminal::Screen screen_;
  unsigned short columns_;
  Terminal terminal_;
};

class ChatEditor : public testing::Test {
 protected:
  ChatEditor() {
    box_.set("NO_COLOR", "1");
    box_.ok({"up"});
    for (const auto* name : {"Bob", "Carol", "Alice"}) box_.ok({"chat", "--name", name});
  }
  std::string inbox(const std::string& name) { return box_.ok({"inbox", name, "--json"}); }
  /// Waits for the message in that inbox.
  bool receives(const std::string& name, const std::string& body) {
    return eventually([&] { return inbox(name).find("\"body\":\"" + body + "\"") != std::string::npos; });
  }
  Sandbox box_;
};

TEST_F(ChatEditor, LineIsEditedAndRecalledBeforeSending) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  alice.type("helo there\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Dl\x05!\r");
  EXPECT_TRUE(alice.shows_row("Bob> hello there!")) << alice.all();
  EXPECT_TRUE(receives("Bob", "hello there!")) << inbox("Bob");
  alice.type(
      "\x1b[A\x17"
      "again\r");
  EXPECT_TRUE(receives("Bob", "hello again")) << inbox("Bob");
  alice.type("\x04");
  EXPECT_EQ(alice.finish(), 0);
}

TEST_F(ChatEditor, MessagesAppearAboveUnchangedLine) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  const std::string two_rows(80, 'x');
  alice.type(two_rows + " half a sent");
  ASSERT_TRUE(alice.shows_row("xxxxxx half a sent")) << alice.all();
  box_.ok({"send", "Alice", std::string(70, 'y') + " are you there?", "--from", "Carol"});
  ASSERT_TRUE(alice.shows("are you there?")) << alice.all();
  const auto screen = alice.all();
  EXPECT_NE(screen.find(" are you there?\nBob> " + std::string(74, 'x') + "\nxxxxxx half a sent\n"), std::string::npos)
      << screen;
  EXPECT_EQ(screen.find("Bob> "), screen.rfind("Bob> ")) << "drawn once: " << screen;
  alice.type("ence\r");
  EXPECT_TRUE(receives("Bob", two_rows + " half a sentence")) << "to the recipient in the prompt";
  ASSERT_TRUE(alice.shows_row("Carol>")) << "the next line goes to the last sender: " << alice.all();
  alice.type("yes\r");
  EXPECT_TRUE(receives("Carol", "yes"));
}

TEST_F(ChatEditor, TabCompletesNames) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice"}};
  alice.type("@c\t");
  ASSERT_TRUE(alice.shows_row("> @Carol")) << alice.all();
  alice.type("hi\r");
  EXPECT_TRUE(receives("Carol", "hi"));
}

TEST_F(ChatEditor, PasteOfSeveralLinesIsOneMessage) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  alice.type("\x1b[200~one\r\n/quit\r\n\x1b[31mthree\r\n\x1b[201~");
  ASSERT_TRUE(alice.shows_row("[31mthree")) << alice.all();
  alice.type("\r");
  EXPECT_TRUE(receives("Bob", "one\\n/quit\\n[31mthree")) << inbox("Bob");
}

TEST_F(ChatEditor, HandlesWideCharactersAtFortyColumnsAndAfterResize) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}, 40};
  alice.type("日本語日本語日本語日本語日本語日本語日本語");
  ASSERT_TRUE(alice.shows_row("Bob> 日本語日本語日本語日本語日本語日本")) << alice.all();
  ASSERT_TRUE(alice.shows_row("語日本語"));
  alice.resize(60);
  ASSERT_TRUE(alice.shows_row("Bob> 日本語日本語日本語日本語日本語日本語日本語")) << alice.all();
  alice.type("\x15ok\r");
  EXPECT_TRUE(receives("Bob", "ok"));
}

TEST_F(ChatEditor, CtrlCClearsLineBeforeLeaving) {
  ChatTerminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  alice.type("slip");
  ASSERT_TRUE(alice.shows_row("Bob> slip"));
  alice.type("\x03");
  ASSERT_TRUE(alice.shows_row("Bob>")) << alice.all();
  alice.type("\x03");
  EXPECT_EQ(alice.finish(), 0);
  EXPECT_EQ(inbox("Bob").find("slip"), std::string::npos);
}

TEST_F(ChatEditor, DumbTerminalIsReadLineByLine) {
  box_.set("TERM", "dumb");
  Terminal alice{box_, {"chat", "--name", "Alice", "--to", "Bob"}};
  ASSERT_TRUE(alice.shows("you are Alice"));
  alice.type("plain\n");
  EXPECT_TRUE(receives("Bob", "plain"));
  EXPECT_EQ(alice.screen().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
