#include "cli/bench/runner.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/bench/client_pair.h"
#include "cli/bench/raw_forwarder.h"
#include "cli/render/status_line.h"
#include "cli/render/times.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"
#include "net/signals.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr std::string_view kLockName = "bench.lock";
constexpr std::size_t kPieceMessages = 1'000;
constexpr Millis kPieceTime{250};
constexpr std::size_t kWarmUpMessages = 20;
constexpr std::size_t kBarColumns = 30;
constexpr std::chrono::milliseconds kRemovalTimeout{30'000};
constexpr std::chrono::milliseconds kLeavingTimeout{5'000};  // until the daemon has seen the disconnect
constexpr std::chrono::milliseconds kLeavingPause{5};

class Bench {
 public:
  Bench(const BenchOptions& options, const Context& context, DaemonConnection connection, RawForwarder forwarder)
      : options_{options},
        context_{context},
        connection_{std::move(connection)},
        forwarder_{std::move(forwarder)},
        body_(options.bytes, 'x'),
        line_{context} {}

  Result<BenchOutcome> run() {
    auto& measured = outcome_.measured;
    const auto answer = RELAY_TRY(connection_.request(protocol::MessageType::Status, "{}"));
    const auto status = RELAY_TRY(parse_json_object(answer));
    if (const auto* storage = object_member(status, "storage")) {
      measured.storage = string_member(*storage, "driver").value_or("");
      measured.durability = string_member(*storage, "durability").value_or("");
    }
    measured.bytes = options_.bytes;
    measured.window = options_.window;
    RELAY_TRY(remove_all());  // left behind by a killed run
    const net::Signals signals{loop_, {SIGINT, SIGTERM}, [this](int) { interrupt(); }};
    RELAY_TRY(run_part("one by one", 1, measured.single, measured.raw_single));
    RELAY_TRY(run_part("many at once", options_.window, measured.many, measured.raw_many));
    line_.clear();
    return std::move(outcome_);
  }

 private:
  Result<void> run_part(std::string_view title, std::size_t window, Measurement& relay, Measurement& raw) {
    if (outcome_.interrupted) return {};
    if (!line_.is_live())
      print_notice(relay::format("measuring {}, for at most {}", title, fine_duration(options_.time)));
    do {
      const auto share = std::max(relay.seconds / std::chrono::duration<double>(options_.time).count(),
                                  static_cast<double>(relay.messages) / static_cast<double>(options_.messages));
      if (share >= 1) break;
      line_.show(
          relay::format("{:<12} {} {:3.0f} %", title, progress_bar(share, kBarColumns, context_.unicode), share * 100));
      const BenchLimit limit{std::min(kPieceMessages, options_.messages - relay.messages),
                             std::min(kPieceTime, options_.time)};
      raw.add(RELAY_TRY(forwarder_.measure(body_, window, limit)));
      relay.add(RELAY_TRY(measure_piece(window, limit)));
    } while (!outcome_.interrupted);
    return {};
  }

  /// Removes the stored messages on every exit.
  Result<Measurement> measure_piece(std::size_t window, const BenchLimit& limit) {
    pair_ = std::make_unique<ClientPair>(loop_, config::socket_to_connect(context_.project.socket));
    auto measured = measure(window, limit);
    pair_.reset();
    const auto removed = remove_all();
    if (measured && !removed) return std::unexpected{removed.error()};
    return measured;
  }

  Result<Measurement> measure(std::size_t window, const BenchLimit& limit) {
    RELAY_TRY(pair_->join());
    if (!outcome_.interrupted) RELAY_TRY(pair_->measure(body_, window, {kWarmUpMessages, limit.time}));
    if (outcome_.interrupted) return Measurement{};
    return pair_->measure(body_, window, limit);
  }

  void interrupt() {
    outcome_.interrupted = true;
    if (pair_) pair_->stop();
  }

  Result<void> remove_all() {
    for (const auto name : {kBenchReceiver, kBenchSender}) RELAY_TRY(remove(name, in(kLeavingTimeout)));
    return {};
  }

  /// Removes the agent with everything it sent. The daemon refuses while it is connected.
  Result<void> remove(std::string_view name, Deadline deadline) {
    text::JsonWriter request;
    const auto payload = request.field("name", name).field("removeMessages", true).take();
    for (;;) {
      const auto text = RELAY_TRY(connection_.request(protocol::MessageType::RemoveAgent, payload, kRemovalTimeout));
      const auto answer = RELAY_TRY(parse_json_object(text));
      if (bool_member(answer, "success").value_or(false)) return {};
      if (std::chrono::steady_clock::now() >= deadline)
        return fail(Errc::Refused, sanitize(string_member(answer, "message").value_or(""), Lines::Join));
      std::this_thread::sleep_for(kLeavingPause);
    }
  }

  const BenchOptions& options_;
  const Context& context_;
  DaemonConnection connection_;
  RawForwarder forwarder_;
  const std::string body_;
  StatusLine line_;
  net::AsioLoop loop_;
  std::unique_ptr<ClientPair> pair_;  // during a measurement
  BenchOutcome outcome_;
};

/// A separate workspace below the relay home: messages can be removed, events cannot, because they are numbered
/// without gaps.
Result<config::Project> scratch_project(const Context& context) {
  const auto root = context.home.root + "/bench";
  RELAY_TRY(config::make_private_directory(root));
  return config::project_at(root, context.home);
}

/// Closes that workspace and removes its directories in the destructor.
class ScratchWorkspace {
 public:
  ScratchWorkspace(const Context& context, const config::Project& project) : context_{context}, project_{project} {}
  ~ScratchWorkspace() {
    auto daemon = connect_daemon(context_);
    if (!daemon || !close_workspace(*daemon, project_.root)) return;  // the next run uses and removes it
    std::error_code none;
    std::filesystem::remove_all(project_.directory, none);
    std::filesystem::remove_all(project_.root, none);
    for (const auto& place : context_.home.published) std::filesystem::remove_all(place + "/" + project_.id, none);
  }
  ScratchWorkspace(const ScratchWorkspace&) = delete;
  ScratchWorkspace& operator=(const ScratchWorkspace&) = delete;

 private:
  const Context& context_;
  const config::Project& project_;
};

}  // namespace

Result<BenchOutcome> run_bench(const BenchOptions& options, const Context& context) {
  auto daemon = RELAY_TRY(connect_daemon(context));
  const auto project = RELAY_TRY(scratch_project(context));
  RELAY_TRY(open_workspace(daemon, project.root, {}));
  const auto directory = RELAY_TRY(DiskDirectory::open(project.directory));
  const auto lock = directory->lock(std::string{kLockName});
  if (!lock && is(lock.error(), LockErrc::Held))
    return fail(Errc::Refused, "another benchmark of this daemon is running; wait until it ends");
  if (!lock) return std::unexpected{lock.error()};
  auto scratch = context;
  scratch.project = project;
  const ScratchWorkspace removed{context, project};
  auto connection = RELAY_TRY(join_workspace(scratch));
  auto forwarder = RELAY_TRY(RawForwarder::start());
  return Bench{options, scratch, std::move(connection), std::move(forwarder)}.run();
}

}  // namespace relay::cli
