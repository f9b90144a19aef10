#include "adapters/claude_inbox.h"

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxRecordBytes = 64 * 1024;
constexpr int kBurst = 26;
constexpr Millis kRefill{2'100};  // until one more message is accepted
constexpr int kMaxRecords = 512;  // searched for a session whose process is not the one we started

Result<json::object> read_record(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed) return fail(format("{} cannot be read: {}", path.string(), failed.message()));
  if (size > kMaxRecordBytes) return fail(format("{} is too large", path.string()));
  std::ifstream file{path, std::ios::binary};
  auto record = parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (!record) return fail(format("{} is no record of a session: {}", path.string(), record.error().message()));
  return record;
}

}  // namespace

std::string inbox_line(const NativeDelivery& words) {
  const bool urgent = words.mode == protocol::DeliveryMode::Immediate;
  return json::serialize(json::object{{"type", "user"},
                                      {"message", {{"role", "user"}, {"content", words.text}}},
                                      {"msg_id", words.delivery},
                                      {"priority", urgent ? "now" : "next"}}) +
         "\n";
}

/// One message being written to the socket.
class ClaudeInbox::Writing final : public net::StreamListener {
 public:
  Writing(std::string path, std::string line, Adapter::OnAccepted done)
      : path_{std::move(path)}, line_{std::move(line)}, done_{std::move(done)} {}

  void on_connected(Result<std::unique_ptr<net::Stream>> stream) {
    if (!stream) return finish(unreachable(stream.error()));
    stream_ = *std::move(stream);
    stream_->start(*this);
    stream_->write(line_);
  }
  [[nodiscard]] bool over() const { return over_; }

 private:
  void on_bytes(std::string_view) override {}
  void on_written(std::size_t bytes_left) override {
    if (bytes_left > 0) return;
    stream_->close(net::Drain::Yes);
    finish({});
  }
  /// Part of it may be written: a line without its end is no message for Claude.
  void on_closed(const std::string& reason) override {
    finish(fail(format("Claude Code's inbox at {} did not take it: {}", path_, reason)));
  }
  [[nodiscard]] Failure unreachable(const Error& error) const {
    return fail(format("Claude Code's inbox at {} cannot be reached: {}", path_, error.code().message()));
  }
  void finish(Result<void> outcome) {
    if (std::exchange(over_, true)) return;
    auto done = std::move(done_);  // it may send the next message, which destroys this object
    done(std::move(outcome));
  }

  std::string path_;
  std::string line_;
  Adapter::OnAccepted done_;
  std::unique_ptr<net::Stream> stream_;
  bool over_ = false;
};

ClaudeInbox::ClaudeInbox(net::AsioLoop& loop, std::string config_directory, pid_t agent)
    : loop_{loop}, network_{loop}, directory_{std::move(config_directory)}, agent_{agent} {}
ClaudeInbox::~ClaudeInbox() = default;

Result<std::string> ClaudeInbox::socket_of(const std::string& session) const {
  const auto folder = fs::path{directory_} / "sessions";
  const auto fits = [&](const json::object& record) {
    return session.empty() || string_member(record, "sessionId") == session;
  };
  auto record = read_record(folder / format("{}.json", agent_));
  if (record && !fits(*record)) record = fail(format("no session of Claude Code says that it is {}", session));
  if (!record) {
    // Started by a wrapper, or switched to another session.
    std::error_code none;
    int looked_at = 0;
    for (const auto& entry : fs::directory_iterator{folder, none}) {
      if (session.empty() || ++looked_at > kMaxRecords) break;
      if (entry.path().extension() != ".json") continue;
      if (auto other = read_record(entry.path()); other && string_member(*other, "sessionId") == session) {
        record = std::move(other);
        break;
      }
    }
  }
  if (!record) return Failure{record.error()};
  auto path = string_member(*record, "messagingSocketPath").value_or("");
  if (path.empty()) return fail("this session of Claude Code has no inbox");
  return path;
}

SteadyTime ClaudeInbox::ready_at() const { return full_at_ - (kBurst - 1) * kRefill; }

bool ClaudeInbox::runs_low() const { return full_at_ > loop_.now().steady + kBurst / 2 * kRefill; }

void ClaudeInbox::put(const NativeDelivery& words, const std::string& session, Adapter::OnAccepted done) {
  std::erase_if(writing_, [](const auto& each) { return each->over(); });
  const auto path = socket_of(session);
  if (!path) return done(Failure{path.error()});
  full_at_ = std::max(full_at_, loop_.now().steady) + kRefill;
  auto& writing = *writing_.emplace_back(std::make_unique<Writing>(*path, inbox_line(words), std::move(done)));
  network_.connect(
      *path, [&writing](Result<std::unique_ptr<net::Stream>> stream) { writing.on_connected(std::move(stream)); });
}

}  // namespace relay::adapters
