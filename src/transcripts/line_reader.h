/// What the readers share: a line is an object, gives entries, and says when it was written. Used by the readers only.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "transcripts/dedup_cache.h"
#include "transcripts/reader.h"

namespace relay::transcripts {

class LineReader : public Reader {
 public:
  Entries read(std::string_view line) final;
  [[nodiscard]] WallMs written_at() const final { return written_at_; }

 protected:
  virtual void read_object(const json::object& line) = 0;
  /// Told once for each type.
  void not_understood(const std::string& type, std::string problem);

  Entries entries_;  // of the line that is being read

 private:
  DedupCache<bool> unknown_;
  WallMs written_at_ = 0;
};

}  // namespace relay::transcripts
