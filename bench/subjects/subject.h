/// What is measured: a server of some kind that can be started fresh, and what it can do.
///
/// Ownership: a Subject is a description and lives for the whole run; a Running is one server in a temporary directory
///   and ends, with everything it wrote, when it is destroyed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "subjects/endpoint.h"
#include "subjects/server_process.h"

namespace relay::bench {

/// What a confirmation to the sender promises.
enum class AckGuarantee {
  None,     // there is no confirmation
  Memory,   // the server has it
  Process,  // survives the death of the server
  Power,    // survives the loss of power
};
std::string_view title_of(AckGuarantee promise);

class Running {
 public:
  virtual ~Running() = default;
  /// Connected, subscribed, ready: a seat that was open before and is away continues where it was, if the subject can.
  virtual Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) = 0;
  [[nodiscard]] virtual const ServerProcess& server() const = 0;
};

struct Traits {
  std::string name;   // as `--subjects` takes it
  std::string title;  // as the table shows it
  AckGuarantee promise = AckGuarantee::None;
  bool keeps_mail = false;  // for a receiver that is away
  std::size_t most_agents = 100'000;
  bool ours = false;
  std::string note = {};  // settings that a reader must know
};

class Subject {
 public:
  explicit Subject(Traits traits) : traits_{std::move(traits)} {}
  virtual ~Subject() = default;

  [[nodiscard]] const Traits& traits() const { return traits_; }
  /// Why it cannot be measured here; empty when it can.
  [[nodiscard]] virtual std::optional<std::string> missing() const { return std::nullopt; }
  [[nodiscard]] virtual Result<std::unique_ptr<Running>> start() const = 0;

 private:
  Traits traits_;
};

using Subjects = std::vector<std::unique_ptr<Subject>>;

// One file each. A family adds all its members.
void add_floor(Subjects& subjects);
void add_ours(Subjects& subjects, const std::string& program);
void add_nats(Subjects& subjects);
void add_redis(Subjects& subjects);
void add_mosquitto(Subjects& subjects);
void add_zeromq(Subjects& subjects);
void add_first_daemon(Subjects& subjects);

}  // namespace relay::bench
