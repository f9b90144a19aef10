#include "client/outbox_format.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/hash.h"
#include "protocol/limits.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::client {
namespace {

constexpr std::size_t kCheckLength = 8;
constexpr std::size_t kMaxRecordBytes = 2 * protocol::kMaxFrameBytes;
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 52;  // below what every JSON reader can hold

void append_record(std::string& out, std::string_view json) {
  out += format("{:08x} {} ", json.size(), std::string_view{sha256_hex(json)}.substr(0, kCheckLength));
  out += json;
  out += '\n';
}

std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// The JSON of the record that starts here; empty when none does.
std::optional<std::string_view> record_at(std::string_view rest) {
  if (rest.size() <= kRecordHeadBytes || rest[8] != ' ' || rest[17] != ' ') return std::nullopt;
  const auto length = number_of(rest.substr(0, 8), 16);
  if (!length || *length > kMaxRecordBytes || *length >= rest.size() - kRecordHeadBytes)
    return std::nullopt;  // the line end must fit as well
  const auto json = rest.substr(kRecordHeadBytes, *length);
  if (rest[kRecordHeadBytes + *length] != '\n') return std::nullopt;
  if (std::string_view{sha256_hex(json)}.substr(0, kCheckLength) != rest.substr(9, kCheckLength)) return std::nullopt;
  return json;
}

struct Record final : text::MemberVisitor {
  std::uint64_t number = 0, answered = 0, first = 0;
  std::string epoch, type = "SEND";
  bool lost = false;
  OutgoingMessage message;

  void member(std::string_view key, text::JsonSlice value) override {
    const auto text = [&] {
      return value.kind == text::JsonKind::String ? text::decode_string(value.raw) : std::string{};
    };
    const auto number_here = [&] { return number_of(value.raw, 10).value_or(0); };
    if (key == "n") number = number_here();
    if (key == "answered") answered = number_here();
    if (key == "first") first = number_here();
    if (key == "epoch") epoch = text();
    if (key == "type") type = text();
    if (key == "lost") lost = value.raw == "true";
    if (key == "to") message.to = text();
    if (key == "topic") message.topic = text();
    if (key == "payload" && value.kind == text::JsonKind::Object) message.payload = value.raw;
    if (key == "payload_meta" && value.kind == text::JsonKind::Object) message.payload_meta = value.raw;
  }

  /// True when it is one of the four kinds and complete.
  bool sensible() {
    if (std::max(number, answered) > kMaxNumber || first > kMaxNumber + 1) return false;
    if (answered != 0) return true;
    if (epoch.empty() || epoch.size() > kMaxEpochBytes) return false;
    if (first != 0) return true;
    const auto type_of_record = protocol::parse_message_type(type);
    if (number == 0 || !type_of_record) return false;
    message.type = *type_of_record;
    return lost || !message.payload.empty();
  }
};

/// Collects records into an image; refuses records that do not fit the earlier ones.
class Reader {
 public:
  /// `skipped` damaged bytes lie between the last message record and this one. False: no good record.
  bool take(std::string_view json, std::size_t skipped) {
    Record record;
    if (!text::is_utf8(json) || !text::scan_object(json, record) || !record.sensible()) return false;
    if (record.answered != 0) {
      if (!started_) return true;  // of an earlier state without remaining messages
      if (record.answered >= next_ + numbers_in(skipped)) return false;
      while (next_ <= record.answered) lose(next_++);
      unanswered_.erase(record.answered);
      return true;
    }
    if (!epoch_.empty() && record.epoch != epoch_) return false;
    if (record.first != 0) {
      if (started_) return false;
      start(record.epoch, record.first);
      return true;
    }
    if (!started_) start(record.epoch, record.number - std::min(record.number - 1, std::uint64_t{numbers_in(skipped)}));
    if (record.number < next_ || record.number > next_ + numbers_in(skipped)) return false;
    while (next_ < record.number) lose(next_++);
    next_ = record.number + 1;
    auto& entry = unanswered_[record.number];
    entry.number = record.number;
    entry.lost = record.lost;
    entry.message = std::move(record.message);
    last_was_message_ = true;
    return true;
  }

  /// After the last record: damaged bytes behind the last message may have contained messages too.
  void finish(std::size_t skipped) {
    for (std::size_t left = numbers_in(skipped); started_ && left > 0 && next_ <= kMaxNumber; --left) lose(next_++);
  }

  /// Was the last accepted record a message? Damage before it is then accounted for.
  bool last_was_message() { return std::exchange(last_was_message_, false); }

  OutboxImage image() && {
    OutboxImage image;
    image.epoch = std::move(epoch_);
    image.next = next_;
    for (auto& [number, entry] : unanswered_) {
      entry.id = outbox_id(image.epoch, number);
      image.unanswered.push_back(std::move(entry));
    }
    return image;
  }

 private:
  static std::size_t numbers_in(std::size_t bytes) {
    return (bytes + kMinMessageRecordBytes - 1) / kMinMessageRecordBytes;
  }
  void start(const std::string& epoch, std::uint64_t first) {
    started_ = true;
    epoch_ = epoch;
    next_ = first;
  }
  void lose(std::uint64_t number) {
    auto& entry = unanswered_[number];
    entry.number = number;
    entry.lost = true;
  }

  bool started_ = false;
  bool last_was_message_ = false;
  std::string epoch_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, OutboxEntry> unanswered_;
};

}  // namespace

void append_first_record(std::string& out, std::string_view epoch, std::uint64_t first) {
  append_record(out, text::JsonWriter{}.field("epoch", epoch).field("first", first).take());
}

void append_message_record(std::string& out, std::string_view epoch, const OutboxEntry& entry) {
  text::JsonWriter writer;
  writer.field("n", entry.number).field("epoch", epoch);
  if (entry.lost) {
    writer.field("lost", true);
  } else {
    writer.field("type", protocol::name_of(entry.message.type));
    writer.optional("to", entry.message.to).optional("topic", entry.message.topic);
    writer.raw("payload", entry.message.payload);
    if (!entry.message.payload_meta.empty()) writer.raw("payload_meta", entry.message.payload_meta);
  }
  append_record(out, writer.take());
}

void append_answer_record(std::string& out, std::uint64_t number) {
  append_record(out, text::JsonWriter{}.field("answered", number).take());
}

OutboxImage parse_outbox(std::string_view file) {
  Reader reader;
  std::size_t damaged = 0;        // bytes that are not a record, with a valid record behind them
  std::size_t since_message = 0;  // of these, behind the last message record
  std::size_t suspect = 0;        // bytes that are not a record, no valid record behind them yet
  while (!file.empty()) {
    const auto json = record_at(file);
    if (json && reader.take(*json, since_message + suspect)) {
      damaged += suspect;
      since_message += suspect;
      suspect = 0;
      if (reader.last_was_message()) since_message = 0;
      file.remove_prefix(kRecordHeadBytes + json->size() + 1);
      continue;
    }
    const auto line = std::min(file.find('\n'), file.size() - 1) + 1;
    suspect += line;
    file.remove_prefix(line);
  }
  reader.finish(since_message);
  auto image = std::move(reader).image();
  image.torn_bytes = suspect;
  image.damaged_bytes = damaged;
  return image;
}

std::string outbox_id(std::string_view epoch, std::uint64_t number) { return format("{}-{}", epoch, number); }

}  // namespace relay::client
