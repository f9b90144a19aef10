/// The fields of a SEND (wire.md 8.1) as values, their limits, and their encoding.
///
/// Why one type: the command line, chat, the MCP server, embedded sessions, the HTTP API and the host each wrote the
///   payload by hand, with different fields and different checks.
/// Invariants: parse_send() and parse_send_meta() read back everything that encode_send() accepts, and the daemon
///   refuses no field of it but `to`. A refusal carries the NackCode of the daemon's response: BadRequest or TooLarge.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/contract.h"
#include "protocol/send.h"

namespace relay::protocol {

struct OutgoingSend {
  std::string to = {};    // a name, `*`, `#channel`
  std::string body = {};  // bytes that are not UTF-8 are sent as U+FFFD
  std::string kind = {};  // empty: `message`
  std::string topic = {};
  std::string thread = {};
  std::string data = {};  // a JSON object; empty: none
  std::vector<std::string> mentions = {};
  std::vector<Attachment> attachments = {};  // written from name, path, bytes, sha256 and media_type
  SendMeta meta = {};
};

struct EncodedSend {
  std::string payload;
  std::string payload_meta;  // empty when every field of the meta has its default
};
Result<EncodedSend> encode_send(const OutgoingSend& send);

}  // namespace relay::protocol
