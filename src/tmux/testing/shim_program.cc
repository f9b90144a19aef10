/// A keeper for tests, as a program of its own: keep() and nothing else.
#include "tmux/shim.h"

int main(int count, char** words) { return count == 2 ? relay::tmux::run_shim(words[1]) : 2; }
