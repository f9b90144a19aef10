#include "client/errors.h"

#include "net/unix_address.h"
#include "protocol/send.h"

namespace relay::client {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::NoDaemon: return "no daemon";
    case Errc::Refused: return "refused by the daemon";
    case Errc::Full: return "outbox full";
    case Errc::TooLarge: return "message too large";
    case Errc::BadMessage: return "bad message";
    case Errc::NotReady: return "link not ready";
    case Errc::TimedOut: return "timed out";
    case Errc::Lost: return "link lost";
  }
  return "unknown";
}

Failure refused_by_daemon(std::string_view code, std::string message) {
  using protocol::ErrorCode;
  using protocol::NackCode;
  if (code == name_of(ErrorCode::Timeout)) return fail(Errc::TimedOut, std::move(message));
  const auto refusal = code == name_of(ErrorCode::NotFound)       ? NackCode::UnknownRecipient
                       : code == name_of(ErrorCode::Unauthorized) ? NackCode::NotOwner
                       : code == name_of(ErrorCode::Internal)     ? NackCode::Storage
                                                                  : protocol::parse_nack_code(code);
  return refusal ? fail(*refusal, std::move(message)) : fail(Errc::Refused, std::move(message));
}

std::string connect_reason(const Error& error) {
  return is(error, net::Errc::ConnectionRefused) ? std::string{net::describe(net::Errc::ConnectionRefused)}
                                                 : error.message();
}

}  // namespace relay::client
