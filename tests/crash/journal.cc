#include "journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "base/format.h"

namespace relay::crash {
namespace {

constexpr std::string_view kNoTopic = "-";

std::string_view topic_word(const std::string& topic) { return topic.empty() ? kNoTopic : std::string_view{topic}; }

/// The words of each whole line, at most five.
template <class OnLine>
void each_line(std::string_view text, OnLine on_line) {
  while (true) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return;
    auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::array<std::string_view, 5> words;
    std::size_t count = 0;
    while (count < words.size() && !line.empty()) {
      const auto space = line.find(' ');
      words[count++] = line.substr(0, space);
      line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
    on_line(words, count);
  }
}

std::uint64_t number_of(std::string_view word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

Lane lane_of(std::string_view peer, std::string_view topic) {
  return {std::string{peer}, topic == kNoTopic ? std::string{} : std::string{topic}};
}

}  // namespace

SentJournal parse_sent(std::string_view text) {
  SentJournal journal;
  each_line(text, [&](const auto& words, std::size_t count) {
    if (words[0] == "T" && count == 4) {
      journal.next[lane_of(words[2], words[3])] = number_of(words[1]) + 1;
    } else if (words[0] == "O" && count == 4) {
      journal.accepted[lane_of(words[2], words[3])].push_back(number_of(words[1]));
    } else if (words[0] == "X") {
      journal.refused.emplace_back(words[1]);
    } else if (words[0] == "D") {
      journal.drained = true;
    }
  });
  return journal;
}

std::vector<Receipt> parse_received(std::string_view text) {
  std::vector<Receipt> receipts;
  each_line(text, [&](const auto& words, std::size_t count) {
    if (words[0] == "R" && count == 5)
      receipts.push_back({lane_of(words[3], words[4]), number_of(words[1]), number_of(words[2])});
  });
  return receipts;
}

std::string tried_line(const Lane& lane, std::uint64_t number) {
  return relay::format("T {} {} {}\n", number, lane.peer, topic_word(lane.topic));
}

std::string accepted_line(const Lane& lane, std::uint64_t number) {
  return relay::format("O {} {} {}\n", number, lane.peer, topic_word(lane.topic));
}

std::string received_line(const Receipt& receipt) {
  return relay::format("R {} {} {} {}\n", receipt.seq, receipt.number, receipt.lane.peer,
                       topic_word(receipt.lane.topic));
}

Result<std::string> read_file(const std::string& path) {
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return errno == ENOENT ? Result<std::string>{std::string{}} : fail_errno("cannot open " + path);
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const auto got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0) return fail_errno("cannot read " + path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<JournalFile> JournalFile::open(const std::string& path) {
  UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  if (!fd) return fail_errno("cannot open " + path);
  return JournalFile{std::move(fd)};
}

Result<void> JournalFile::append(std::string_view lines) {
  const auto wrote = ::write(fd_.get(), lines.data(), lines.size());
  if (wrote < 0) return fail_errno("cannot write the journal");
  if (static_cast<std::size_t>(wrote) != lines.size()) return fail("a journal write was incomplete");
  return {};
}

}  // namespace relay::crash
