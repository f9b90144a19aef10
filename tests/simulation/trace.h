/// The events of a run, line by line: printed for a replayed seed, and hashed to prove that a replay is the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/format.h"
#include "client/testing/virtual_loop.h"

namespace relay::simulation {

using client::testing::VirtualLoop;

class Trace {
 public:
  enum class Mode { Off, Hash, Print };

  Trace(Mode mode, const VirtualLoop& loop) : mode_{mode}, loop_{loop} {}

  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    if (mode_ == Mode::Off) return;
    add(relay::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  void add(const std::string& text) {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(loop_.now().steady.time_since_epoch());
    const auto whole =
        relay::format("{:>12.3f} ms  {}", static_cast<double>(since.count()) / 1000.0 - 1'000'000.0, text);
    for (const char byte : whole) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    if (mode_ == Mode::Print) std::printf("%s\n", whole.c_str());
  }

  Mode mode_;
  const VirtualLoop& loop_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace relay::simulation
