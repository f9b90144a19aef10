/// Clients of server-sent events by the thousand, on one thread: each checks that it hears every number once, in order.
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
  std::size_t wandering = 0;       // hang up at random and come back with Last-Event-ID
  std::size_t slow = 0;            // take a few kilobytes a second
  double stay_seconds = 1.0;       // of one that wanders, on average
  std::size_t slow_bytes = 8'192;  // a second
};

struct ReaderCounts {
  std::uint64_t events = 0;    // by readers that read all they can
  std::uint64_t lost = 0;      // numbers left out
  std::uint64_t repeated = 0;  // numbers that came again, or too late
  std::uint64_t returns = 0;   // of those that wander
  std::uint64_t resumed = 0;   // slow ones that were told where to resume
  std::uint64_t cut = 0;       // ended without that
  std::uint64_t behind = 0;    // the largest distance of a steady reader to the newest anybody heard
};

class Readers {
 public:
  Readers(std::uint16_t port, std::string path, const ReaderPlan& plan);

  Result<void> connect_all();
  /// Reads for so long.
  void run(double seconds);
  /// From now on slow readers read all they can.
  void hurry();
  [[nodiscard]] ReaderCounts counts() const;
  /// Every reader that is no slow one has heard up to that number.
  [[nodiscard]] bool all_heard(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  enum class Kind : std::uint8_t { Steady, Wandering, Slow };
  struct Reader {
    Kind kind = Kind::Steady;
    UniqueFd fd = {};
    std::string line = {};         // its beginning
    std::uint64_t heard = 0;       // 0: nothing yet
    std::uint64_t id = 0;          // of the event that is being read
    bool resume = false;           // that event says where to resume
    double leaves = 0, reads = 0;  // when
  };

  Result<void> open(Reader& reader);
  void read_some(Reader& reader, std::size_t most);
  void take(Reader& reader, std::string_view bytes);
  void end_event(Reader& reader);
  void come_back(Reader& reader);
  void watch(Reader& reader);
  [[nodiscard]] static double now();

  std::uint16_t port_;
  std::string path_;
  ReaderPlan plan_;
  UniqueFd epoll_;
  std::vector<Reader> readers_;
  std::vector<std::size_t> wandering_, slow_;
  ReaderCounts counts_;
  std::uint64_t newest_ = 0;
  std::mt19937 random_{1};
  std::string buffer_;
};

}  // namespace relay::bench
