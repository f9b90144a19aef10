relay_fuzzer(terminal SOURCES terminal_fuzz.cc LINKS relay::terminal)
relay_fuzzer(terminal_input SOURCES terminal_input_fuzz.cc LINKS relay::terminal)
