/// Delivers texts to OpenCode's session on screen, one at a time, each at most once.
///
/// A text is sent as POST /session/ID/prompt_async with own ids for message and part: the server stores one message per
/// id, however often it is sent. When the response is lost, the message is looked up by its id: if the server has it, it
/// was accepted. It is never sent twice.
///
///     Next ─▶ no session? create, select ─▶ immediate and busy? abort ─▶ post ─▶ done
///                                                                        └ response lost: look up ─▶ done
///
/// Invariants: after a failure before the post the server has nothing; a text in doubt is never reported as failed.
/// Ownership: borrows client and events, which outlive it. Threading: loop thread only; `done` is never called inside
///   `deliver`.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "adapters/adapter.h"
#include "adapters/opencode_events.h"
#include "adapters/opencode_launch.h"
#include "base/lifetime.h"
#include "net/http_client.h"
#include "transcripts/dedup_cache.h"

namespace relay::adapters {

/// Ids in OpenCode's format: they grow with time, and the newest message of a session is the one with the largest.
class OpenCodeIds {
 public:
  explicit OpenCodeIds(Random& random) : random_{random} {}
  struct Pair {
    std::string message, part;
  };
  Pair next(WallMs now);

 private:
  Random& random_;
  std::uint64_t last_ = 0;
};

class OpenCodeSender {
 public:
  static constexpr std::size_t kMaxQueued = 64;

  OpenCodeSender(net::AsioLoop& loop, net::HttpClient& client, OpenCodeEvents& events, const OpenCodeLaunch& launch,
                 Millis lookup_delay);
  ~OpenCodeSender();

  void deliver(const NativeDelivery& delivery, Adapter::OnAccepted done);

  /// Continues with the queued texts.
  void on_online();
  void on_offline() { online_ = false; }
  /// Texts that were not posted fail.
  void give_up(const std::string& reason);

 private:
  struct PendingPost {
    NativeDelivery delivery;
    Adapter::OnAccepted done;
    std::string session = {};
    OpenCodeIds::Pair ids = {};
    bool posted = false;
    int missing = 0;  // lookups that did not find it
  };
  using OnResponse = net::HttpClient::OnResponse;

  void send_next();
  void create_session();
  void select_session();
  void abort_turn();
  void post();
  void on_posted(const Result<net::HttpResponse>& response);
  void look_up();
  void look_up_soon();
  void finish(Result<void> outcome);
  void request(std::string method, std::string target, std::string json, OnResponse done);
  [[nodiscard]] std::string body(const PendingPost& pending) const;

  net::AsioLoop& loop_;
  net::HttpClient& client_;
  OpenCodeEvents& events_;
  const OpenCodeLaunch& launch_;
  Millis lookup_delay_;
  SystemRandom random_;
  OpenCodeIds ids_{random_};
  std::deque<PendingPost> queue_;
  transcripts::DedupCache<bool> accepted_;
  bool online_ = false;
  bool in_progress_ = false;  // the first of `queue_`
  std::unique_ptr<net::HttpExchange> exchange_;
  std::unique_ptr<net::Timer> timer_;
  Lifetime lifetime_;
};

/// The status of an error response in one line, with the server's message if it has one.
std::string error_text(const net::HttpResponse& response);

}  // namespace relay::adapters
