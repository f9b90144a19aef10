#include "subjects/resp.h"

#include <charconv>

#include "base/format.h"

namespace relay::bench {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::size_t number_in(std::string_view digits) {
  std::size_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

std::string resp_command(const std::vector<std::string_view>& args) {
  auto command = relay::format("*{}\r\n", args.size());
  for (const auto arg : args) command += relay::format("${}\r\n{}\r\n", arg.size(), arg);
  return command;
}

bool RespReader::line(char type, std::string_view& text) {
  if (at_ >= bytes_.size() || bytes_[at_] != type) return false;
  const auto end = bytes_.find(kLineEnd, at_);
  if (end == std::string_view::npos) return false;
  text = bytes_.substr(at_ + 1, end - at_ - 1);
  at_ = end + kLineEnd.size();
  return true;
}

bool RespReader::array(std::size_t& size) {
  std::string_view digits;
  if (!line('*', digits)) return false;
  size = number_in(digits);
  return true;
}

bool RespReader::bulk(std::string_view& text) {
  const auto before = at_;
  std::string_view digits;
  if (!line('$', digits)) return false;
  const auto size = number_in(digits);
  if (bytes_.size() - at_ < size + kLineEnd.size()) {
    at_ = before;
    return false;
  }
  text = bytes_.substr(at_, size);
  at_ += size + kLineEnd.size();
  return true;
}

}  // namespace relay::bench
