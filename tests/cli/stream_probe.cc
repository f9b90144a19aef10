/// Reports the kinds of its standard descriptors and copies its input to its output, byte for byte.
///
/// `stream_probe REPORT CODE` writes to the file REPORT whether each of 0, 1, 2 is a terminal (`tty`), something else
/// (`other`) or closed, then the size of each copied block; writes `probe` to stderr; exits with CODE.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace {

const char* kind_of(int fd) {
  if (::fcntl(fd, F_GETFD) < 0) return "closed ";
  return ::isatty(fd) == 1 ? "tty " : "other ";
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  std::string kinds;
  for (int fd = 0; fd < 3; ++fd) kinds += kind_of(fd);
  const int report = ::open(words[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto write_report = [&](const std::string& text) { (void)!::write(report, text.data(), text.size()); };
  write_report(kinds + "\n");
  (void)!::write(2, "probe", 5);
  std::array<char, 64 * 1024> buffer;
  ssize_t got = 0;
  while ((got = ::read(0, buffer.data(), buffer.size())) > 0) {
    for (ssize_t done = 0, put = 0; done < got; done += put)
      if ((put = ::write(1, buffer.data() + done, static_cast<std::size_t>(got - done))) <= 0) break;
    write_report("copied " + std::to_string(got) + "\n");
  }
  return std::atoi(words[2]);
}
