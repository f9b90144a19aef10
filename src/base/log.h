/// The daemon's log: one line per thing that happened, for the person who runs it.
///
/// A line is a sentence plus `key=value` fields. Errors are logged once, where they stop travelling. Message bodies
/// and tokens never appear. spdlog does the writing and stays in the .cc. Threading: any thread.
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

/// Until `open_*` is called nothing is written anywhere (programs that talk to a person stay quiet).
Result<void> open_file(const std::string& path, Level least);
void open_stderr(Level least);
void close();

[[nodiscard]] bool enabled(Level level);
void write(Level level, std::string_view sentence, std::initializer_list<Field> fields);

inline void debug(std::string_view sentence, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::Debug)) write(Level::Debug, sentence, fields);
}
inline void info(std::string_view sentence, std::initializer_list<Field> fields = {}) {
  write(Level::Info, sentence, fields);
}
inline void warn(std::string_view sentence, std::initializer_list<Field> fields = {}) {
  write(Level::Warn, sentence, fields);
}
inline void error(std::string_view sentence, std::initializer_list<Field> fields = {}) {
  write(Level::Error, sentence, fields);
}

}  // namespace relay::log
