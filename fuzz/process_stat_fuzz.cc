/// Any process name in /proc/N/stat: parsing never yields another process.
#include <cstddef>
#include <cstdint>
#include <string>

#include "check.h"
#include "pty/process_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  static_cast<void>(relay::pty::parse_process(text));
  // A line of the kernel with the input as the name.
  const auto found = relay::pty::parse_process("42 (" + std::string{text.substr(0, 64)} +
                                               ") S 7 41 40 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2 3");
  FUZZ_CHECK(found && found->id.pid == 42 && found->parent == 7 && found->session == 40 && found->id.start == 98765);
  return 0;
}
