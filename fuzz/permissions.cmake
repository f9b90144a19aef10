relay_fuzzer(shell_words SOURCES shell_words_fuzz.cc LINKS relay::permissions)
relay_fuzzer(policy SOURCES policy_fuzz.cc LINKS relay::permissions)
