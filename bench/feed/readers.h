/// Thousands of server-sent event clients on one thread. Each checks that it gets every number once, in order.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::bench {

struct ReaderPlan {
  std::size_t steady = 1'000;
  std::size_t reconnecting = 0;    // disconnect at random and resume with Last-Event-ID
  std::size_t slow = 0;            // read a few kilobytes per second
  double stay_seconds = 1.0;       // mean time of a connection of a reconnecting reader
  std::size_t slow_bytes = 8'192;  // per second
};

struct ReaderCounts {
  std::uint64_t events = 0;    // received by fast readers
  std::uint64_t lost = 0;      // missing numbers
  std::uint64_t repeated = 0;  // repeated or late numbers
  std::uint64_t returns = 0;   // reconnects of reconnecting readers
  std::uint64_t resumed = 0;   // slow readers that got a resume notice
  std::uint64_t cut = 0;       // ended without one
  std::uint64_t behind = 0;    // the largest lag of a steady reader behind the newest event received
};

class Readers {
 public:
  Readers(std::uint16_t port, std::string path, const ReaderPlan& plan);

  Result<void> connect_all();
  /// Reads for this many seconds.
  void run(double seconds);
  [[nodiscard]] ReaderCounts counts() const;

 private:
  enum class Kind : std::uint8_t { Steady, Reconnecting, Slow };
  struct Reader {
    Kind kind = Kind::Steady;
    UniqueFd fd = {};
    std::string line = {};        // the start of the current line
    std::uint64_t last_seen = 0;  // 0: none
    std::uint64_t id = 0;         // of the event being read
    bool resume = false;          // the event is a resume notice
    double leave_at = 0, read_at = 0;
  };

  Result<void> open(Reader& reader);
  void read_some(Reader& reader, std::size_t max);
  void take(Reader& reader, std::string_view bytes);
  void end_event(Reader& reader);
  void reconnect(Reader& reader);
  void watch(Reader& reader);
  [[nodiscard]] static double now();

  std::uint16_t port_;
  std::string path_;
  ReaderPlan plan_;
  UniqueFd epoll_;
  std::vector<Reader> readers_;
  std::vector<std::size_t> reconnecting_, slow_;
  ReaderCounts counts_;
  std::uint64_t newest_ = 0;
  std::mt19937 random_{1};
  std::string buffer_;
};

}  // namespace relay::bench
