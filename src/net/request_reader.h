/// Bytes of one connection in, cut anywhere; whole requests out, one after the other. Pure.
/// Boost.Beast, which reads the headers, stays in the .cc.
///
/// Why stricter than Beast: what two readers of the same bytes could take for different requests is refused (two lengths,
///   a length beside chunks, an unknown coding, folded lines, no or two hosts), because a page in a browser or a proxy
///   could otherwise speak in somebody else's name.
/// Invariants: the same bytes give the same requests however they are cut. At most one request is kept as it grows, within
///   the limits; what follows it waits as bytes, and whoever adds looks at `bytes_ahead`. After an error nothing more.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/server_request.h"

namespace relay::net {

/// Each is one status of an answer; see http_answer.h.
enum class RequestErrc { Malformed, HeadersTooLarge, BodyTooLarge, UnknownExpectation };
std::string_view describe(RequestErrc code);

enum class HttpVersion { Http10, Http11 };
enum class KeepAlive { No, Yes };

struct ReceivedRequest {
  ServerRequest request;
  HttpVersion version = HttpVersion::Http11;
  KeepAlive keep_alive = KeepAlive::Yes;  // as the client wishes
};

class RequestReader {
 public:
  RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  void add(std::string_view bytes) { ahead_.append(bytes); }

  /// The next request once its last byte is there.
  Result<std::optional<ReceivedRequest>> next();

  /// What the bytes so far end in.
  enum class ParsePosition { Nothing, Header, Body };
  [[nodiscard]] ParsePosition within() const;

  /// True once for each request whose client waits to be told that its body is welcome.
  [[nodiscard]] bool takes_continue();

  [[nodiscard]] std::size_t buffered_bytes() const { return ahead_.size(); }
  /// What followed the last request, for whoever goes on in another protocol.
  [[nodiscard]] std::string take_buffered() { return std::exchange(ahead_, {}); }

 private:
  /// A request whose body is still coming.
  struct PartialRequest;

  Result<bool> read_header();
  Result<bool> read_body();

  std::size_t max_header_bytes_;
  std::size_t max_body_bytes_;
  std::string ahead_;         // received, and not yet part of a request
  std::size_t searched_ = 0;  // of `ahead_`, without the end of a header in it
  std::unique_ptr<PartialRequest> growing_;
  bool continue_wanted_ = false;
};

}  // namespace relay::net
