#include "feed/ticking_server.h"

#include <unistd.h>

#include "api/events/feed.h"
#include "api/http/route.h"
#include "feed/ticks.h"
#include "net/asio_loop.h"
#include "net/http_server.h"

namespace relay::bench {
namespace {

class TickingWorkspace final : public api::WorkspaceClient {
 public:
  TickingWorkspace(net::EventLoop& loop, int per_second)
      : loop_{loop}, per_second_{per_second}, started_at_{loop.now().steady} {
    tick();
  }

  [[nodiscard]] const std::string& id() const override { return name_; }
  [[nodiscard]] const std::string& root() const override { return name_; }
  [[nodiscard]] const std::string& hosts() const override { return name_; }

  void request(protocol::MessageType, json::object payload, OnResponse on_response) override {
    loop_.post([this, payload = std::move(payload), on_response = std::move(on_response)]() mutable {
      json::array events;
      auto reached = newest_;
      if (!payload.contains("newest")) {
        const auto after = static_cast<std::uint64_t>(payload.at("after").to_number<std::int64_t>());
        reached = std::min(newest_, after + static_cast<std::uint64_t>(payload.at("limit").to_number<std::int64_t>()));
        for (auto number = after + 1; number <= reached; ++number)
          events.push_back(parse_json(tick_event(number)).value());
      }
      on_response(json::object{{"events", std::move(events)},
                               {"nextAfter", static_cast<std::int64_t>(reached)},
                               {"oldest", 1},
                               {"newest", static_cast<std::int64_t>(newest_)}});
    });
  }
  void follow(std::uint64_t after, EventListener* listener) override {
    listener_ = listener;
    sent_ = after;
  }

 private:
  void tick() {
    newest_ = ticks_after(loop_.now().steady - started_at_, per_second_);
    while (listener_ != nullptr && sent_ < newest_) {
      ++sent_;
      listener_->on_event(sent_, tick_event(sent_));
    }
    timer_ = loop_.after(Millis{1}, [this] { tick(); });
  }

  net::EventLoop& loop_;
  int per_second_;
  SteadyTime started_at_;
  std::string name_ = "bench";
  std::uint64_t newest_ = 0, sent_ = 0;
  EventListener* listener_ = nullptr;
  std::unique_ptr<net::Timer> timer_;
};

}  // namespace

void serve_ticking_events(int events_per_second, int port_pipe) {
  net::AsioLoop loop;
  TickingWorkspace workspace{loop, events_per_second};
  api::Feed feed{loop, workspace, {.readers = 2'000}};
  const auto server = net::HttpServer::listen(loop, {}, {}, [&](net::ServerRequest request, net::ResponseWriter reply) {
    const auto query = net::QueryParameters::parse(request.query).value();
    auto subscription = api::parse_event_subscription(query, request.headers);
    auto paths = api::Call::reply_paths_of(std::move(reply));
    api::Call call{api::route_of("streamEvents"), std::move(request),    query, {},
                   std::move(paths.send),         std::move(paths.yield)};
    if (!subscription) return call.refuse(api::bad_request(subscription.error().message()));
    feed.open_sse(*std::move(subscription), std::move(call));
  });
  if (!server) ::_exit(1);
  const auto port = (*server)->port();
  if (::write(port_pipe, &port, sizeof port) != sizeof port) ::_exit(1);
  loop.run();
  ::_exit(0);
}

}  // namespace relay::bench
