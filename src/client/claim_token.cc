#include "client/claim_token.h"

namespace relay::client {
namespace {

constexpr std::size_t kMaxClaimFileBytes = 256;
constexpr std::size_t kTokenRandomBytes = 24;

}  // namespace

Result<std::string> load_or_create_claim_token(Directory& directory, const std::string& name, Random& random) {
  const auto existing = RELAY_TRY(directory.read(name, kMaxClaimFileBytes)).value_or("");
  if (!existing.empty()) return existing;
  const auto token = random.hex(kTokenRandomBytes);
  {
    const auto fresh = RELAY_TRY(directory.create(name + ".new"));
    RELAY_TRY(fresh->append(token));
  }
  RELAY_TRY(directory.replace(name, name + ".new"));
  return token;
}

}  // namespace relay::client
