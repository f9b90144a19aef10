#include "adapters/claude_inbox.h"

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxSessionFileBytes = 64 * 1024;
constexpr int kBurst = 26;
constexpr Millis kRefill{2'100};       // until one more message is accepted
constexpr int kMaxSessionFiles = 512;  // searched for a session of a process that the host did not start itself

Result<json::object> read_session_file(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed) return fail(format("{} cannot be read: {}", path.string(), failed.message()));
  if (size > kMaxSessionFileBytes) return fail(format("{} is too large", path.string()));
  std::ifstream file{path, std::ios::binary};
  auto session = parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (!session) return fail(format("{} is not a session file: {}", path.string(), session.error().message()));
  return session;
}

}  // namespace

std::string inbox_line(const NativeDelivery& delivery) {
  const bool urgent = delivery.mode == protocol::DeliveryMode::Immediate;
  return json::serialize(json::object{{"type", "user"},
                                      {"message", {{"role", "user"}, {"content", delivery.text}}},
                                      {"msg_id", delivery.key},
                                      {"priority", urgent ? "now" : "next"}}) +
         "\n";
}

/// One message being written to the socket.
class ClaudeInbox::PendingWrite final : public net::StreamListener {
 public:
  PendingWrite(std::string path, std::string line, Adapter::OnAccepted done)
      : path_{std::move(path)}, line_{std::move(line)}, done_{std::move(done)} {}

  void on_connected(Result<std::unique_ptr<net::Stream>> stream) {
    if (!stream) return finish(unreachable(stream.error()));
    stream_ = *std::move(stream);
    stream_->start(*this);
    stream_->write(line_);
  }
  [[nodiscard]] bool is_finished() const { return finished_; }

 private:
  void on_bytes(std::string_view) override {}
  void on_written(std::size_t bytes_left) override {
    if (bytes_left > 0) return;
    stream_->close(net::Drain::Yes);
    finish({});
  }
  /// Part of the line may be written: Claude ignores a line without its end.
  void on_closed(const std::string& reason) override {
    finish(fail(format("Claude Code's inbox at {} did not accept the message: {}", path_, reason)));
  }
  [[nodiscard]] Failure unreachable(const Error& error) const {
    return fail(format("Claude Code's inbox at {} cannot be reached: {}", path_, error.code().message()));
  }
  void finish(Result<void> outcome) {
    if (std::exchange(finished_, true)) return;
    auto done = std::move(done_);  // it may send the next message, which destroys this object
    done(std::move(outcome));
  }

  std::string path_;
  std::string line_;
  Adapter::OnAccepted done_;
  std::unique_ptr<net::Stream> stream_;
  bool finished_ = false;
};

ClaudeInbox::ClaudeInbox(net::AsioLoop& loop, std::string config_directory, pid_t agent)
    : loop_{loop}, network_{loop}, directory_{std::move(config_directory)}, agent_{agent} {}
ClaudeInbox::~ClaudeInbox() = default;

Result<std::string> ClaudeInbox::socket_of(const std::string& session) const {
  const auto folder = fs::path{directory_} / "sessions";
  const auto matches = [&](const json::object& file) {
    return session.empty() || string_member(file, "sessionId") == session;
  };
  auto found = read_session_file(folder / format("{}.json", agent_));
  if (found && !matches(*found)) found = fail(format("Claude Code has no running session {}", session));
  if (!found) {
    // Started by a wrapper, or switched to another session.
    std::error_code none;
    int searched = 0;
    for (const auto& entry : fs::directory_iterator{folder, none}) {
      if (session.empty() || ++searched > kMaxSessionFiles) break;
      if (entry.path().extension() != ".json") continue;
      if (auto other = read_session_file(entry.path()); other && matches(*other)) {
        found = std::move(other);
        break;
      }
    }
  }
  if (!found) return Failure{found.error()};
  auto path = string_member(*found, "messagingSocketPath").value_or("");
  if (path.empty()) return fail("this session of Claude Code has no inbox");
  return path;
}

SteadyTime ClaudeInbox::ready_at() const { return full_at_ - (kBurst - 1) * kRefill; }

bool ClaudeInbox::is_running_low() const { return full_at_ > loop_.now().steady + kBurst / 2 * kRefill; }

void ClaudeInbox::put(const NativeDelivery& delivery, const std::string& session, Adapter::OnAccepted done) {
  std::erase_if(writes_, [](const auto& each) { return each->is_finished(); });
  const auto path = socket_of(session);
  if (!path) return done(Failure{path.error()});
  full_at_ = std::max(full_at_, loop_.now().steady) + kRefill;
  auto& write = *writes_.emplace_back(std::make_unique<PendingWrite>(*path, inbox_line(delivery), std::move(done)));
  network_.connect(*path,
                   [&write](Result<std::unique_ptr<net::Stream>> stream) { write.on_connected(std::move(stream)); });
}

}  // namespace relay::adapters
