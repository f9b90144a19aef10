#include "mcp/relay_client.h"

#include "base/format.h"
#include "base/hash.h"

namespace relay::mcp {

std::string key_of(const protocol::OutgoingSend& message) {
  return message.meta.delivery ? message.meta.delivery->idempotency_key : std::string{};
}

std::string fingerprint_of(std::string_view to, std::string_view payload) {
  return sha256_hex(format("{}\n{}", to, payload)).substr(0, 32);
}

Failure key_is_taken(std::string_view key) {
  return fail(
      format("the idempotency_key {} was used for another message, and this one was not sent; give each "
             "message a different key",
             key));
}

}  // namespace relay::mcp
