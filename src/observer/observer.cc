#include "observer/observer.h"

#include <exception>
#include <map>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/random.h"
#include "base/scoped_signal_block.h"
#include "capture/capture_log.h"
#include "client/daemon_call.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"
#include "observer/capture_tail.h"
#include "observer/observed_agent.h"

namespace relay::observer {
namespace {

constexpr std::size_t kMaxHeldLines = 64;  // of an agent whose workspace is being opened
constexpr Millis kOpenTimeout{10'000};
constexpr WallMs kNotesRetentionMs = 30LL * 24 * 3'600'000;

std::string workspace_socket(const client::DaemonResponse& response, const std::string& root) {
  const auto object = parse_json_object(response.payload);
  if (!object) return {};
  if (const auto* workspaces = array_member(*object, "workspaces"))
    for (const auto& each : *workspaces)
      if (const auto* workspace = each.if_object(); workspace != nullptr && string_member(*workspace, "root") == root)
        return string_member(*workspace, "socket").value_or("");
  return {};
}

}  // namespace

struct Observer::Parts {
  explicit Parts(ObserverOptions made) : options{std::move(made)} {}

  /// One agent, from its first line to its end.
  struct Session {
    std::unique_ptr<client::DaemonCall> opening;
    std::vector<capture::TimedRecord> held;  // lines that arrived while its workspace was opened
    std::unique_ptr<ObservedAgent> agent;
  };

  Result<void> start() {
    (void)RELAY_TRY(capture::CaptureLog::open(options.capture_home));  // makes the directories
    tail = RELAY_TRY(
        CaptureTail::follow(loop, options.capture_home + "/events", [this](std::string_view line) { on_line(line); }));
    open_notes();
    return {};
  }

  /// Removes old notes: sessions whose end was not observed leave them behind.
  void open_notes() {
    auto opened = DiskDirectory::open(options.notes_directory);
    if (!opened)
      return log::warn("observed agents get no messages: cannot open their notes",
                       {{"error", opened.error().message()}});
    notes = *std::move(opened);
    for (const auto& name : notes->files_before(loop.now().wall - kNotesRetentionMs)) (void)notes->remove(name);
  }

  void on_line(std::string_view text) {
    auto line = capture::parse_record(text);
    if (!line) return;
    const auto& source = line->record.source;
    if (!source.name.empty() || source.session.empty() || transcript_reader(source.agent) == nullptr) return;
    auto session = sessions.find(source.session);
    if (session == sessions.end()) {
      if (line->record.kind == capture::RecordKind::SessionEnd || !source.working_directory.starts_with('/')) return;
      if (sessions.size() >= kMaxObserved)
        return log::warn("too many agents to observe", {{"max", format("{}", kMaxObserved)}});
      session = sessions.try_emplace(source.session).first;
      open(source);
    }
    if (session->second.agent)
      session->second.agent->take(*line);
    else if (session->second.held.size() < kMaxHeldLines)
      session->second.held.push_back(*std::move(line));
  }

  void open(const capture::Source& source) {
    const auto root = options.project_root(source.working_directory);
    auto& opening = sessions[source.session].opening;
    opening = std::make_unique<client::DaemonCall>(
        loop, network, options.control_socket,
        client::DaemonRequest{.type = protocol::MessageType::WorkspaceOpen,
                              .id = random.hex(8),
                              .payload = json::serialize(json::object{{"root", root}}),
                              .timeout = kOpenTimeout},
        [this, source, root](Result<client::DaemonResponse> response) {
          const auto socket = response ? workspace_socket(*response, root) : std::string{};
          loop.post(
              [this, source, socket] { start_agent(source, socket); });  // not inside the call, which is destroyed
        });
    opening->start();
  }

  void start_agent(const capture::Source& source, const std::string& socket) {
    auto& session = sessions[source.session];
    session.opening.reset();
    if (socket.empty()) {
      log::info("cannot observe an agent: its workspace cannot be opened", {{"cwd", source.working_directory}});
      sessions.erase(source.session);
      return;
    }
    session.agent = std::make_unique<ObservedAgent>(loop, network, random, socket, source, notes.get(),
                                                    [this, id = source.session] { sessions.erase(id); });
    for (const auto& line : std::exchange(session.held, {})) session.agent->take(line);
  }

  void run() {
    for (bool failed = true; failed;) {
      failed = false;
      try {
        loop.run();
      } catch (const std::exception& error) {
        log::error("an exception ended a task of the observer", {{"error", error.what()}});
        failed = true;
      }
    }
  }

  ObserverOptions options;
  SystemRandom random;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  std::unique_ptr<DiskDirectory> notes;     // outlives the agents
  std::map<std::string, Session> sessions;  // by the agent's own id of its session
  std::unique_ptr<CaptureTail> tail;
};

Result<std::unique_ptr<Observer>> Observer::start(ObserverOptions options) {
  auto parts = std::make_unique<Parts>(std::move(options));
  RELAY_TRY(parts->start());
  return std::unique_ptr<Observer>{new Observer{std::move(parts)}};
}

Observer::Observer(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {
  const ScopedSignalBlock block;  // signals are for the daemon's main thread
  thread_ = std::thread{[this] { parts_->run(); }};
}

Observer::~Observer() {
  parts_->loop.post([parts = parts_.get()] {
    parts->tail.reset();
    parts->sessions.clear();
    parts->loop.stop();
  });
  thread_.join();
}

}  // namespace relay::observer
