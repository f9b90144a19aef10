#include "tmux/control_client.h"

#include <sys/socket.h>

#include "base/format.h"
#include "tmux/shim_connection.h"

namespace relay::tmux {

void ControlClient::send(std::string_view line, OnResponse on_reply) {
  RELAY_ASSERT(!line.empty() && !line.contains('\n'));  // an empty line would end the client
  if (closed_) return;
  expected_.push_back(std::move(on_reply));
  unsent_.append(line).push_back('\n');
  write_turn();
}

void ControlClient::write_turn() {
  if (closed_ || unsent_.empty()) return;
  ssize_t count = 0;
  do count = ::send(fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));  // a failure shows in the next read
}

bool ControlClient::read_turn() {
  std::size_t received = 0;
  while (!closed_ && received < buffer_.size()) {
    const auto count = ::recv(fd(), buffer_.data() + received, buffer_.size() - received, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0)
      closed_ = true;
    else
      received += static_cast<std::size_t>(count);
  }
  parser_.feed({buffer_.data(), received}, *this);
  return !closed_;
}

Result<std::string> ControlClient::wait(std::string_view line, SteadyTime deadline) {
  std::optional<CommandResult> answer;
  const auto take = [&](const CommandResult& arrived) { answer = arrived; };
  line.empty() ? when_started(take) : send(line, take);
  while (!answer && read_turn()) {
    write_turn();
    if (!answer && !wait_readable(fd(), deadline)) {
      closed_ = true;  // a later reply would have no receiver
      return fail("tmux does not reply");
    }
  }
  if (!answer) return fail(last_error_line_.empty() ? "tmux closed the connection" : last_error_line_);
  auto text = std::move(answer->text);
  if (text.ends_with('\n')) text.pop_back();
  if (!answer->ok) return fail(std::move(text));
  return text;
}

void ControlClient::on_reply(const CommandResult& answer) {
  OnResponse on_reply;
  if (!answer.requested) {
    on_reply = std::exchange(on_started_, {});  // later ones belong to hooks of the user's configuration
  } else if (!expected_.empty()) {
    on_reply = std::move(expected_.front());
    expected_.pop_front();
  }
  if (on_reply) on_reply(answer);
}

void ControlClient::on_notice(std::string_view name, std::string_view rest) {
  if (name.empty() || name == "exit") {
    if (!rest.empty()) last_error_line_ = rest;
  }
  if (!name.empty()) listener_->on_notice(name, rest);
}

}  // namespace relay::tmux
