/// Brings texts to OpenCode's session on screen, one at a time, each at most once.
///
/// A text goes as POST /session/ID/prompt_async with ids of ours for message and part: the server keeps one message per
/// id, however often it is sent. When the answer to that is lost, the message is looked up by its id: there, it was
/// handed over; not there, it was not. It is never sent a second time by us.
///
///     Next ─▶ no session? made and shown ─▶ immediate and busy? aborted ─▶ posted ─▶ done
///                                                                          └ answer lost: looked up ─▶ done
///
/// Invariants: before the post a failure hands nothing over; a text in doubt is never told as failed.
/// Ownership: borrows client and talk, which outlive it. Threading: loop thread only; `done` is never called inside
///   `speak`.
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

/// Ids as OpenCode makes them: they grow with time, and the newest message of a session is the one with the largest.
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
  static constexpr std::size_t kMaxWaiting = 64;

  OpenCodeSender(net::AsioLoop& loop, net::HttpClient& client, OpenCodeEvents& talk, const OpenCodeLaunch& launch,
                 Millis look_again);
  ~OpenCodeSender();

  void speak(const NativeDelivery& words, Adapter::OnAccepted done);

  /// What waits goes on.
  void on_online();
  void on_offline() { online_ = false; }
  /// The server is given up: what was not handed over fails.
  void give_up(const std::string& why);

 private:
  struct PendingPost {
    NativeDelivery words;
    Adapter::OnAccepted done;
    std::string session = {};
    OpenCodeIds::Pair ids = {};
    bool posted = false;
    int missing = 0;  // times it was looked up and not there
  };
  using OnResponse = net::HttpClient::OnResponse;

  void go_on();
  void make_session();
  void show_session();
  void abort_turn();
  void post();
  void on_posted(const Result<net::HttpResponse>& answer);
  void look_up();
  void look_up_soon();
  void finish(Result<void> outcome);
  void ask(std::string method, std::string target, std::string json, OnResponse done);
  [[nodiscard]] std::string body(const PendingPost& handing) const;

  net::AsioLoop& loop_;
  net::HttpClient& client_;
  OpenCodeEvents& talk_;
  const OpenCodeLaunch& launch_;
  Millis recheck_;
  SystemRandom random_;
  OpenCodeIds ids_{random_};
  std::deque<PendingPost> waiting_;
  transcripts::DedupCache<bool> handed_;
  bool online_ = false;
  bool under_way_ = false;  // the first of `waiting_`
  std::unique_ptr<net::HttpExchange> exchange_;
  std::unique_ptr<net::Timer> timer_;
  Lifetime lifetime_;
};

/// What a server that refuses says, in one line: its own words when it has some.
std::string refusal(const net::HttpResponse& answer);

}  // namespace relay::adapters
