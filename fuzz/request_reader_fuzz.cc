/// The same requests and the same error for every split of the bytes, all within the limits.
#include "net/request_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/format.h"
#include "check.h"
#include "check_splits.h"

namespace {

using namespace relay::net;

constexpr std::size_t kHeader = 2'048, kBody = 64;

/// False after an error.
bool read_all(RequestReader& reader, std::string& seen) {
  while (true) {
    auto next = reader.next();
    if (!next) {
      FUZZ_CHECK(!next.error().message().empty());
      seen += "! " + next.error().message();
      return false;
    }
    if (!*next) return true;
    const auto& request = (*next)->request;
    FUZZ_CHECK(request.path.starts_with('/') && !request.path.contains('?'));
    FUZZ_CHECK(request.body.size() <= kBody);
    FUZZ_CHECK(request.headers.count("Host") <= 1);
    FUZZ_CHECK(!(request.headers.find("Content-Length") && request.headers.find("Transfer-Encoding")));
    seen += relay::format("{} {} {} {} {}", request.method, request.path, request.query, request.body,
                          (*next)->keep_alive == KeepAlive::Yes);
    for (const auto& [name, value] : request.headers) {
      FUZZ_CHECK(name.size() + value.size() <= kHeader && !(name + value).contains('\n'));
      seen += name + "=" + value;
    }
  }
}

std::string read_in_parts(std::string_view text, std::size_t part) {
  RequestReader reader{kHeader, kBody};
  std::string seen;
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) {
    reader.add(text.substr(0, part));
    if (!read_all(reader, seen)) return seen;
    // The buffer holds at most a header within its limit, or a chunk line.
    FUZZ_CHECK(reader.buffered_bytes() <= 4'096);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  relay::fuzz::check_splits({reinterpret_cast<const char*>(bytes), size}, 64, read_in_parts);
  return 0;
}
