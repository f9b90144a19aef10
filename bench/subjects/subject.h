/// A measured server: how to start it, and what it supports.
///
/// Ownership: a Subject is a description that exists for the whole run. A RunningServer is one server in a temporary
///   directory; its destructor stops it and removes its files.
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

/// The guarantee of a confirmation to the sender.
enum class AckGuarantee {
  None,     // no confirmation
  Memory,   // the server has it
  Process,  // survives a crash of the server
  Power,    // survives a power loss
};
std::string_view title_of(AckGuarantee guarantee);

class RunningServer {
 public:
  virtual ~RunningServer() = default;
  /// Connects and subscribes the seats. A seat that was open before resumes, if the subject supports it.
  virtual Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) = 0;
  [[nodiscard]] virtual const ServerProcess& server() const = 0;
};

struct Traits {
  std::string name;   // for `--subjects`
  std::string title;  // in the table
  AckGuarantee guarantee = AckGuarantee::None;
  bool keeps_messages = false;  // for an offline receiver
  std::size_t max_agents = 100'000;
  bool own = false;
  std::string note = {};  // settings that differ from the defaults
};

class Subject {
 public:
  explicit Subject(Traits traits) : traits_{std::move(traits)} {}
  virtual ~Subject() = default;

  [[nodiscard]] const Traits& traits() const { return traits_; }
  /// Why it cannot be measured here, for example because it is not installed.
  [[nodiscard]] virtual std::optional<std::string> missing() const { return std::nullopt; }
  [[nodiscard]] virtual Result<std::unique_ptr<RunningServer>> start() const = 0;

 private:
  Traits traits_;
};

using Subjects = std::vector<std::unique_ptr<Subject>>;

// One file each; a family adds all its subjects.
void add_raw_forwarder(Subjects& subjects);
void add_agent_relay(Subjects& subjects, const std::string& program);
void add_nats(Subjects& subjects);
void add_redis(Subjects& subjects);
void add_mosquitto(Subjects& subjects);
void add_zeromq(Subjects& subjects);
void add_relay_1x(Subjects& subjects);

}  // namespace relay::bench
