/// Randomness comes in as an argument, so that a seed replays a whole run.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace relay {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  /// Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// `bytes` random bytes as lower-case hex.
  std::string hex(std::size_t bytes);
};

/// From the kernel; fit for tokens. Reads a batch at a time, because one system call per message is measurable; a value
/// is erased when it is returned. Not to be used on both sides of a fork.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;

 private:
  std::array<std::uint64_t, 32> words_{};  // 256 bytes: never short, never interrupted (getrandom(2))
  std::size_t left_ = 0;
};

/// Repeatable (splitmix64); for tests and simulation, never for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace relay
