/// A parser of HTTP requests: the bytes of one connection in, split anywhere; whole requests out, in order. Pure. Only
///   the .cc names Boost.Beast, which parses the headers.
///
/// Why stricter than Beast: it refuses bytes that two readers could take for different requests (two lengths, a length
///   beside chunks, an unknown coding, folded lines, no or two hosts), because a page in a browser or a proxy could
///   otherwise smuggle a request.
/// Invariants: the same bytes give the same requests however they are split. At most one partial request is kept,
///   within the limits; the bytes behind it stay buffered, and the caller bounds `buffered_bytes`. After an error the
///   reader must not be used.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/server_request.h"

namespace relay::net {

/// Each code maps to one response status; see http_connection.cc.
enum class RequestErrc { Malformed, HeadersTooLarge, BodyTooLarge, UnknownExpectation };
std::string_view describe(RequestErrc code);

enum class HttpVersion { Http10, Http11 };
enum class KeepAlive { No, Yes };

struct ReceivedRequest {
  ServerRequest request;
  HttpVersion version = HttpVersion::Http11;
  KeepAlive keep_alive = KeepAlive::Yes;  // as the client requests
};

class RequestReader {
 public:
  RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  void add(std::string_view bytes) { buffer_.append(bytes); }

  /// The next request, once it is complete.
  Result<std::optional<ReceivedRequest>> next();

  /// Where the bytes so far end.
  enum class ParsePosition { Nothing, Header, Body };
  [[nodiscard]] ParsePosition position() const;

  /// True once per request whose client waits for 100 Continue before it sends the body.
  [[nodiscard]] bool take_continue();

  [[nodiscard]] std::size_t buffered_bytes() const { return buffer_.size(); }
  /// The bytes behind the last request, for a caller that switches to another protocol.
  [[nodiscard]] std::string take_buffered() { return std::exchange(buffer_, {}); }

 private:
  /// A request whose body is incomplete.
  struct PartialRequest;

  Result<bool> read_header();
  Result<bool> read_body();

  std::size_t max_header_bytes_;
  std::size_t max_body_bytes_;
  std::string buffer_;        // received, not yet part of a request
  std::size_t searched_ = 0;  // bytes without the end of a header in them
  std::unique_ptr<PartialRequest> partial_;
  bool continue_expected_ = false;
};

}  // namespace relay::net
