/// Gemini CLI: hooks and its chat file; it has no door for words while it is idle, so those are typed.
#include "adapters/agents.h"
#include "adapters/hooked_adapter.h"

namespace relay::adapters {
namespace {

class Gemini final : public HookedAdapter {
 public:
  Gemini() : HookedAdapter{hooks::Agent::Gemini, transcripts::gemini_reader} {}

  [[nodiscard]] Capabilities capabilities() const override {
    auto can = HookedAdapter::capabilities();
    can.answer = {};  // its hooks hear of a permission and cannot give one
    return can;
  }

 private:
  /// It takes no instructions on its command line.
  [[nodiscard]] std::string greeting() const override { return where().instructions; }
};

}  // namespace

std::unique_ptr<Adapter> gemini() { return std::make_unique<Gemini>(); }

}  // namespace relay::adapters
