relay_fuzzer(api_request SOURCES api_request_fuzz.cc LINKS relay::api)
