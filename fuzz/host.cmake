relay_fuzzer(host_protocol SOURCES host_protocol_fuzz.cc LINKS relay::host)
