/// One client that reads server-sent events: the stream of an HTTP answer as an outlet of the feed.
///
/// Ownership: the feed's, which forgets it when the client has gone or was let go.
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

  /// False: the client has gone already.
  bool open(net::ResponseWriter reply, std::vector<net::HttpHeader> headers);
  void attach(std::unique_ptr<FeedReader> position) { position_ = std::move(position); }

  void write(net::SharedBuffer buffer) override { stream_.write(std::move(buffer)); }
  [[nodiscard]] std::size_t waiting_bytes() const override { return stream_.waiting_bytes(); }
  void end(std::uint64_t after, const std::string& reason) override;

 private:
  void on_drained() override;
  void on_gone(const std::string& reason) override;

  Feed& feed_;
  net::BodyStream stream_;
  std::unique_ptr<FeedReader> position_;  // before the stream it writes to
};

}  // namespace relay::api
