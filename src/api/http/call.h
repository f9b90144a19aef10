/// One request that was understood, on its way through a handler to its answer.
///
/// Invariants: answered exactly once. One that is dropped unanswered tells the client 500 and the log which route forgot it.
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
  /// Whoever carries answers to the client, once.
  using Send = std::move_only_function<void(net::ServerResponse)>;
  /// Gives up the right to answer, for streams; null where there is no connection (tests).
  using Yield = std::move_only_function<net::ResponseWriter()>;

  /// Both ways to answer on a connection, of which one is taken.
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
  /// Where it comes from; known only of requests that change something.
  [[nodiscard]] const protocol::PeerOrigin& caller() const { return caller_; }
  void set_caller(protocol::PeerOrigin caller) { caller_ = std::move(caller); }
  /// The part of the path that `{name}` stands for.
  [[nodiscard]] const std::string& value(std::string_view name) const;
  /// Of the query; empty when it is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// A whole number within bounds, or a sentence; nothing when it is absent.
  [[nodiscard]] ApiResult<std::optional<std::int64_t>> number(std::string_view name, std::int64_t min,
                                                              std::int64_t max) const;
  /// The body as JSON; no body is an empty object.
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
  /// HTML, with the Content-Security-Policy it needs.
  void answer_page(std::string html, std::string policy);
  void answer_no_content();  // 204
  void refuse(const ApiError& error);
  /// For an answer that goes on; its head has `stream_headers`. Until then it may be refused as any other.
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
