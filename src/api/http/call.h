/// A parsed request of a route, and the means to respond to it once.
///
/// Invariants: exactly one response. A Call destroyed without a response sends 500 and logs the route's operation.
/// Threading: the API's loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/api_error.h"
#include "net/http_response.h"
#include "net/request_target.h"
#include "net/server_request.h"
#include "protocol/peer_origin.h"
#include "schema/schema.h"

namespace relay::api {

struct Route;

class Call {
 public:
  /// Sends a response to the client; called at most once.
  using Send = std::move_only_function<void(net::ServerResponse)>;
  /// Hands out the ResponseWriter for streams; null without a connection (tests).
  using Yield = std::move_only_function<net::ResponseWriter()>;

  /// Responds on a connection in one of two forms.
  struct ReplyPaths {
    Send send;
    Yield yield;
  };
  static ReplyPaths reply_paths_of(net::ResponseWriter reply);

  Call(const Route& route, net::ServerRequest request, net::QueryParameters query, std::vector<std::string> values,
       Send send, Yield yield = nullptr);
  Call(Call&& other) noexcept;
  Call& operator=(Call&&) = delete;
  ~Call();

  [[nodiscard]] const Route& route() const { return *route_; }
  [[nodiscard]] const net::ServerRequest& request() const { return request_; }
  [[nodiscard]] const net::QueryParameters& query() const { return query_; }
  /// The process that sent the request; determined only for methods that change state.
  [[nodiscard]] const protocol::PeerOrigin& caller() const { return caller_; }
  void set_caller(protocol::PeerOrigin caller) { caller_ = std::move(caller); }
  /// The value of the path parameter `{name}`.
  [[nodiscard]] const std::string& value(std::string_view name) const;
  /// The query parameter; empty when it is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// The query parameter as an integer within the bounds; empty when it is absent.
  [[nodiscard]] ApiResult<std::optional<std::int64_t>> number(std::string_view name, std::int64_t min,
                                                              std::int64_t max) const;
  /// The body as JSON; an absent body is an empty object.
  [[nodiscard]] ApiResult<json::object> body() const;
  template <class T>
  [[nodiscard]] ApiResult<T> body_as() const {
    auto object = body();
    if (!object) return std::unexpected{std::move(object).error()};
    auto value = schema::read<T>(*object);
    if (!value) return std::unexpected{bad_request(value.error().message())};
    return *std::move(value);
  }

  void answer(int status, const json::object& body);
  template <class T>
  void answer(int status, const T& value) {
    answer(status, schema::write(value));
  }
  void answer_text(std::string_view content_type, std::string text);
  /// Responds with HTML under the given Content-Security-Policy.
  void answer_page(std::string html, std::string policy);
  void answer_no_content();  // 204
  void refuse(const ApiError& error);
  /// Takes over the response for a stream, whose head has `stream_headers`. Empty when the writer is closed.
  [[nodiscard]] std::optional<net::ResponseWriter> take_reply();
  [[nodiscard]] std::vector<net::HttpHeader> stream_headers() const;

 private:
  void send(net::ServerResponse response);

  const Route* route_;
  net::ServerRequest request_;
  net::QueryParameters query_;
  std::vector<std::string> values_;  // in the order of the path
  protocol::PeerOrigin caller_;
  Send send_;
  Yield yield_;
};

}  // namespace relay::api
