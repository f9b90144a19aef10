/// Advisory leases on files, shared by the agents of one project.
///
/// Why advisory: an agent that never releases a lease, or ends with one, must not block the others. Every lease
///   expires.
/// Invariants: at most kMaxReservations; a holder has a path at most once; a reservation covers everything below its
/// path. On disk: `reservations.json` beside the workspace's store, replaced as a whole under a lock, without the
///   daemon. An unreadable file is treated as empty, since its leases would expire soon.
/// Threading: one thread; the clock is an argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json.h"
#include "base/result.h"

namespace relay::mcp {

inline constexpr std::size_t kMaxReservations = 500;
inline constexpr std::size_t kMaxNoteBytes = 400;

struct Reservation {
  std::string path;  // relative to the project root; `.` is the whole project
  std::string holder;
  std::string note;
  WallMs until = 0;
  bool operator==(const Reservation&) const = default;
};
json::object to_json(const Reservation& reservation);

/// The path of a reservation from an argument of the agent: absolute, or relative to the project root.
Result<std::string> path_in_project(std::string_view root, std::string_view given);

class ReservationTable {
 public:
  static ReservationTable parse(std::string_view text, WallMs now);
  [[nodiscard]] std::string text() const;

  struct Outcome {
    std::vector<Reservation> granted;
    std::vector<Reservation> conflicts;  // of other holders; paths they cover were not granted
  };
  /// Renews leases that the holder has already.
  Result<Outcome> reserve(const std::string& holder, const std::vector<std::string>& paths, const std::string& note,
                          WallMs until);
  /// Without paths: all leases of the holder. Returns the released ones.
  std::vector<Reservation> release(const std::string& holder, const std::vector<std::string>& paths);

  [[nodiscard]] const std::vector<Reservation>& all() const { return all_; }

 private:
  std::vector<Reservation> all_;
};

/// A caller that changes the table holds the lock from load to save. LockErrc::Held: another program holds it.
Result<std::unique_ptr<DirectoryLock>> lock_reservations(Directory& directory);
Result<ReservationTable> load_reservations(Directory& directory, WallMs now);
Result<void> save_reservations(Directory& directory, const ReservationTable& table);

}  // namespace relay::mcp
