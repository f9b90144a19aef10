/// Who works on which files: leases with an end, shared by the agents of one project.
///
/// Why advisory: an agent that forgets a lease, or dies with one, must not stop the others; every lease ends by itself.
/// Invariants: at most kMaxReservations; one holder has a path once; a reservation covers what lies below its path.
/// On disk: `reservations.json` beside the workspace's store, replaced as a whole under a lock; it needs no daemon. A file
///   that cannot be understood is begun anew, since all it could tell would soon have ended.
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
  std::string path;  // below the project's root; `.` is all of it
  std::string holder;
  std::string note;
  WallMs until = 0;
  bool operator==(const Reservation&) const = default;
};
json::object to_json(const Reservation& reservation);

/// A path as the agent wrote it (absolute, or seen from the project's root), as a reservation has it.
Result<std::string> path_in_project(std::string_view root, std::string_view given);

class ReservationTable {
 public:
  static ReservationTable parse(std::string_view text, WallMs now);
  [[nodiscard]] std::string text() const;

  struct Outcome {
    std::vector<Reservation> granted;
    std::vector<Reservation> conflicts;  // of others; what they cover was not granted
  };
  /// Renews what the holder has already.
  Result<Outcome> reserve(const std::string& holder, const std::vector<std::string>& paths, const std::string& note,
                          WallMs until);
  /// No paths: all of the holder's. What was released.
  std::vector<Reservation> release(const std::string& holder, const std::vector<std::string>& paths);

  [[nodiscard]] const std::vector<Reservation>& all() const { return all_; }

 private:
  std::vector<Reservation> all_;
};

/// Whoever changes the book holds its lock from reading to writing; LockErrc::Held: somebody else has it just now.
Result<std::unique_ptr<DirectoryLock>> lock_reservations(Directory& directory);
Result<ReservationTable> load_reservations(Directory& directory, WallMs now);
Result<void> save_reservations(Directory& directory, const ReservationTable& book);

}  // namespace relay::mcp
