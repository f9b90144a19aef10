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
constexpr std::chrono::milliseconds kLeavingTimeout{5'000};  // until the daemon has seen that somebody left
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
    auto& measured = end_.measured;
    const auto answer = RELAY_TRY(connection_.request(protocol::MessageType::Status, "{}"));
    const auto status = RELAY_TRY(parse_json_object(answer));
    if (const auto* storage = object_member(status, "storage")) {
      measured.storage = string_member(*storage, "driver").value_or("");
      measured.durability = string_member(*storage, "durability").value_or("");
    }
    measured.bytes = options_.bytes;
    measured.window = options_.window;
    RELAY_TRY(remove_all());  // what one that was killed left behind
    const net::Signals signals{loop_, {SIGINT, SIGTERM}, [this](int) { interrupt(); }};
    RELAY_TRY(run_part("one by one", 1, measured.single, measured.raw_single));
    RELAY_TRY(run_part("many at once", options_.window, measured.many, measured.raw_many));
    line_.clear();
    return std::move(end_);
  }

 private:
  Result<void> run_part(std::string_view title, std::size_t window, Measurement& ours, Measurement& raw) {
    if (end_.interrupted) return {};
    if (!line_.is_live())
      print_notice(relay::format("measuring {}, for at most {}", title, fine_duration(options_.time)));
    do {
      const auto share = std::max(ours.seconds / std::chrono::duration<double>(options_.time).count(),
                                  static_cast<double>(ours.messages) / static_cast<double>(options_.messages));
      if (share >= 1) break;
      line_.show(relay::format("{:<12} {} {:3.0f} %", title, bar(share, kBarColumns, context_.unicode), share * 100));
      const BenchLimit extent{std::min(kPieceMessages, options_.messages - ours.messages),
                              std::min(kPieceTime, options_.time)};
      raw.add(RELAY_TRY(forwarder_.measure(body_, window, extent)));
      ours.add(RELAY_TRY(measure_piece(window, extent)));
    } while (!end_.interrupted);
    return {};
  }

  /// Whatever becomes of it, what it stored is removed.
  Result<Measurement> measure_piece(std::size_t window, const BenchLimit& extent) {
    pair_ = std::make_unique<ClientPair>(loop_, config::socket_to_connect(context_.project.socket));
    auto measured = measure(window, extent);
    pair_.reset();
    const auto removed = remove_all();
    if (measured && !removed) return std::unexpected{removed.error()};
    return measured;
  }

  Result<Measurement> measure(std::size_t window, const BenchLimit& extent) {
    RELAY_TRY(pair_->join());
    if (!end_.interrupted) RELAY_TRY(pair_->measure(body_, window, {kWarmUpMessages, extent.time}));
    if (end_.interrupted) return Measurement{};
    return pair_->measure(body_, window, extent);
  }

  void interrupt() {
    end_.interrupted = true;
    if (pair_) pair_->stop();
  }

  Result<void> remove_all() {
    for (const auto name : {kBenchReceiver, kBenchSender}) RELAY_TRY(remove(name, in(kLeavingTimeout)));
    return {};
  }

  /// With everything it sent. Refused as long as it is connected.
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
  std::unique_ptr<ClientPair> pair_;  // while it measures
  BenchOutcome end_;
};

/// A workspace of its own, below the home: messages can be removed, events cannot, because they are numbered without gaps.
Result<config::Project> scratch_project(const Context& context) {
  const auto root = context.home.root + "/bench";
  RELAY_TRY(config::make_private_directory(root));
  return config::project_at(root, context.home);
}

/// Closes that workspace and removes its directories, whatever became of the measuring.
class RemovedAfterwards {
 public:
  RemovedAfterwards(const Context& context, const config::Project& project) : context_{context}, project_{project} {}
  ~RemovedAfterwards() {
    auto daemon = connect_daemon(context_);
    if (!daemon || !close_workspace(*daemon, project_.root)) return;  // the next one uses and removes it
    std::error_code none;
    std::filesystem::remove_all(project_.directory, none);
    std::filesystem::remove_all(project_.root, none);
    for (const auto& place : context_.home.published) std::filesystem::remove_all(place + "/" + project_.id, none);
  }
  RemovedAfterwards(const RemovedAfterwards&) = delete;
  RemovedAfterwards& operator=(const RemovedAfterwards&) = delete;

 private:
  const Context& context_;
  const config::Project& project_;
};

}  // namespace

Result<BenchOutcome> run_bench(const BenchOptions& options, const Context& context) {
  auto daemon = RELAY_TRY(connect_daemon(context));
  const auto place = RELAY_TRY(scratch_project(context));
  RELAY_TRY(open_workspace(daemon, place.root, {}));
  const auto directory = RELAY_TRY(DiskDirectory::open(place.directory));
  const auto alone = directory->lock(std::string{kLockName});
  if (!alone && is(alone.error(), LockErrc::Held))
    return fail(Errc::Refused, "another benchmark of this daemon is running; wait until it ends");
  if (!alone) return std::unexpected{alone.error()};
  auto scratch = context;
  scratch.project = place;
  const RemovedAfterwards removed{context, place};
  auto connection = RELAY_TRY(join_workspace(scratch));
  auto forwarder = RELAY_TRY(RawForwarder::start());
  return Bench{options, scratch, std::move(connection), std::move(forwarder)}.run();
}

}  // namespace relay::cli
