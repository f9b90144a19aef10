#include "tests/simulation/sim_network.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/sim_pair.h"

namespace relay::simulation {

class SimNetwork::SimListener final : public net::Listener {
 public:
  SimListener(SimNetwork& network, std::string path, net::OnAccept on_accept, DeathFlag dead)
      : network_{network}, path_{std::move(path)}, on_accept_{std::move(on_accept)}, dead_{std::move(dead)} {
    network_.listeners_[path_] = this;
  }
  ~SimListener() override {
    if (const auto found = network_.listeners_.find(path_); found != network_.listeners_.end() && found->second == this)
      network_.listeners_.erase(found);
  }
  SimListener(const SimListener&) = delete;
  SimListener& operator=(const SimListener&) = delete;

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] bool open() const { return !*dead_; }
  [[nodiscard]] const DeathFlag& dead() const { return dead_; }
  void accept(std::unique_ptr<net::Stream> stream) { on_accept_(std::move(stream)); }

 private:
  SimNetwork& network_;
  std::string path_;
  net::OnAccept on_accept_;
  DeathFlag dead_;
};

Result<std::unique_ptr<net::Listener>> SimNetwork::listen(const std::string& path, net::OnAccept on_accept) {
  return std::make_unique<SimListener>(*this, path, std::move(on_accept), std::make_shared<bool>(false));
}

std::unique_ptr<net::Listener> SimNetwork::listen_as_server(const std::string& path, net::OnAccept on_accept) {
  return std::make_unique<SimListener>(*this, path, std::move(on_accept), server_dead_);
}

void SimNetwork::connect(const std::string& path, net::OnConnect on_connect) {
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(faults_.max_delay.count()) + 1)};
  loop_.call_after(delay, [this, path, on_connect = std::move(on_connect)]() mutable {
    const auto found = listeners_.find(path);
    if (found == listeners_.end() || !found->second->open()) return on_connect(fail(path + ": no one is listening"));
    auto pair = std::make_shared<Pair>(*this, found->second->dead(), next_pair_++);
    std::erase_if(pairs_, [](const auto& weak) { return weak.expired(); });
    pairs_.push_back(pair);
    // The kernel has accepted; the daemon learns of it when it gets there.
    loop_.post([this, path, dead = found->second->dead(), stream = pair->end(Pair::kServer)]() mutable {
      const auto listener = listeners_.find(path);
      if (listener != listeners_.end() && !*dead && listener->second->dead() == dead)
        listener->second->accept(std::move(stream));
    });
    on_connect(pair->end(Pair::kClient));
  });
}

void SimNetwork::server_died() {
  for (const auto& weak : std::vector{pairs_})
    if (const auto pair = weak.lock(); pair && pair->is_of(server_dead_)) pair->server_died();
}

bool SimNetwork::flows_freely(std::size_t bytes) const {
  return std::ranges::none_of(pairs_, [&](const auto& weak) {
    const auto pair = weak.lock();
    return pair && (pair->breaking() || (pair->alive() && pair->waiting(Pair::kServer) >= bytes));
  });
}

void SimNetwork::cut_one() {
  std::vector<std::shared_ptr<Pair>> living;
  for (const auto& weak : pairs_)
    if (auto pair = weak.lock(); pair && pair->alive()) living.push_back(std::move(pair));
  if (!living.empty()) living[random_.below(living.size())]->cut();
}

void SimNetwork::recover() {
  for (const auto& weak : std::vector{pairs_})
    if (const auto pair = weak.lock()) pair->recover();
}

}  // namespace relay::simulation
