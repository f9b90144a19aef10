/// A client of a server-sent event stream: an HTTP response body as a sink of the feed.
///
/// Ownership: owned by the feed, which removes it when the client disconnects or is evicted.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/events/feed.h"
#include "net/http_response.h"

namespace relay::api {

class SseReader final : public net::BodyListener, public FeedSink {
 public:
  explicit SseReader(Feed& feed) : feed_{feed} {}

  /// False when the client has already disconnected.
  bool open(net::ResponseWriter reply, std::vector<net::HttpHeader> headers);
  void attach(std::unique_ptr<FeedReader> position) { position_ = std::move(position); }

  void write(net::SharedBuffer buffer) override { stream_.write(std::move(buffer)); }
  [[nodiscard]] std::size_t waiting_bytes() const override { return stream_.waiting_bytes(); }
  void end(std::uint64_t after, const std::string& reason) override;

 private:
  void on_drained() override;
  void on_closed(const std::string& reason) override;

  Feed& feed_;
  net::BodyStream stream_;
  std::unique_ptr<FeedReader> position_;  // destroyed before the stream
};

}  // namespace relay::api
