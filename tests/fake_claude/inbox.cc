#include "fake_claude/inbox.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/json.h"

namespace relay::fake_claude {

Result<Inbox> Inbox::open(const std::string& path) {
  Inbox inbox;
  inbox.socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return fail("the inbox's path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::bind(inbox.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(inbox.socket_.get(), 8) != 0)
    return fail_errno("cannot open the inbox");
  return inbox;
}

std::vector<int> Inbox::descriptors() const {
  std::vector<int> all{socket_.get()};
  for (const auto& client : clients_) all.push_back(client.fd.get());
  return all;
}

std::vector<InboxMessage> Inbox::read() {
  while (true) {
    UniqueFd fd{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!fd) break;
    clients_.push_back({.fd = std::move(fd), .buffer = {}});
  }
  std::vector<InboxMessage> all;
  std::erase_if(clients_, [&](Client& client) {
    std::array<char, 4096> block;
    ssize_t count = 0;
    while ((count = ::read(client.fd.get(), block.data(), block.size())) > 0)
      client.buffer.append(block.data(), static_cast<std::size_t>(count));
    for (auto end = client.buffer.find('\n'); end != std::string::npos; end = client.buffer.find('\n')) {
      const auto line = parse_json_object(std::string_view{client.buffer}.substr(0, end));
      client.buffer.erase(0, end + 1);
      const auto* message = line ? object_member(*line, "message") : nullptr;
      if (message == nullptr || string_member(*line, "type") != "user") continue;
      all.push_back(
          {.text = string_member(*message, "content").value_or(""), .now = string_member(*line, "priority") == "now"});
    }
    return count == 0 || errno != EAGAIN;
  });
  return all;
}

}  // namespace relay::fake_claude
