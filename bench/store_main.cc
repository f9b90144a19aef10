/// relay_store_bench [memory] [--rounds N] [--messages N] [--group N] [--pairs N]: the cost of a message in the store
/// alone; see README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"

namespace {

using namespace relay;
using namespace relay::records;
namespace fs = std::filesystem;

constexpr std::size_t kBodyBytes = 1'000;
constexpr WallMs kStart = 1'700'000'000'000;

struct Options {
  bool memory = false;
  std::int64_t rounds = 3, messages = 50'000, group = 500, pairs = 8;
};

Options read_options(int count, char** args) {
  Options options;
  for (int at = 1; at < count; ++at) {
    const std::string arg = args[at];
    if (arg == "memory") options.memory = true;
    if (at + 1 == count) continue;
    if (arg == "--rounds") options.rounds = std::atoll(args[at + 1]);
    if (arg == "--messages") options.messages = std::atoll(args[at + 1]);
    if (arg == "--group") options.group = std::atoll(args[at + 1]);
    if (arg == "--pairs") options.pairs = std::atoll(args[at + 1]);
  }
  return options;
}

/// Bodies made of words, to exercise the full-text index.
std::vector<std::string> some_payloads() {
  SeededRandom random{1};
  std::vector<std::string> payloads(64);
  for (auto& payload : payloads) {
    std::string body;
    while (body.size() < kBodyBytes) body += format("word{} ", random.below(2'000));
    payload = format(R"({{"kind":"message","body":"{}"}})", body);
  }
  return payloads;
}

/// Bytes that this process has written to files.
double bytes_written() {
  std::ifstream in{"/proc/self/io"};
  std::string name;
  double value = 0;
  while (in >> name >> value)
    if (name == "wchar:") return value;
  return 0;
}

struct Cost {
  double apply_us = 0, commit_us = 0, index_us = 0, bytes = 0;  // per message
};

double now_us() { return static_cast<double>(std::clock()) * 1e6 / CLOCKS_PER_SEC; }

/// The changes that the broker requests for a message delivered within its group.
void add_message(Changes& changes, std::int64_t n, std::int64_t pairs, const std::string& payload) {
  const AgentName from{format("sender-{}", n % pairs)}, to{format("recipient-{}", n % pairs)};
  const Seq seq{static_cast<std::uint64_t>(n / pairs + 1)};
  const WallMs at = kStart + n / 100;
  Message message{.key = Key{2 * n + 1},
                  .id = format("5f2c9a1be0d34477-{}", n),
                  .ts = at,
                  .from = from,
                  .to = to.value(),
                  .topic = {},
                  .kind = "message",
                  .thread = {},
                  .payload = payload,
                  .payload_meta = {},
                  .session = SessionId{"session-of-" + from.value()}};
  Delivery delivery;
  delivery.key = Key{2 * n + 2};
  delivery.message = message.key;
  delivery.from = from;
  delivery.to = to;
  delivery.rank = delivery.key;
  delivery.seq = seq;
  delivery.expires_at = at + 86'400'000;
  const auto key = delivery.key;
  changes.emplace_back(AddMessage{std::move(message)});
  changes.emplace_back(AddDelivery{std::move(delivery)});
  changes.emplace_back(SetStream{{Topic{}, from, to, {}, seq, Seq{}}});
  ChangeDelivery delivered{key, DeliveryState::Delivered, Proof::Accepted, at};
  delivered.via = "wire";
  delivered.session = SessionId{"session-of-" + to.value()};
  changes.emplace_back(std::move(delivered));
  changes.emplace_back(SetStream{{Topic{}, from, to, {}, seq, seq}});
}

template <class Value>
Value need(Result<Value> result) {
  if (result) return *std::move(result);
  std::fputs((result.error().message() + "\n").c_str(), stderr);
  std::exit(1);
}
void need(const Result<void>& result) {
  if (result) return;
  std::fputs((result.error().message() + "\n").c_str(), stderr);
  std::exit(1);
}

Cost measure(store::MessageStore& store, const Options& options, const std::vector<std::string>& payloads) {
  need(store.load());
  Cost cost;
  const double written = bytes_written();
  Changes changes;
  for (std::int64_t n = 0; n < options.messages;) {
    changes.clear();
    for (std::int64_t end = std::min(n + options.group, options.messages); n < end; ++n)
      add_message(changes, n, options.pairs, payloads[static_cast<std::size_t>(n) % payloads.size()]);
    const double start = now_us();
    need(store.begin());
    for (const auto& change : changes) need(store.apply(change));
    const double applied = now_us();
    need(store.commit());
    cost.apply_us += applied - start;
    cost.commit_us += now_us() - applied;
  }
  cost.bytes = bytes_written() - written;
  const double start = now_us();
  while (need(store.index_step(256))) {}
  cost.index_us = now_us() - start;
  const auto each = static_cast<double>(options.messages);
  return {cost.apply_us / each, cost.commit_us / each, cost.index_us / each, cost.bytes / each};
}

}  // namespace

int main(int count, char** args) {
  const auto options = read_options(count, args);
  const auto payloads = some_payloads();
  std::vector<Cost> rounds;
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    if (options.memory) {
      store::MemoryStore store;
      rounds.push_back(measure(store, options, payloads));
      continue;
    }
    const auto directory = fs::temp_directory_path() / ("relay-store-bench-" + SystemRandom{}.hex(8));
    fs::create_directory(directory);
    {
      auto store = need(
          store::SqliteStore::open({.path = directory / "messages.sqlite", .durability = store::Durability::Process}));
      rounds.push_back(measure(*store, options, payloads));
    }
    fs::remove_all(directory);
  }
  std::ranges::sort(rounds, {}, [](const Cost& cost) { return cost.apply_us + cost.commit_us; });
  const auto& middle = rounds[rounds.size() / 2];
  std::puts(format("{}: {} messages, {} in a group, {} pairs; per message:\n"
                   "  apply {:.2f} us, commit {:.2f} us, full text {:.2f} us of processor time; {:.0f} bytes written",
                   options.memory ? "memory" : "sqlite", options.messages, options.group, options.pairs,
                   middle.apply_us, middle.commit_us, middle.index_us, middle.bytes)
                .c_str());
}
