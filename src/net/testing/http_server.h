/// A small HTTP server on the test's own loop: it reads whole requests and lets the test respond with any bytes.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"
#include "net/unix_stream.h"

namespace relay::net::testing {

class HttpServer {
 public:
  /// One request and its connection.
  class Request final : public StreamListener {
   public:
    Request(HttpServer& server, std::unique_ptr<Stream> stream) : server_{server}, stream_{std::move(stream)} {
      stream_->start(*this);
    }

    [[nodiscard]] std::string line() const { return text_.substr(0, text_.find("\r\n")); }
    [[nodiscard]] std::string target() const {
      const auto first = text_.find(' ') + 1;
      return text_.substr(first, text_.find(' ', first) - first);
    }
    [[nodiscard]] std::string body() const { return text_.substr(text_.find("\r\n\r\n") + 4); }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] bool closed() const { return closed_; }

    void send(std::string_view bytes) {
      if (stream_) stream_->write(bytes);
    }
    void respond(int status, std::string_view json, std::string_view type = "application/json") {
      send("HTTP/1.1 " + std::to_string(status) + " Response\r\nContent-Type: " + std::string{type} +
           "\r\nContent-Length: " + std::to_string(json.size()) + "\r\n\r\n" + std::string{json});
    }
    /// Sends the pending bytes, then closes the connection.
    void close() {
      if (auto stream = std::move(stream_)) stream->close(Drain::Yes);
    }

   private:
    void on_bytes(std::string_view bytes) override {
      text_.append(bytes);
      const auto end = text_.find("\r\n\r\n");
      if (complete_ || end == std::string::npos) return;
      const auto length = text_.find("Content-Length: ");
      const auto expected = length == std::string::npos ? 0U : std::stoul(text_.substr(length + 16));
      if (text_.size() < end + 4 + expected) return;
      complete_ = true;
      server_.on_request_(*this);
    }
    void on_written(std::size_t) override {}
    void on_closed(const std::string&) override { closed_ = true; }

    HttpServer& server_;
    std::string text_;
    bool complete_ = false;
    bool closed_ = false;
    std::unique_ptr<Stream> stream_;
  };

  HttpServer(AsioLoop& loop, std::function<void(Request&)> on_request)
      : loop_{loop}, on_request_{std::move(on_request)}, hub_{make_stream_hub(loop, Millis{50})} {
    listen(0);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::vector<std::unique_ptr<Request>>& requests() { return requests_; }

  /// Stops as after a crash; `restart` listens at the same port.
  void stop() {
    watch_.reset();
    fd_.reset();
    requests_.clear();
  }
  void restart() { listen(port_); }

 private:
  void listen(std::uint16_t port) {
    fd_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    RELAY_ASSERT(::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    sockaddr_in address{};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    RELAY_ASSERT(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    RELAY_ASSERT(::listen(fd_.get(), 64) == 0);
    RELAY_ASSERT(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
    watch_ = std::make_unique<ReadableWatch>(loop_, fd_.get(), [this] {
      const int accepted = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (accepted >= 0)
        requests_.push_back(std::make_unique<Request>(*this, make_unix_stream(hub_, UniqueFd{accepted}, Peer{})));
    });
  }

  AsioLoop& loop_;
  std::function<void(Request&)> on_request_;
  std::shared_ptr<StreamHub> hub_;
  UniqueFd fd_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Request>> requests_;
  std::unique_ptr<ReadableWatch> watch_;  // after the descriptor it watches
};

}  // namespace relay::net::testing
