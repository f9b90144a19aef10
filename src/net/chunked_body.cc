#include "net/chunked_body.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace relay::net {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

Failure bad_chunk() {
  return fail(RequestErrc::Malformed, "a chunk of the body must start with its size on a separate line");
}

bool has_control(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127; });
}

/// The first line without its end; empty while the end has not arrived.
Result<std::optional<std::string_view>> first_line(std::string_view bytes) {
  const auto end = bytes.find(kLineEnd);
  const bool half = end == std::string_view::npos && bytes.ends_with(kLineEnd.front());
  const auto line = half ? bytes.substr(0, bytes.size() - 1) : bytes.substr(0, end);
  if (line.size() > ChunkedBody::kMaxLineBytes)
    return fail(RequestErrc::Malformed, "a line between the chunks of the body has no end");
  if (end == std::string_view::npos) return std::nullopt;
  return line;
}

}  // namespace

Result<bool> ChunkedBody::read(std::string& bytes, std::string& body) {
  std::string_view rest = bytes;
  while (next_ != Next::Nothing && !rest.empty()) {
    if (next_ == Next::Data) {
      const auto some = rest.substr(0, left_);
      body.append(some);
      left_ -= some.size();
      rest.remove_prefix(some.size());
      if (left_ == 0) next_ = Next::EndOfData;
      continue;
    }
    if (next_ == Next::EndOfData) {
      if (!kLineEnd.starts_with(rest.substr(0, kLineEnd.size()))) return bad_chunk();
      if (rest.size() < kLineEnd.size()) break;
      rest.remove_prefix(kLineEnd.size());
      next_ = Next::Size;
      continue;
    }
    const auto line = RELAY_TRY(first_line(rest));
    if (!line) break;
    if (next_ == Next::Size)
      RELAY_TRY(read_size(*line, body.size()));
    else
      RELAY_TRY(read_trailer(*line));
    rest.remove_prefix(line->size() + kLineEnd.size());
  }
  bytes.erase(0, bytes.size() - rest.size());
  return next_ == Next::Nothing;
}

Result<void> ChunkedBody::read_size(std::string_view line, std::size_t so_far) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const auto extensions = line.substr(static_cast<std::size_t>(end - line.data()));
  if (error == std::errc::invalid_argument || has_control(line)) return bad_chunk();
  if (!extensions.empty() && !extensions.starts_with(';')) return bad_chunk();
  if (error == std::errc::result_out_of_range || size > max_bytes_ - so_far)
    return fail(RequestErrc::BodyTooLarge, format("the body is larger than {} bytes", max_bytes_));
  left_ = size;
  next_ = size == 0 ? Next::Trailer : Next::Data;
  return {};
}

Result<void> ChunkedBody::read_trailer(std::string_view line) {
  if (line.empty()) {
    next_ = Next::Nothing;
    return {};
  }
  trailer_bytes_ += line.size();
  if (trailer_bytes_ > kMaxTrailerBytes || has_control(line) || line.find(':') - 1 >= line.size())
    return fail(RequestErrc::Malformed, "the trailer after the last chunk has a malformed header field");
  return {};
}

}  // namespace relay::net
