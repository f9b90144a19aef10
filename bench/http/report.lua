-- For wrk: one line per run, "requests/s p50 p99 failed", microseconds; RELAY_BODY makes it a POST.
local body = os.getenv("RELAY_BODY")
if body and body ~= "" then
  wrk.method = "POST"
  wrk.body = body
  wrk.headers["Content-Type"] = "application/json"
end

function done(summary, latency)
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("%.0f %.0f %.0f %d\n", summary.requests / (summary.duration / 1e6), latency:percentile(50),
    latency:percentile(99), failed))
end
