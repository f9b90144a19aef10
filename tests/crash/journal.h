/// The actions of one client, as lines in two append-only files: the only input of the comparison.
///
///   sent      T <n> <to> <topic>       before message n of this stream is passed to the outbox
///             O <n> <to> <topic>       the outbox accepted it
///             X <text>                 the daemon rejected one permanently (never expected)
///             D                        stopped sending, and everything is acknowledged
///   received  R <seq> <n> <from> <topic>
///
/// Each entry, or batch of entries, is one write(2): a killed process leaves whole lines, and a torn last line (a
/// full disk) counts as not written. An empty topic is written `-`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::crash {

/// One direction of a conversation from one client's view: the peer and the topic.
struct Lane {
  std::string peer;
  std::string topic;

  friend auto operator<=>(const Lane&, const Lane&) = default;
};

struct SentJournal {
  std::map<Lane, std::uint64_t> next;                   // first number never tried
  std::map<Lane, std::vector<std::uint64_t>> accepted;  // by the outbox, ascending
  std::vector<std::string> refused;
  bool drained = false;
};

struct Receipt {
  Lane lane;
  std::uint64_t seq = 0;
  std::uint64_t number = 0;
};

SentJournal parse_sent(std::string_view text);
std::vector<Receipt> parse_received(std::string_view text);

std::string tried_line(const Lane& lane, std::uint64_t number);
std::string accepted_line(const Lane& lane, std::uint64_t number);
std::string received_line(const Receipt& receipt);

/// The whole file; empty if it does not exist.
Result<std::string> read_file(const std::string& path);

/// Appends with one write(2) each.
class JournalFile {
 public:
  static Result<JournalFile> open(const std::string& path);
  Result<void> append(std::string_view lines);

 private:
  explicit JournalFile(UniqueFd fd) : fd_{std::move(fd)} {}
  UniqueFd fd_;
};

}  // namespace relay::crash
