#include "subjects/subject.h"

namespace relay::bench {

std::string_view title_of(Promise promise) {
  switch (promise) {
    case Promise::None: return "-";
    case Promise::Memory: return "memory";
    case Promise::Process: return "process";
    case Promise::Power: return "power";
  }
  return "";
}

}  // namespace relay::bench
