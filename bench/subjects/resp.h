/// The little of Redis' wire that the benchmark speaks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::bench {

std::string resp_command(const std::vector<std::string_view>& words);

/// Reads one reply from the beginning of what has come. Each step is false, and moves nothing, when something else is
/// there or not all of it has come; the caller then begins again with more.
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
