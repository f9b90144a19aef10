#include "store/sqlite/salvage.h"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

#include "base/format.h"
#include "base/log.h"
#include "store/message_store.h"
#include "store/sqlite/checked_pages.h"
#include "store/sqlite/files.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {
namespace {

constexpr int kMaxDepth = 12;      // halvings of a range that cannot be read
constexpr int kMaxProbes = 4'000;  // of one table
constexpr std::int64_t kNoKey = std::numeric_limits<std::int64_t>::max();

struct SalvagedTable {
  std::string_view name, key;
  bool is_numbered = false;  // by an integer key, so rows behind a damaged page can be searched for
};
constexpr SalvagedTable kSalvagedTables[] = {
    {"names", "id", true},
    {"messages", "key", true},
    {"deliveries", "key", true},
    {"delivery_history", "delivery,n"},
    {"events", "seq", true},
    {"usage", "session,request"},
    {"session_stats", "session", true},
    {"session_files", "session,path"},
    {"streams", "sender,recipient,topic,lane"},
    {"stream_marks", "sender,recipient,lane"},
    {"agents", "name"},
    {"message_counts", "name", true},
    {"sessions", "id"},
    {"subscriptions", "session,topic"},
    {"channel_members", "channel,member"},
    {"outbox_marks", "sender,epoch"},
    {"proposals", "id"},
    {"meta", "name"},
};

/// Copies one table from one connection to another.
class TableCopy {
 public:
  TableCopy(SqliteConnection& from, SqliteConnection& into, const SalvagedTable& table)
      : from_{from}, into_{into}, table_{table} {}

  Result<void> run() {
    RELAY_TRY(prepare());
    if (columns_.empty()) return {};
    if (table_.is_numbered) {
      explore(0, kNoKey, kMaxDepth);
    } else if (!scan("", "ASC")) {
      std::ignore = scan("", "DESC");
    }
    // The index of names is a second copy of them.
    if (table_.name == "names") std::ignore = scan_ordered("", "name");
    return {};
  }

  std::uint64_t rows = 0;
  std::vector<UnreadKeys> missing;

 private:
  Result<void> prepare() {
    auto info = RELAY_TRY(into_.prepare(format("SELECT name FROM pragma_table_info('{}')", table_.name)));
    std::string places;
    while (RELAY_TRY(info.step())) {
      columns_ += (columns_.empty() ? "" : ",") + info.text(0);
      if (info.text(0) == table_.key) key_column_ = count_;
      places += (count_++ == 0 ? "?" : ",?");
    }
    insert_ = format("INSERT OR IGNORE INTO {}({}) VALUES({})", table_.name, columns_, places);
    return {};
  }

  /// Copies rows in one direction; true when it reached the end.
  bool scan(std::string_view where, std::string_view direction) {
    std::string order;
    for (std::string_view columns = table_.key; !columns.empty();) {
      const auto comma = std::min(columns.find(','), columns.size());
      order += (order.empty() ? "" : ",") + format("{} {}", columns.substr(0, comma), direction);
      columns.remove_prefix(std::min(comma + 1, columns.size()));
    }
    return scan_ordered(where, order);
  }

  bool scan_ordered(std::string_view where, std::string_view order) {
    auto rows_in = from_.prepare(format("SELECT {} FROM {} {} ORDER BY {}", columns_, table_.name, where, order));
    auto insert = into_.prepare(insert_);
    if (!rows_in || !insert) return false;
    last_key_.reset();
    for (;;) {
      const auto more = rows_in->step();
      if (!more) return false;
      if (!*more) return true;
      if (key_column_ >= 0) last_key_ = rows_in->integer(key_column_);
      for (int column = 0; column < count_; ++column)
        sqlite3_bind_value(insert->handle(), column + 1, sqlite3_column_value(rows_in->handle(), column));
      if (insert->run()) rows += static_cast<std::uint64_t>(into_.rows_changed());
      insert->reset();
    }
  }

  /// Copies the rows between two keys: from both ends towards the damage, then by bisection of the rest.
  void explore(std::int64_t after, std::int64_t before, int depth) {
    if (before - after < 2) return;
    if (++probes_ > kMaxProbes) return missing.push_back({after, before});
    const auto between = format("WHERE {0}>{1} AND {0}<{2}", table_.key, after, before);
    if (scan(between, "ASC")) return;
    const auto low = last_key_.value_or(after);
    if (low >= before - 1) return;
    if (scan(format("WHERE {0}>{1} AND {0}<{2}", table_.key, low, before), "DESC")) return;
    const auto high = last_key_.value_or(before);
    if (high - low < 2) return;
    // If neither end is readable, few rows are in between.
    const bool nothing = low == after && high == before;
    const int remaining = depth - (nothing ? 4 : 1);
    if (remaining < 0) return missing.push_back({low, high});
    const auto middle = low + (high - low) / 2;
    explore(low, middle + 1, remaining);
    explore(middle, high, remaining);
  }

  SqliteConnection& from_;
  SqliteConnection& into_;
  const SalvagedTable& table_;
  std::string columns_, insert_;
  int count_ = 0, key_column_ = -1, probes_ = 0;
  std::optional<std::int64_t> last_key_;
};

Result<void> add_placeholder_names(SqliteConnection& into) {
  for (const char* column : {"messages.sender", "messages.recipient", "deliveries.sender", "deliveries.recipient",
                             "events.type", "events.agent", "events.session"}) {
    const std::string_view both{column};
    const auto table = both.substr(0, both.find('.')), name = both.substr(both.find('.') + 1);
    RELAY_TRY(into.execute(format("INSERT OR IGNORE INTO names(id,name) SELECT DISTINCT {1}, 'lost-'||{1} FROM {0}"
                                  " WHERE {1}>0 AND {1} NOT IN (SELECT id FROM names)",
                                  table, name)
                               .c_str()));
  }
  return {};
}

Result<SalvageResult> copy_tables(SqliteConnection& from, SqliteConnection& into) {
  SalvageResult salvaged;
  RELAY_TRY(into.execute("BEGIN IMMEDIATE"));
  for (const auto& table : kSalvagedTables) {
    TableCopy copy{from, into, table};
    RELAY_TRY(copy.run());
    salvaged.rows += copy.rows;
    if (table.name == "messages" || table.name == "deliveries")
      std::ranges::copy(copy.missing, std::back_inserter(salvaged.missing));
  }
  RELAY_TRY(add_placeholder_names(into));
  salvaged.without_recipient = static_cast<std::uint64_t>(RELAY_TRY(into.integer(
      "SELECT count(*) FROM deliveries d JOIN names n ON n.id=d.recipient WHERE d.queue_state<3 AND n.name LIKE "
      "'lost-%'")));
  RELAY_TRY(into.execute("DELETE FROM meta WHERE name='indexed_key'; COMMIT"));
  return salvaged;
}

void put_be32(std::string& page, std::size_t at, std::uint64_t value) {
  for (std::size_t byte = 0; byte < 4; ++byte) page[at + byte] = static_cast<char>(value >> (24 - 8 * byte));
}

/// The first page holds the header and the root pages of the tables. If it is damaged, the first page of a new database
/// replaces it: tables made by the same steps have the same root pages.
Result<void> make_readable(const std::string& copy, const std::string& vfs, SqliteConnection& into) {
  RELAY_TRY(into.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto fresh = RELAY_TRY(VfsFile::open(into.path(), vfs, VfsFile::Mode::Read));
  std::string header(100, '\0');
  RELAY_TRY(fresh->read(0, header));
  const auto layout = page_layout(header);
  if (!layout.checked) return {};
  std::string page(layout.page_bytes, '\0'), first_page(layout.page_bytes, '\0');
  RELAY_TRY(fresh->read(0, first_page));
  const auto file = RELAY_TRY(VfsFile::open(copy, vfs, VfsFile::Mode::Write));
  constexpr std::size_t kPages = 28, kFirstFree = 32, kFree = 36;
  const bool is_whole = RELAY_TRY(file->read(0, page)) == page.size() && is_intact_page(page, 1);
  if (is_whole) {
    // SQLite does not open a file that is shorter than its header states, but it accepts pages of zeros.
    const auto size = std::uint64_t{header_number(page, kPages)} * layout.page_bytes;
    return size > file->size() ? file->write(size - 1, std::string_view{"\0", 1}) : Result<void>{};
  }
  if (file->size() < page.size()) return {};
  put_be32(first_page, kPages, file->size() / layout.page_bytes);
  put_be32(first_page, kFirstFree, 0);
  put_be32(first_page, kFree, 0);
  seal_page(first_page, 1);
  return file->write(0, first_page);
}

}  // namespace

Result<SalvageResult> salvage(const std::string& damaged, const std::string& vfs, SqliteConnection& into) {
  // Works on a copy, so that the quarantined file stays as it was found.
  const auto copy = into.path() + "-salvage";
  remove_database(copy, vfs);
  for (const char* suffix : {"", "-wal"})
    if (file_bytes(damaged + suffix, vfs) > 0) RELAY_TRY(copy_file(damaged + suffix, copy + suffix, vfs));
  auto salvaged = [&]() -> Result<SalvageResult> {
    RELAY_TRY(make_readable(copy, vfs, into));
    auto from = RELAY_TRY(SqliteConnection::open(copy, vfs, Access::ReadWrite));
    from->keep_log();
    RELAY_TRY(from->execute("PRAGMA locking_mode=EXCLUSIVE"));
    // A file of an older version has other names of tables and columns; the copy gets the current ones if its pages
    // allow it.
    if (check_identity(*from)) std::ignore = migrate(*from);
    return copy_tables(*from, into);
  }();
  if (!salvaged) into.rollback();
  remove_database(copy, vfs);
  return salvaged;
}

Result<std::uint64_t> count_missing(SqliteConnection& connection, const SalvageResult& salvaged,
                                    std::uint64_t expected) {
  RELAY_TRY(
      connection.execute("DELETE FROM deliveries WHERE message NOT IN (SELECT key FROM messages);"
                         "DELETE FROM delivery_history WHERE delivery NOT IN (SELECT key FROM deliveries)"));
  if (salvaged.missing.empty()) return salvaged.without_recipient;
  const auto lowest =
      std::min(RELAY_TRY(connection.integer("SELECT coalesce(min(key),9223372036854775807) FROM messages")),
               RELAY_TRY(connection.integer("SELECT coalesce(min(key),9223372036854775807) FROM deliveries")));
  if (lowest == kNoKey) return expected + salvaged.without_recipient;
  // The newest message may have had a delivery behind it.
  const auto newest = RELAY_TRY(newest_key(connection)).value() + 1;
  auto ranges = salvaged.missing;
  std::ranges::sort(ranges, {}, &UnreadKeys::after);
  std::uint64_t lost = 0;
  std::int64_t counted = 0;  // up to here
  for (auto [after, before] : ranges) {
    after = std::max({after, counted, lowest - 2});
    before = std::min(before, newest + 1);
    if (before - after < 2) continue;
    auto rows =
        RELAY_TRY(connection.prepare("SELECT (SELECT count(*) FROM messages WHERE key>?1 AND key<?2)"
                                     " + (SELECT count(*) FROM deliveries WHERE key>?1 AND key<?2)"));
    rows.bind(after, before);
    const auto present = RELAY_TRY(rows.step()) ? rows.integer(0) : 0;
    lost += static_cast<std::uint64_t>(std::max<std::int64_t>(before - after - 1 - present, 0));
    counted = before - 1;
  }
  // If a table lost its start or its end, keys do not give the number of its rows. Bisection narrows an unreadable
  // range, so one at an end seldom extends to the limit of keys.
  const bool open_ended = std::ranges::any_of(
      ranges, [&](const UnreadKeys& range) { return range.after < lowest - 1 || range.before > newest + 1; });
  if (open_ended) {
    const auto present =
        static_cast<std::uint64_t>(RELAY_TRY(connection.integer("SELECT count(DISTINCT message) FROM deliveries")));
    lost = std::max(lost, expected - std::min(expected, present));
  }
  if (expected > 0) lost = std::min(lost, expected);
  return lost + salvaged.without_recipient;
}

}  // namespace relay::store
