#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/format.h"

namespace relay::log {
namespace {

constexpr std::size_t kMaxLogBytes = 16 << 20;  // of one file; then it is rotated
constexpr std::size_t kOldLogFiles = 2;

/// A log may be opened again while other threads write (a reload does), so the shared state is guarded.
struct Shared {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger;           // guarded by mutex
  std::atomic<int> min_level = spdlog::level::off;  // read without the mutex, on hot paths
};

Shared& shared() {
  static Shared instance;
  return instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warn: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

void use(std::shared_ptr<spdlog::sinks::sink> sink, Level min_level) {
  auto created = std::make_shared<spdlog::logger>("agent-relay", std::move(sink));
  created->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  created->set_level(to_spdlog(min_level));
  created->flush_on(spdlog::level::debug);
  const std::lock_guard lock{shared().mutex};
  shared().logger = std::move(created);
  shared().min_level = to_spdlog(min_level);
}

/// A value that could be mistaken for several fields, or that would break the line, is quoted.
std::string quoted_if_needed(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \"=\n\r\t") == std::string::npos) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      text += format("\\x{:02x}", static_cast<unsigned>(c));
    else
      text += c;
  }
  text += '"';
  return text;
}

}  // namespace

Result<void> open_file(const std::string& path, Level min_level) {
  try {
    use(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kMaxLogBytes, kOldLogFiles), min_level);
  } catch (const spdlog::spdlog_ex& error) { return fail(format("cannot write the log {}: {}", path, error.what())); }
  return {};
}

void open_stderr(Level min_level) { use(std::make_shared<spdlog::sinks::stderr_sink_mt>(), min_level); }

void close() {
  const std::lock_guard lock{shared().mutex};
  shared().min_level = spdlog::level::off;
  shared().logger.reset();
}

bool enabled(Level level) { return to_spdlog(level) >= shared().min_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  std::string line{message};
  for (const Field& field : fields) line += format(" {}={}", field.key, quoted_if_needed(field.value));
  const std::lock_guard lock{shared().mutex};
  if (shared().logger) shared().logger->log(to_spdlog(level), line);
}

}  // namespace relay::log
