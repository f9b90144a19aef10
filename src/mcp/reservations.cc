#include "mcp/reservations.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::string_view kFile = "reservations.json";
constexpr std::size_t kMaxFileBytes = 8 << 20;
constexpr std::string_view kWholeProject = ".";

bool covers(std::string_view outer, std::string_view inner) {
  if (outer == kWholeProject || outer == inner) return true;
  return inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '/';
}
bool overlap(std::string_view one, std::string_view other) { return covers(one, other) || covers(other, one); }

}  // namespace

json::object to_json(const Reservation& reservation) {
  json::object made;
  made["path"] = reservation.path;
  made["holder"] = reservation.holder;
  made["until"] = reservation.until;
  if (!reservation.note.empty()) made["note"] = reservation.note;
  return made;
}

Result<std::string> path_in_project(std::string_view root, std::string_view given) {
  namespace fs = std::filesystem;
  if (given.empty() || given.size() > protocol::kMaxPathBytes || text::has_control_characters(given))
    return fail(format("a path is a string of 1 to {} bytes without control characters", protocol::kMaxPathBytes));
  fs::path path{given};
  if (path.is_absolute()) path = path.lexically_normal().lexically_relative(fs::path{root}.lexically_normal());
  auto normal = path.lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  if (normal.empty() || normal == ".." || normal.starts_with("../"))
    return fail(format("{} is outside the project {}; name files and directories inside it", given, root));
  return normal;
}

ReservationTable ReservationTable::parse(std::string_view text, WallMs now) {
  ReservationTable table;
  const auto object = parse_json_object(text);
  const auto* entries = object ? array_member(*object, "reservations") : nullptr;
  if (entries == nullptr) return table;
  for (const auto& value : *entries) {
    const auto* entry = value.if_object();
    if (entry == nullptr || table.all_.size() >= kMaxReservations) continue;
    Reservation one{string_member(*entry, "path").value_or(""), string_member(*entry, "holder").value_or(""),
                    string_member(*entry, "note").value_or(""), integer_member(*entry, "until").value_or(0)};
    if (!one.path.empty() && !one.holder.empty() && one.until > now) table.all_.push_back(std::move(one));
  }
  return table;
}

std::string ReservationTable::text() const {
  json::array entries;
  for (const auto& one : all_) entries.emplace_back(to_json(one));
  json::object object;
  object["reservations"] = std::move(entries);
  return json::serialize(object) + "\n";
}

Result<ReservationTable::Outcome> ReservationTable::reserve(const std::string& holder,
                                                            const std::vector<std::string>& paths,
                                                            const std::string& note, WallMs until) {
  Outcome outcome;
  for (const auto& path : paths) {
    const auto before = outcome.conflicts.size();
    for (const auto& other : all_)
      if (other.holder != holder && overlap(other.path, path) &&
          std::ranges::find(outcome.conflicts, other) == outcome.conflicts.end())
        outcome.conflicts.push_back(other);
    const bool taken =
        outcome.conflicts.size() > before ||
        std::ranges::any_of(outcome.conflicts, [&](const auto& other) { return overlap(other.path, path); });
    if (taken) continue;
    Reservation mine{path, holder, std::string{text::truncate_utf8(note, kMaxNoteBytes)}, until};
    const auto existing =
        std::ranges::find_if(all_, [&](const auto& one) { return one.holder == holder && one.path == path; });
    if (existing != all_.end()) {
      *existing = mine;
    } else if (all_.size() >= kMaxReservations) {
      return fail(format("{} reservations are held already; release some, or wait until they end", kMaxReservations));
    } else {
      all_.push_back(mine);
    }
    outcome.granted.push_back(std::move(mine));
  }
  return outcome;
}

std::vector<Reservation> ReservationTable::release(const std::string& holder, const std::vector<std::string>& paths) {
  std::vector<Reservation> released;
  std::erase_if(all_, [&](const Reservation& one) {
    if (one.holder != holder || (!paths.empty() && std::ranges::find(paths, one.path) == paths.end())) return false;
    released.push_back(one);
    return true;
  });
  return released;
}

Result<std::unique_ptr<DirectoryLock>> lock_reservations(Directory& directory) {
  return directory.lock(format("{}.lock", kFile));
}

Result<ReservationTable> load_reservations(Directory& directory, WallMs now) {
  const auto text = RELAY_TRY(directory.read(std::string{kFile}, kMaxFileBytes));
  return ReservationTable::parse(text.value_or("{}"), now);
}

Result<void> save_reservations(Directory& directory, const ReservationTable& table) {
  const std::string name{kFile}, fresh = name + ".new";
  {
    const auto file = RELAY_TRY(directory.create(fresh));
    RELAY_TRY(file->append(table.text()));
    RELAY_TRY(file->sync());
  }
  return directory.replace(name, fresh);
}

}  // namespace relay::mcp
