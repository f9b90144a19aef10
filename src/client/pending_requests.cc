#include "client/pending_requests.h"

#include <utility>

#include "base/format.h"
#include "client/errors.h"
#include "protocol/send.h"
#include "text/json_scanner.h"

namespace relay::client {
namespace {

using protocol::MessageType;

struct ReplyTo final : text::MemberVisitor {
  std::string id;
  void member(std::string_view key, text::JsonSlice value) override {
    if (key == "replyTo" && value.kind == text::JsonKind::String) id = text::decode_string(value.raw);
  }
};

/// The id of the request that this frame responds to.
std::string request_id_of(const protocol::Envelope& envelope) {
  if (envelope.type == MessageType::Nack) {
    const auto nack = protocol::parse_nack(envelope.payload);
    return nack ? nack->nack_id : std::string{};
  }
  if (protocol::name_of(envelope.type).ends_with("_RESULT")) {
    ReplyTo reply;
    if (text::scan_object(envelope.payload, reply) && !reply.id.empty()) return reply.id;
  }
  return std::string{envelope.id};
}

}  // namespace

void PendingRequests::add(std::string id, Millis timeout, OnResponse on_response) {
  auto timer = loop_.after(timeout, [this, id, timeout] {
    finish(id, fail(Errc::TimedOut, format("the daemon did not respond within {} ms; try again", timeout.count())));
  });
  open_.insert_or_assign(std::move(id), Open{std::move(on_response), std::move(timer)});
}

bool PendingRequests::answer(const protocol::Envelope& envelope) {
  if (open_.empty()) return false;
  const auto id = request_id_of(envelope);
  if (!open_.contains(id)) return false;
  if (envelope.type == MessageType::Nack) {
    const auto nack = protocol::parse_nack(envelope.payload);
    finish(id,
           nack ? refused_by_daemon(nack->code, nack->message) : fail(Errc::Refused, "the daemon refused the request"));
  } else if (envelope.type == MessageType::Error) {
    const auto error = protocol::parse_error(envelope.payload);
    finish(id, error ? refused_by_daemon(error->code, error->message)
                     : fail(Errc::Refused, "the daemon refused the request"));
  } else {
    finish(id, &envelope);
  }
  return true;
}

void PendingRequests::fail_all(const std::string& why) {
  for (auto open = std::exchange(open_, {}); auto& [id, request] : open)
    request.on_response(
        fail(Errc::Lost, format("the connection was lost before the daemon responded ({}); try again", why)));
}

void PendingRequests::finish(const std::string& id, Result<const protocol::Envelope*> result) {
  auto node = open_.extract(
      id);  // first out of the map: the callback may make another request, and the timer may be the caller
  if (!node.empty()) node.mapped().on_response(std::move(result));
}

}  // namespace relay::client
