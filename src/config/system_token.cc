#include "config/system_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"

namespace relay::config {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kMinTokenDigits = 32;
constexpr std::size_t kMaxTokenFileBytes = 512;

}  // namespace

std::string read_system_token(const Home& home) {
  const UniqueFd file{::open(home.system_token.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return {};
  std::array<char, kMaxTokenFileBytes> text{};
  const auto count = ::read(file.get(), text.data(), text.size());
  std::string token{text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  while (token.ends_with('\n')) token.pop_back();
  return token.size() >= kMinTokenDigits ? token : std::string{};
}

Result<std::string> ensure_system_token(const Home& home, Random& random, const std::string& in_use) {
  if (auto stored = read_system_token(home); !stored.empty() && (in_use.empty() || stored == in_use)) return stored;
  const auto token = in_use.empty() ? random.hex(kTokenBytes) : in_use;
  ::unlink(home.system_token.c_str());  // truncated, or not private
  const UniqueFd file{
      ::open(home.system_token.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)};
  const auto line = token + "\n";
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return fail_errno("cannot write " + home.system_token);
  return token;
}

}  // namespace relay::config
