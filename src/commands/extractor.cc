#include "commands/extractor.h"

#include <algorithm>
#include <cstring>

namespace relay::commands {
namespace {

const char* find_byte(const char* from, const char* end, char byte) {
  return static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(end - from)));
}

/// The position of the next possible file command; one search per piece instead of one per line.
class TriggerScan {
 public:
  TriggerScan(const char* begin, const char* end) : end_{end} { scan(begin); }
  bool before(const char* line_begin, const char* line_end) {
    if (next_ < line_begin) scan(line_begin);
    return next_ < line_end;
  }

 private:
  void scan(const char* from) {
    const std::string_view rest{from, static_cast<std::size_t>(end_ - from)};
    const void* hit = ::memmem(rest.data(), rest.size(), kFilePrefixEnd.data(), kFilePrefixEnd.size());
    next_ = hit == nullptr ? end_ : static_cast<const char*>(hit);
  }

  const char* end_;
  const char* next_ = nullptr;
};

}  // namespace

std::vector<Command> Extractor::feed(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  if (at == end) return {};
  if (held_bytes_ > 0) {
    const char* newline = find_byte(at, end, '\n');
    hold({at, static_cast<std::size_t>((newline == nullptr ? end : newline) - at)});
    if (newline == nullptr) return {};
    take_held();
    at = newline + 1;
  }
  TriggerScan triggers{at, end};
  while (const char* newline = at == end ? nullptr : find_byte(at, end, '\n')) {
    const auto length = static_cast<std::size_t>(newline - at);
    grammar_.take({.text = {at, std::min(length, kMaxLineBytes)},
                   .offset = line_offset_,
                   .number = line_number_,
                   .cut = length > kMaxLineBytes,
                   .may_hold_trigger = triggers.before(at, newline)});
    line_offset_ += length + 1;
    ++line_number_;
    at = newline + 1;
  }
  if (at != end) hold({at, static_cast<std::size_t>(end - at)});
  return grammar_.take_commands();
}

std::vector<Command> Extractor::finish() {
  if (held_bytes_ > 0) {
    take_held();
    --line_offset_;  // there is no line end
  }
  grammar_.finish();
  return grammar_.take_commands();
}

std::vector<Command> Extractor::flush() {
  if (held_bytes_ == 0) grammar_.flush();
  return grammar_.take_commands();
}

void Extractor::hold(std::string_view part) {
  held_.append(part.substr(0, kMaxLineBytes - held_.size()));
  held_bytes_ += part.size();
}

void Extractor::take_held() {
  grammar_.take({.text = held_,
                 .offset = line_offset_,
                 .number = line_number_,
                 .cut = held_bytes_ > kMaxLineBytes,
                 .may_hold_trigger = held_.find(kFilePrefixEnd) != std::string::npos});
  line_offset_ += held_bytes_ + 1;
  ++line_number_;
  held_.clear();
  held_bytes_ = 0;
}

std::vector<Command> extract(std::string_view text, const GrammarOptions& options) {
  Extractor extractor{options};
  auto commands = extractor.feed(text);
  auto last = extractor.finish();
  commands.insert(commands.end(), std::make_move_iterator(last.begin()), std::make_move_iterator(last.end()));
  return commands;
}

}  // namespace relay::commands
