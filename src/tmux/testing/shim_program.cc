/// A shim for tests, as a separate program: only calls run_shim().
#include "tmux/shim.h"

int main(int count, char** words) { return count == 2 ? relay::tmux::run_shim(words[1]) : 2; }
