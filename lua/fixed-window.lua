--[[ Fixed windows, each of which begins with the first permit taken after the last one has ended. One atomic step for
all keys of a call.
  KEYS[i] counter   string "count start": permits of the window that began at that microsecond
  ARGV[1] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[2] now       microseconds in place of TIME, given by tests and replays: keys then live for an hour; else empty
  ARGV[3] limit     permits a window, whole, >= 1
  ARGV[4] window    microseconds
  then for each key, two of ARGV:
    op    acquire: take cost permits or none | peek: only say | refund: give cost back | reset: as new
    cost  permits, whole, >= 0; 0 only looks
  Returns TIME, then for each key four: 1 allowed or done | 0 denied | -1 fault, remaining or the fault, retryAfter us,
  resetAfter us. Returns TIME alone if it is too late.
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none. ]]
local notAfter, given, limit, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
if clock > notAfter then return { clock } end
local now = given or clock

-- Milliseconds for a TTL, as text: Lua itself would write 1e+15.
local function lifetime(us) return given and 3600000 or string.format('%.0f', math.max(1, math.ceil(us / 1000))) end

-- ioredis 6 reads integers above 2^53 - 48 one off.
local function exact(number) return number < 4503599627370496 and number or string.format('%.0f', number) end

local function write(counter, count, start, left)
  if count == 0 then return redis.call('DEL', counter) end
  redis.call('SET', counter, string.format('%.0f %.0f', count, start), 'PX', lifetime(left))
end

local function decide(counter, op, cost)
  if op == 'reset' then
    redis.call('DEL', counter)
    return 1, 0, 0, 0
  end

  local state = redis.pcall('GET', counter)
  if type(state) == 'table' then return -1, state.err, 0, 0 end
  local count, start = string.match(state or '', '^(%d+) (%d+)$')
  count, start = tonumber(count) or 0, tonumber(start) or 0
  -- A clock that was set back finds a window that has not begun yet: it counts, and ends when it ends.
  if count == 0 or now - start >= window then count, start = 0, now end
  local left = start + window - now

  if op == 'refund' then
    if count > 0 then write(counter, math.max(0, count - cost), start, left) end
    return 1, 0, 0, 0
  end

  if cost == 0 or cost <= limit - count then
    count = count + cost
    if op == 'acquire' and cost > 0 then write(counter, count, start, left) end
    return 1, exact(math.max(0, limit - count)), 0, count > 0 and left or 0
  end
  if op == 'acquire' and redis.call('PTTL', counter) == -1 then redis.call('PEXPIRE', counter, lifetime(left)) end
  return 0, exact(math.max(0, limit - count)), cost <= limit and left or 0, count > 0 and left or 0
end

local reply = { clock }
for i, key in ipairs(KEYS) do
  local n = 4 * i
  reply[n - 2], reply[n - 1], reply[n], reply[n + 1] = decide(key, ARGV[2 * i + 3], tonumber(ARGV[2 * i + 4]))
end
return reply
