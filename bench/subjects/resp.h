/// The subset of the Redis protocol that the benchmark uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::bench {

std::string resp_command(const std::vector<std::string_view>& args);

/// Parses one reply from the start of the received bytes. Each step returns false and consumes nothing when the type
/// differs or the reply is incomplete; the caller then retries with more bytes.
class RespReader {
 public:
  explicit RespReader(std::string_view bytes) : bytes_{bytes} {}

  bool number(std::string_view& digits) { return line(':', digits); }
  bool bulk(std::string_view& text);
  bool array(std::size_t& size);
  [[nodiscard]] std::size_t taken() const { return at_; }

 private:
  bool line(char type, std::string_view& text);

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace relay::bench
