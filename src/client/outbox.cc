#include "client/outbox.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "client/errors.h"
#include "client/outbox_file.h"
#include "protocol/envelope.h"
#include "protocol/limits.h"
#include "protocol/outgoing_send.h"
#include "text/json_scanner.h"
#include "text/utf8.h"

namespace relay::client {
namespace {

constexpr std::size_t kEpochBytes = 8;
constexpr std::size_t kRandomIdBytes = 12;
constexpr std::size_t kRecordSlackBytes = 256;  // of an entry in the file, around its texts

struct NoMembers final : text::MemberVisitor {
  void member(std::string_view, text::JsonSlice) override {}
};

bool is_object(std::string_view json) {
  NoMembers ignore_members;
  return text::is_utf8(json) && text::scan_object(json, ignore_members, 1).has_value();
}

std::size_t size_of(const OutgoingMessage& message) {
  return message.to.size() + message.topic.size() + message.payload.size() + message.payload_meta.size();
}

Result<void> check(const OutgoingMessage& message) {
  if (message.type == protocol::MessageType::Send && message.to.empty())
    return fail(Errc::BadMessage, "the message has no recipient; name an agent, or '*' for everyone");
  if (message.type != protocol::MessageType::Send && message.type != protocol::MessageType::ChannelMessage)
    return fail(Errc::BadMessage, "only SEND and CHANNEL_MESSAGE go through the outbox");
  if (message.to.size() > protocol::kMaxTopicBytes || message.topic.size() > protocol::kMaxTopicBytes)
    return fail(Errc::BadMessage,
                format("the recipient or the topic is longer than {} bytes", protocol::kMaxTopicBytes));
  if (text::has_control_characters(message.to) || text::has_control_characters(message.topic))
    return fail(Errc::BadMessage, "the recipient or the topic contains a control character; leave it out");
  if (!text::is_utf8(message.to) || !text::is_utf8(message.topic) || !is_object(message.payload) ||
      (!message.payload_meta.empty() && !is_object(message.payload_meta)))
    return fail(Errc::BadMessage, "the message is not a valid JSON object in UTF-8; check its payload");
  if (size_of(message) + protocol::kEnvelopeReserveBytes > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge, format("the message has {} bytes, more than the {} a frame can hold; send it as a file",
                                       size_of(message), protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes));
  return {};
}

}  // namespace

Result<OutgoingMessage> encode_message(const protocol::OutgoingSend& send) {
  auto encoded = RELAY_TRY(protocol::encode_send(send));
  return OutgoingMessage{.to = send.to,
                         .payload = std::move(encoded.payload),
                         .topic = send.topic,
                         .payload_meta = std::move(encoded.payload_meta)};
}

Outbox::Outbox(OutboxLimits limits, Random& random) : limits_{limits}, random_{random} {}

Outbox::Outbox(Numbering numbering, OutboxLimits limits, Random& random)
    : limits_{limits}, random_{random}, numbering_{numbering} {
  if (numbering == Numbering::Epoch) epoch_ = random.hex(kEpochBytes);
}

Outbox::~Outbox() = default;

Result<std::unique_ptr<Outbox>> Outbox::open(Directory& directory, const std::string& name, OutboxLimits limits,
                                             SyncOn sync, Random& random) {
  auto lock = RELAY_TRY(directory.lock(name + ".lock"));
  // Above the bound that rewriting ensures: entries up to their limit, each with its record around it.
  const auto max_file_bytes = kRewriteSlackBytes +
                              (kRewriteFactor + 1) * (limits.max_bytes + limits.max_entries * kRecordSlackBytes) +
                              protocol::kMaxFrameBytes;
  const auto bytes = RELAY_TRY(directory.read(name, max_file_bytes));

  std::unique_ptr<Outbox> outbox{new Outbox{limits, random}};
  outbox->sync_ = sync;
  outbox->file_ = std::make_unique<OutboxFile>(directory, name, std::move(lock));
  auto image = parse_outbox(bytes.value_or(""));
  outbox->recovery_ = {image.unanswered.size(), image.torn_bytes, image.damaged_bytes};
  if (image.epoch.empty()) {
    if (bytes && !bytes->empty()) {
      // No record is usable. The bytes stay available to the user, and a new epoch is always safe.
      RELAY_TRY(directory.replace(name + ".damaged", name));
      outbox->recovery_ = {0, 0, bytes->size()};
    }
    outbox->epoch_ = random.hex(kEpochBytes);
  } else {
    outbox->epoch_ = std::move(image.epoch);
    outbox->next_ = image.next;
    for (auto& entry : image.unanswered) {
      outbox->bytes_ += size_of(entry.message);
      outbox->entries_.push_back(std::move(entry));
    }
  }
  const bool whole = bytes && image.torn_bytes == 0 && image.damaged_bytes == 0 && !image.epoch.empty();
  if (whole && !OutboxFile::mostly_history(bytes->size(), outbox->live_bytes()))
    RELAY_TRY(outbox->file_->continue_after(bytes->size()));
  else
    RELAY_TRY(outbox->file_->rewrite(outbox->epoch_, outbox->next_, outbox->entries_));
  return outbox;
}

std::size_t Outbox::live_bytes() const { return bytes_ + entries_.size() * kRecordSlackBytes; }

std::string Outbox::id_of(std::uint64_t number) {
  return numbering_ == Numbering::Epoch ? outbox_id(epoch_, number) : "m-" + random_.hex(kRandomIdBytes);
}

Result<std::string> Outbox::add(OutgoingMessage message) {
  RELAY_TRY(check(message));
  const auto size = size_of(message);
  if (entries_.size() >= limits_.max_entries || (!entries_.empty() && bytes_ + size > limits_.max_bytes))
    return fail(Errc::Full, format("the outbox is full ({} messages, {} bytes pending); try again when the daemon "
                                   "has answered some",
                                   entries_.size(), bytes_));
  OutboxEntry entry{.number = next_, .id = id_of(next_), .message = std::move(message), .lost = false};
  if (file_) {
    if (file_->wants_rewrite(live_bytes())) RELAY_TRY(file_->rewrite(epoch_, next_, entries_));
    std::string record;
    append_message_record(record, epoch_, entry);
    auto appended = file_->append(record);
    if (appended && sync_ == SyncOn::EachAdd) appended = file_->sync();
    if (!appended) {
      // Roll back bytes that may have reached the disk; if that fails as well, a crash now could still restore the
      // record.
      (void)file_->rewrite(epoch_, next_, entries_);
      return Failure{std::move(appended).error()};
    }
  }
  ++next_;
  bytes_ += size;
  entries_.push_back(std::move(entry));
  return entries_.back().id;
}

Result<void> Outbox::make_durable() {
  if (!file_) return {};
  if (!file_->usable()) return file_->rewrite(epoch_, next_, entries_);
  return file_->sync();
}

bool Outbox::answered(std::string_view id) {
  const auto* found = find(id);
  if (!found) return false;
  const auto number = found->number;
  bytes_ -= size_of(found->message);
  entries_.erase(std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.number == number; }));
  if (file_ && file_->usable()) {
    // A failure or a later loss of this record does no harm: the daemon sends the same response again.
    std::string record;
    append_answer_record(record, number);
    (void)file_->append(record);
    if (entries_.empty() && file_->wants_rewrite(0)) (void)file_->rewrite(epoch_, next_, entries_);
  }
  return true;
}

const OutboxEntry* Outbox::after(std::uint64_t number) const {
  const auto found = std::upper_bound(entries_.begin(), entries_.end(), number,
                                      [](std::uint64_t n, const OutboxEntry& entry) { return n < entry.number; });
  return found == entries_.end() ? nullptr : &*found;
}

std::size_t Outbox::position_of(const OutboxEntry& entry) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), entry.number,
                                      [](const OutboxEntry& e, std::uint64_t n) { return e.number < n; });
  return static_cast<std::size_t>(found - entries_.begin());
}

const OutboxEntry* Outbox::find(std::string_view id) const {
  // Responses arrive almost in order, so the search ends after a few entries.
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace relay::client
