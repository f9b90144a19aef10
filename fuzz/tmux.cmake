relay_fuzzer(tmux_control SOURCES tmux_control_fuzz.cc LINKS relay::tmux)
