/// What a client of our HTTP server asks, as a value.
///
/// Invariants of a request that reaches a handler: its path begins with '/', names and values of headers have no control
///   bytes, and the body is whole.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/peer_uid.h"

namespace relay::net {

struct HttpHeader {
  std::string name;
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

/// In the order they came; names are the same in upper and lower case.
class HttpHeaders {
 public:
  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }

  /// The first of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  /// Is the word one of the comma-separated values of that name, in any case? "Connection: keep-alive, Upgrade".
  [[nodiscard]] bool lists(std::string_view name, std::string_view word) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }

 private:
  std::vector<HttpHeader> fields_;
};

/// Who asked.
struct HttpPeer {
  std::string address = {};  // "127.0.0.1"; empty when it did not come by TCP
  std::uint16_t port = 0;
  std::optional<uid_t> uid = {};     // whose program it is, by the kernel's word; see peer_uid.h
  std::optional<TcpEnds> ends = {};  // by which its socket is found again
};

struct ServerRequest {
  std::string method = {};  // as it was sent: "GET"
  std::string path = {};    // still escaped, without the query; request_target.h takes it apart
  std::string query = {};   // still escaped, what follows '?'
  HttpHeaders headers = {};
  std::string body = {};
  HttpPeer peer = {};
};

/// Letters of ASCII only: what HTTP calls case-insensitive.
bool equals_ignore_case(std::string_view a, std::string_view b);

}  // namespace relay::net
