/// A parser of chunked bodies (RFC 9112, section 7.1): bytes in, split anywhere; the body out. Pure.
///
/// Why not Beast's: it reads a quoted extension past the end of its line and counts a chunk again for every missing
/// byte of such a line, so the same bytes could be two different requests, depending on where they were split.
/// fuzz/request_reader_fuzz.cc found this.
/// Invariants: extensions and trailers are checked for syntax and dropped; the lines between the chunks are bounded
///   like the body. After an error the parser must not be used.
#pragma once

#include <cstddef>
#include <string>

#include "net/request_reader.h"

namespace relay::net {

class ChunkedBody {
 public:
  static constexpr std::size_t kMaxLineBytes = 1'024;     // a chunk's size and its extensions, or one trailer
  static constexpr std::size_t kMaxTrailerBytes = 4'096;  // all trailers

  explicit ChunkedBody(std::size_t max_bytes) : max_bytes_{max_bytes} {}

  /// Consumes complete elements from the front of `bytes` and appends to `body`. True when the body is complete.
  Result<bool> read(std::string& bytes, std::string& body);

 private:
  enum class Next { Size, Data, EndOfData, Trailer, Nothing };

  Result<void> read_size(std::string_view line, std::size_t so_far);
  Result<void> read_trailer(std::string_view line);

  std::size_t max_bytes_;
  Next next_ = Next::Size;
  std::size_t left_ = 0;  // bytes of the current chunk
  std::size_t trailer_bytes_ = 0;
};

}  // namespace relay::net
