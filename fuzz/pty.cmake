relay_fuzzer(process_stat SOURCES process_stat_fuzzer.cc LINKS relay::pty)
