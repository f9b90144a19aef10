#include "cli/send/text_argument.h"

#include <unistd.h>

#include <array>

#include "base/format.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/limits.h"

namespace relay::cli {

Result<std::string> read_text_argument(std::string typed) {
  if (typed != "-") return typed;
  std::string text;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot read the text from stdin");
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > protocol::kMaxFrameBytes)
      return fail(Errc::TooLarge,
                  relay::format("the text on stdin is larger than {} bytes; send it as a file with --attach",
                                protocol::kMaxFrameBytes));
  }
  if (text.ends_with('\n')) text.pop_back();  // added by the shell
  return text;
}

}  // namespace relay::cli
