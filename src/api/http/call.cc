#include "api/http/call.h"

#include <charconv>
#include <memory>

#include "api/http/route.h"
#include "base/format.h"
#include "base/log.h"

namespace relay::api {

Call::Call(const Route& route, net::ServerRequest request, net::QueryParameters query, std::vector<std::string> values,
           Send send, Yield yield)
    : route_{&route},
      request_{std::move(request)},
      query_{std::move(query)},
      values_{std::move(values)},
      send_{std::move(send)},
      yield_{std::move(yield)} {}

Call::Call(Call&& other) noexcept
    : route_{other.route_},
      request_{std::move(other.request_)},
      query_{std::move(other.query_)},
      values_{std::move(other.values_)},
      caller_{std::move(other.caller_)},
      send_{std::exchange(other.send_, nullptr)},
      yield_{std::exchange(other.yield_, nullptr)} {}

Call::~Call() {
  if (!send_) return;
  log::error("handler sent no response", {{"operation", std::string{route_->operation}}});
  refuse({500, "INTERNAL", "the relay sent no response; check its log with: agent-relay doctor", {}});
}

const std::string& Call::value(std::string_view name) const {
  const auto names = path_parameters(route_->path);
  const auto position = std::find(names.begin(), names.end(), name);
  RELAY_ASSERT(position != names.end());
  return values_.at(static_cast<std::size_t>(position - names.begin()));
}

std::string Call::text(std::string_view name) const { return std::string{query_.find(name).value_or("")}; }

ApiResult<std::optional<std::int64_t>> Call::number(std::string_view name, std::int64_t min, std::int64_t max) const {
  const auto value = query_.find(name);
  if (!value || value->empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(value->data(), value->data() + value->size(), number);
  if (read.ec != std::errc{} || read.ptr != value->data() + value->size() || number < min || number > max)
    return std::unexpected{bad_request(format("\"{}\" must be a whole number from {} to {}", name, min, max))};
  return number;
}

ApiResult<json::object> Call::body() const {
  if (request_.body.empty()) return json::object{};
  auto object = parse_json_object(request_.body);
  if (!object)
    return std::unexpected{bad_request(format("the body is not a JSON object: {}", object.error().message()))};
  return *std::move(object);
}

void Call::send(net::ServerResponse response) {
  yield_ = nullptr;
  if (auto send = std::exchange(send_, nullptr)) send(std::move(response));
}

void Call::answer(int status, const json::object& body) {
  send({.status = status, .content_type = "application/json", .body = json::serialize(body)});
}

void Call::answer_text(std::string_view content_type, std::string text) {
  send({.content_type = std::string{content_type}, .body = std::move(text)});
}

void Call::answer_page(std::string html, std::string policy) {
  send({.content_type = "text/html; charset=utf-8",
        .body = std::move(html),
        .headers = {{"Content-Security-Policy", std::move(policy)}}});
}

void Call::answer_no_content() { send({.status = 204}); }

void Call::refuse(const ApiError& error) { send(to_response(error)); }

Call::ReplyPaths Call::reply_paths_of(net::ResponseWriter reply) {
  const auto writer = std::make_shared<net::ResponseWriter>(std::move(reply));
  return {[writer](net::ServerResponse response) { writer->send(std::move(response)); },
          [writer] { return std::move(*writer); }};
}

std::vector<net::HttpHeader> Call::stream_headers() const {
  auto headers = cors_headers(request_);
  net::add_protective_headers(headers);
  return headers;
}

std::optional<net::ResponseWriter> Call::take_reply() {
  auto yield = std::exchange(yield_, nullptr);
  send_ = nullptr;
  if (!yield) return std::nullopt;
  return yield();
}

}  // namespace relay::api
