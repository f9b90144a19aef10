/// A minimal agent that replies to each message in its thread.
///
///   echo_session NAME SOCKET        get SOCKET from: agent-relay status --json
#include <csignal>
#include <cstdio>

#include "net/asio_loop.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "session/session_runner.h"

using namespace relay;

class Echo final : public session::AgentSession {
 public:
  explicit Echo(std::string name, net::AsioLoop& loop) : name_{std::move(name)}, loop_{loop} {}

  session::SessionRunner* runner = nullptr;

  session::AgentIdentity identity() const override { return protocol::identity_of(name_); }
  session::AgentSessionCapabilities capabilities() const override {
    session::AgentSessionCapabilities can;
    can.delivery.modes = protocol::DeliveryModes::all();
    return can;
  }

  void receive_message(const session::RelayMessage& message, const session::MessageContext& context,
                       session::ReceiptCallback report) override {
    std::printf("%s (%s): %s\n", message.from.handle.c_str(), name_of(context.mode).data(), message.text.c_str());
    const auto sent = runner->send({.to = message.from.name,
                                    .text = "received: " + message.text,
                                    .thread = message.thread.empty() ? message.id : message.thread,
                                    .reply_to = message.id});
    if (sent)
      report({.status = protocol::ReceiptStatus::Delivered});
    else
      report({.status = protocol::ReceiptStatus::Failed, .reason = sent.error().message(), .retryable = true});
  }

  void release(const std::string& reason) override {
    std::printf("released: %s\n", reason.c_str());
    loop_.post([this] { loop_.stop(); });  // after queued frames are written
  }

 private:
  std::string name_;
  net::AsioLoop& loop_;
};

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: echo_session NAME SOCKET\n", stderr), 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  SystemRandom random;
  client::Outbox outbox{client::Numbering::Epoch, {}, random};
  Echo echo{argv[1], loop};
  session::RunnerOptions options;
  options.link.socket_path = argv[2];
  const auto runner = session::SessionRunner::create(loop, network, random, outbox, std::move(options), echo);
  if (!runner) return std::fprintf(stderr, "%s\n", runner.error().message().c_str()), 1;
  echo.runner = runner->get();
  net::ignore_sigpipe();
  net::Signals signals{loop, {SIGINT, SIGTERM}, [&](int) { (*runner)->release("terminated by a signal"); }};
  (*runner)->start();
  loop.run();
}
