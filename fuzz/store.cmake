relay_fuzzer(store_recovery SOURCES store_recovery_fuzz.cc LINKS relay::store_testing)
relay_fuzzer(journal SOURCES journal_fuzz.cc LINKS relay::store_testing)
