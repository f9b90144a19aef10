relay_fuzzer(process_stat SOURCES process_stat_fuzz.cc LINKS relay::pty)
