/// What we are about to type, on disk before the first byte: after a crash nobody types it again by itself.
///
/// A host that died between writing a message and hearing of its fate leaves a real doubt. Its successor finds the note
/// here and reports the delivery as in doubt instead of typing it a second time.
/// Not synced: it must outlive us, and a power cut ends the agent as well.
#pragma once

#include <string>

#include "base/directory.h"
#include "base/result.h"

namespace relay::host {

class Intent {
 public:
  /// `name` is the file's; the directory outlives this.
  Intent(Directory& directory, std::string name) : directory_{directory}, name_{std::move(name)} {}

  /// The delivery a predecessor was typing when it died; empty when none.
  Result<std::string> left_behind();

  Result<void> note(const std::string& delivery);
  Result<void> clear();

 private:
  Result<void> write(const std::string& text);

  Directory& directory_;
  std::string name_;
};

}  // namespace relay::host
