/// The daemon's log: one line per event, for the user who runs the daemon.
///
/// A line is a lower-case phrase plus `key=value` fields. Errors are logged once, where they are handled. Message
/// bodies and tokens never appear. spdlog writes the lines and is named in the .cc only. Threading: any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::log {

enum class Level { Debug, Info, Warn, Error };

struct Field {
  std::string_view key;
  std::string value;
};

/// Until `open_*` is called nothing is written (interactive commands do not log).
Result<void> open_file(const std::string& path, Level min_level);
void open_stderr(Level min_level);
void close();

[[nodiscard]] bool enabled(Level level);
void write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Debug)) write(Level::Debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::Info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::Warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::Error, message, fields);
}

}  // namespace relay::log
