#include "net/http_client.h"

#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/base64.h"
#include "base/format.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "net/asio_impl.h"
#include "net/listener_owner.h"

namespace relay::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 32 * 1024;

bool has_blank_or_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; });
}

std::string encode_request(const HttpEndpoint& endpoint, const HttpRequest& request) {
  auto text = format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nAccept: */*\r\n", request.method,
                     request.target, endpoint.port);
  if (!endpoint.password.empty())
    text += format("Authorization: Basic {}\r\n", base64(endpoint.user + ":" + endpoint.password));
  if (!request.json.empty()) text += "Content-Type: application/json\r\n";
  if (request.method != "GET") text += format("Content-Length: {}\r\n", request.json.size());
  return text + "\r\n" + request.json;
}

/// Collects what Beast parses of a response until the caller takes it.
class Parser final : public http::basic_parser<false> {
 public:
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& content_type() const { return content_type_; }
  std::string& body() { return body_; }

 private:
  using View = boost::beast::string_view;

  void on_request_impl(http::verb, View, View, int, error_code&) override {}
  void on_response_impl(int status, View, int, error_code&) override { status_ = status; }
  void on_field_impl(http::field name, View, View value, error_code&) override {
    if (name == http::field::content_type) content_type_.assign(value.data(), value.size());
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(View bytes, error_code&) override {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, error_code&) override {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  int status_ = 0;
  std::string content_type_;
  std::string body_;
};

/// Receives the result: a whole response or a stream.
struct Receiver {
  HttpClient::OnResponse done;             // for a whole response
  HttpStreamListener* listener = nullptr;  // for a stream
};

}  // namespace

/// State that the exchanges of one client share; the last exchange may outlive the client.
struct HttpClient::Shared {
  asio::io_context& io;
  HttpEndpoint endpoint;
  std::size_t open = 0;
};

namespace {

/// One connection; lives as long as an operation is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<HttpClient::Shared> shared, HttpLimits limits, Receiver receiver, std::string request)
      : shared_{std::move(shared)},
        socket_{shared_->io},
        timer_{shared_->io},
        limits_{limits},
        receiver_{std::move(receiver)},
        out_{std::move(request)} {
    parser_.eager(true);
    parser_.header_limit(limits_.header_bytes);
    if (receiver_.listener != nullptr)
      parser_.body_limit(boost::none);
    else
      parser_.body_limit(limits_.body_bytes);
  }

  void start() {
    counted_ = true;
    ++shared_->open;
    set_timeout(limits_.connect);
    socket_.async_connect({asio::ip::address_v4::loopback(), shared_->endpoint.port},
                          [self = shared_from_this()](const error_code& error) {
                            if (self->done_) return;
                            if (error) return self->fail(HttpErrc::NoConnection, error.message());
                            if (listener_owner(self->shared_->endpoint.port) != ::geteuid())
                              return self->fail(HttpErrc::NoConnection, "a program of another user listens there");
                            self->send();
                          });
  }

  void fail_soon(HttpErrc code, std::string reason) {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), code, reason = std::move(reason)] { self->fail(code, reason); });
  }

  /// Ends the exchange without a callback.
  void cancel() {
    done_ = true;
    if (std::exchange(counted_, false)) --shared_->open;
    receiver_ = {};
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void send() {
    connected_ = true;
    set_timeout(limits_.response);
    asio::async_write(socket_, asio::buffer(out_), [self = shared_from_this()](const error_code&, std::size_t) {
      std::string{}.swap(
          self->out_);  // a server may respond before it has read everything; only the read reports how it ended
    });
    read();
  }

  void read() {
    socket_.async_read_some(asio::buffer(in_), [self = shared_from_this()](const error_code& error, std::size_t count) {
      if (self->done_) return;
      if (error == asio::error::eof) return self->on_eof();
      if (error) return self->fail(HttpErrc::Interrupted, error.message());
      self->take({self->in_.data(), count});
      if (!self->done_) self->read();
    });
  }

  void take(std::string_view bytes) {
    pending_.append(bytes);
    std::size_t used = 0;
    error_code error;
    while (used < pending_.size() && !parser_.is_done()) {
      const auto count = parser_.put(asio::const_buffer{pending_.data() + used, pending_.size() - used}, error);
      used += count;
      if (error || count == 0) break;
    }
    pending_.erase(0, used);
    if (error && error != http::error::need_more) return on_parse_error(error);
    if (pending_.size() > limits_.header_bytes) return fail(HttpErrc::TooLarge, "a line of the response has no end");
    deliver();
  }

  /// Passes on what has arrived; a callback may end this exchange.
  void deliver() {
    if (receiver_.listener == nullptr) {
      if (parser_.is_done()) finish();
      return;
    }
    if (!parser_.is_header_done()) return;
    silent_since_ = std::chrono::steady_clock::now();
    if (!std::exchange(header_reported_, true)) {
      set_timeout(limits_.idle_timeout);
      receiver_.listener->on_header(parser_.status(), parser_.content_type());
    }
    const auto chunk = std::exchange(parser_.body(), {});
    if (!done_ && !chunk.empty()) receiver_.listener->on_chunk(chunk);
    if (!done_ && parser_.is_done()) end_stream({});
  }

  void on_eof() {
    error_code error;
    if (parser_.got_some()) parser_.put_eof(error);
    if (!parser_.got_some() || error || !parser_.is_done())
      return fail(HttpErrc::Interrupted, "the server closed the connection before the response was complete");
    deliver();
  }

  void on_parse_error(const error_code& error) {
    if (error == http::error::header_limit || error == http::error::body_limit)
      return fail(HttpErrc::TooLarge, error.message());
    fail(HttpErrc::NotHttp, error.message());
  }

  void finish() {
    HttpResponse response{parser_.status(), parser_.content_type(), std::move(parser_.body())};
    auto done = std::move(receiver_.done);
    cancel();
    done(std::move(response));
  }

  void end_stream(Result<void> result) {
    auto* listener = receiver_.listener;
    cancel();
    listener->on_end(std::move(result));
  }

  void fail(HttpErrc code, const std::string& reason) {
    if (done_) return;
    auto failure =
        relay::fail(code, format("the server at 127.0.0.1:{} {}: {}", shared_->endpoint.port, describe(code), reason));
    if (receiver_.listener != nullptr) return end_stream(std::move(failure));
    auto done = std::move(receiver_.done);
    cancel();
    done(std::move(failure));
  }

  void set_timeout(Millis time) {
    timer_.expires_after(time);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (error || self->done_) return;
      self->on_timeout();
    });
  }

  void on_timeout() {
    if (!connected_) return fail(HttpErrc::NoConnection, "it does not accept connections");
    if (header_reported_) {
      const auto silent = std::chrono::steady_clock::now() - silent_since_;
      const auto left = std::chrono::ceil<Millis>(limits_.idle_timeout - silent);
      if (left > Millis{0}) return set_timeout(left);
    }
    fail(HttpErrc::TimedOut, header_reported_ ? "the stream was silent for too long" : "no response in time");
  }

  std::shared_ptr<HttpClient::Shared> shared_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  HttpLimits limits_;
  Receiver receiver_;
  std::string out_;
  Parser parser_;
  std::string pending_;  // received, not yet parsed
  std::array<char, kReadBytes> in_;
  std::chrono::steady_clock::time_point silent_since_{};
  bool counted_ = false;
  bool connected_ = false;
  bool header_reported_ = false;
  bool done_ = false;
};

class Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<Connection> connection) : connection_{std::move(connection)} {}
  ~Exchange() override { connection_->cancel(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  std::shared_ptr<Connection> connection_;
};

std::unique_ptr<HttpExchange> start_exchange(const std::shared_ptr<HttpClient::Shared>& shared,
                                             const HttpRequest& request, const HttpLimits& limits, Receiver receiver) {
  auto connection =
      std::make_shared<Connection>(shared, limits, std::move(receiver), encode_request(shared->endpoint, request));
  if (has_blank_or_control(request.method) || has_blank_or_control(request.target) || !request.target.starts_with('/'))
    connection->fail_soon(HttpErrc::BadRequest, "the request cannot be written");
  else if (shared->open >= HttpClient::kMaxOpen)
    connection->fail_soon(HttpErrc::TooMany, format("{} exchanges are open", shared->open));
  else
    connection->start();
  return std::make_unique<Exchange>(std::move(connection));
}

}  // namespace

std::string_view describe(HttpErrc code) {
  switch (code) {
    case HttpErrc::NoConnection: return "cannot be reached";
    case HttpErrc::Interrupted: return "broke off";
    case HttpErrc::TimedOut: return "does not answer";
    case HttpErrc::TooLarge: return "sends too much";
    case HttpErrc::NotHttp: return "does not send HTTP";
    case HttpErrc::TooMany: return "has too many open requests";
    case HttpErrc::BadRequest: return "got no request";
  }
  return "failed";
}

HttpClient::HttpClient(AsioLoop& loop, HttpEndpoint endpoint)
    : shared_{std::make_shared<Shared>(Shared{loop.impl().io, std::move(endpoint), 0})} {}
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpExchange> HttpClient::send(const HttpRequest& request, const HttpLimits& limits, OnResponse done) {
  return start_exchange(shared_, request, limits, {.done = std::move(done)});
}

std::unique_ptr<HttpExchange> HttpClient::stream(const HttpRequest& request, const HttpLimits& limits,
                                                 HttpStreamListener& listener) {
  return start_exchange(shared_, request, limits, {.done = {}, .listener = &listener});
}

Result<std::uint16_t> free_loopback_port() {
  constexpr int kAttempts = 64;
  constexpr std::uint16_t kFirst = 20'000;  // Linux uses 32768 to 60999 for outgoing connections
  constexpr std::uint16_t kCount = 12'000;
  SystemRandom random;
  for (int i = 0; i < kAttempts; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirst + random.below(kCount));
    const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!fd) return fail_errno("cannot search for a free port");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return port;
  }
  return fail(format("found no free port between {} and {}", kFirst, kFirst + kCount));
}

}  // namespace relay::net
