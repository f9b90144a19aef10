/// Any permission rules in config.toml: a policy or one error. No policy approves a command that is not simple.
#include <cstddef>
#include <cstdint>

#include "check.h"
#include "permissions/policy_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace relay::permissions;
  const auto policy = parse_policy({reinterpret_cast<const char*>(bytes), size});
  if (!policy) {
    FUZZ_CHECK(!policy.error().message().empty());
    return 0;
  }
  FUZZ_CHECK(policy->decide({.agent = "A", .tool = "Bash", .command = "ls; rm x"}).action != Action::Approve);
  (void)policy->decide({.agent = "A", .tool = "Edit", .file_path = "src/a.cc", .directory = "/w"});
  return 0;
}
