#include "subjects/subject.h"

namespace relay::bench {

std::string_view title_of(AckGuarantee guarantee) {
  switch (guarantee) {
    case AckGuarantee::None: return "-";
    case AckGuarantee::Memory: return "memory";
    case AckGuarantee::Process: return "process";
    case AckGuarantee::Power: return "power";
  }
  return "";
}

}  // namespace relay::bench
