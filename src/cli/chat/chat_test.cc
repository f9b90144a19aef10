#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"
#include "cli/chat/chat_line.h"
#include "cli/chat/line_input.h"

namespace relay::cli {
namespace {

TEST(Chat, LineStartsWithRecipient) {
  EXPECT_EQ(split_address("@Bob hello there").to, "Bob");
  EXPECT_EQ(split_address("@Bob hello there").text, "hello there");
  EXPECT_EQ(split_address("@* all").to, "*");
  EXPECT_EQ(split_address("@Bob\thello").to, "Bob");
  EXPECT_EQ(split_address("plain @Bob").to, "");
  EXPECT_EQ(split_address("plain @Bob").text, "plain @Bob");
  EXPECT_EQ(split_address("@Bob").to, "Bob");
  EXPECT_EQ(split_address("@Bob").text, "");
}

TEST(Chat, SlashStartsChatCommand) {
  EXPECT_EQ(parse_chat_command("/quit"), "quit");
  EXPECT_EQ(parse_chat_command("/quit now"), "quit");
  for (const auto* line : {"", "/", "/ quit", "/usr/bin is full", "/2", "quit", "@Bob /quit"})
    EXPECT_EQ(parse_chat_command(line), std::nullopt) << line;
}

TEST(Chat, LinesAfterFirstHaveMargin) {
  EXPECT_EQ(with_margin("one"), "one");
  EXPECT_EQ(with_margin("one\ntwo\n\nfour"), "one\n          | two\n          | \n          | four");
}

class LineRecorder : public LineListener {
 public:
  explicit LineRecorder(net::AsioLoop& loop) : loop_{loop} {}
  void on_line(std::string_view line) override {
    lines.emplace_back(line);
    if (lines.size() == pause_at || pausing) input->pause();
    if (pausing) loop_.post([this] { input->resume(); });
  }
  void on_line_too_long(std::string_view start, std::string_view end) override {
    ++too_long;
    dropped = std::string{start.substr(0, 3)} + "…" + std::string{end.substr(end.size() - 3)};
    EXPECT_LE(std::max(start.size(), end.size()), kDroppedLineSample);
  }
  void on_input_ended() override {
    EXPECT_FALSE(std::exchange(ended, true));
    loop_.stop();
  }

  std::vector<std::string> lines;
  std::string dropped;
  int too_long = 0;
  bool pausing = false;  // pauses after each line
  bool ended = false;
  std::size_t pause_at = 0;
  LineInput* input = nullptr;

 private:
  net::AsioLoop& loop_;
};

/// The lines of `text`, read from a pipe or from a file.
enum class Kind { Pipe, File };
LineRecorder read_lines(net::AsioLoop& loop, const std::string& text, Kind kind, std::size_t pause_at = 0,
                        bool pausing = false) {
  UniqueFd reading, writing;
  if (kind == Kind::Pipe) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  } else {
    FILE* file = std::tmpfile();
    reading.reset(::dup(::fileno(file)));
    writing.reset(::dup(::fileno(file)));
    std::fclose(file);
  }
  EXPECT_EQ(::write(writing.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  if (kind == Kind::File) ::lseek(reading.get(), 0, SEEK_SET);
  writing.reset();
  LineRecorder lines{loop};
  LineInput input{loop, reading.get(), lines};
  lines.input = &input;
  lines.pause_at = pause_at;
  lines.pausing = pausing;
  if (pause_at > 0) {
    const auto timer = loop.after(Millis{1}, [&] {
      EXPECT_EQ(lines.lines.size(), pause_at) << "no line is passed on while paused";
      input.resume();
    });
    loop.run();
  } else {
    loop.run();
  }
  return lines;
}

TEST(LineInput, ReadsLinesFromPipesAndFiles) {
  for (const auto kind : {Kind::Pipe, Kind::File}) {
    net::AsioLoop loop;
    const auto read = read_lines(loop, "one\r\ntwo\n\nlast without end", kind);
    EXPECT_EQ(read.lines, (std::vector<std::string>{"one", "two", "", "last without end"}));
  }
}

TEST(LineInput, ResumesAfterPause) {
  for (const auto kind : {Kind::Pipe, Kind::File}) {
    net::AsioLoop loop;
    const auto read = read_lines(loop, "one\ntwo\nthree\n", kind, 1);
    EXPECT_EQ(read.lines, (std::vector<std::string>{"one", "two", "three"}));
  }
}

TEST(LineInput, DeliversEveryLineAfterInputEnded) {
  std::string text;
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(std::to_string(i) + std::string(100, 'x'));
    text += all.back() + "\n";
  }
  all.emplace_back("last without end");
  for (const auto kind : {Kind::Pipe, Kind::File}) {
    net::AsioLoop loop;
    EXPECT_EQ(read_lines(loop, text + all.back(), kind, 0, true).lines, all);
  }
}

TEST(LineInput, DropsTooLongLine) {
  net::AsioLoop loop;
  const auto read = read_lines(loop, "a\n123" + std::string(2 * kMaxLineBytes, 'x') + "789\r\nb\n", Kind::File);
  EXPECT_EQ(read.lines, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read.too_long, 1);
  EXPECT_EQ(read.dropped, "123…789");
  for (const std::size_t more : {1UL, 5UL, kDroppedLineSample})
    EXPECT_EQ(
        read_lines(loop, std::string(kMaxLineBytes + 16 * 1024, 'x') + std::string(more, 'y'), Kind::File).too_long, 1);
}

}  // namespace
}  // namespace relay::cli
