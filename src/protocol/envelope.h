/// The envelope around every frame: read without touching the payload, written around the received bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/errors.h"
#include "protocol/message_type.h"

namespace relay::protocol {

/// Views into the frame; they live as long as the frame's bytes and this object. Absent text fields are empty.
/// The views stay valid after a move. Copying would not, so an Envelope cannot be copied.
struct Envelope {
  MessageType type{};
  std::string_view id;
  WallMs ts = 0;
  std::string_view from;
  std::string_view to;
  std::string_view topic;
  std::string_view claim_token;     // of a program that sends for a connected agent; never forwarded
  std::string_view payload;         // raw JSON object, `{}` at least
  std::string_view payload_meta;    // raw JSON object or empty
  std::string_view delivery;        // raw JSON object or empty
  std::unique_ptr<char[]> decoded;  // backs the views whose text had escapes; null when none had
};

/// Strict: an object, UTF-8, `v` 1, a defined type, an id, a payload object, text fields within limits and free of
/// control characters. A field that is null counts as absent, an absent `ts` is 0, unknown members are ignored.
/// On UnknownType the error's message names the type, and the connection may stay open.
Result<Envelope> parse_envelope(std::string_view frame);

/// Only type and id, of a frame that is valid up to there: enough to refuse it by its id.
std::optional<Envelope> parse_head(std::string_view frame);

/// An outgoing envelope. Empty text fields and empty slices are left out, as published clients expect.
struct OutEnvelope {
  MessageType type{};
  std::string_view id;
  WallMs ts = 0;
  std::string_view from = {};
  std::string_view to = {};
  std::string_view topic = {};
  std::string_view claim_token = {};
  std::string_view payload = "{}";
  std::string_view payload_meta = {};
  std::string_view delivery = {};
};

std::string write_envelope(const OutEnvelope& envelope);

}  // namespace relay::protocol
