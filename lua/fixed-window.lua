--[[ One fixed window, which begins with the first permit taken after the last one ended. One atomic step.
  KEYS[1] counter   string "count start": permits of the window that began at that microsecond
  ARGV[1] op        acquire: take cost permits or none | peek: only say | refund: give cost back | reset: as new
  ARGV[2] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[3] cost      permits, whole, >= 0; 0 only looks
  ARGV[4] limit     permits a window, whole, >= 1
  ARGV[5] window    microseconds
  ARGV[6] now       microseconds in place of TIME; only tests give it, and keys then live for an hour
  Returns { 1 allowed or done | 0 denied, TIME, remaining, retryAfter us, resetAfter us }, or { -1, TIME } if too late
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none. ]]
local counter, op, notAfter, cost = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local limit, window = tonumber(ARGV[4]), tonumber(ARGV[5])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if now > notAfter then return { -1, now } end
local clock, given = now, tonumber(ARGV[6])
now = given or now

if op == 'reset' then
  redis.call('DEL', counter)
  return { 1, clock }
end

local state = redis.call('GET', counter)
local count, start = string.match(state or '', '^(%d+) (%d+)$')
count, start = tonumber(count) or 0, tonumber(start) or 0

-- A clock that was set back finds a window that has not begun yet: it counts, and ends when it ends.
if count == 0 or now - start >= window then count, start = 0, now end
local left = start + window - now

local function whole(number) return string.format('%.0f', number) end

-- ioredis 6 reads integers above 2^53 - 48 one off.
local function exact(number) return number < 4503599627370496 and number or whole(number) end

local function milliseconds() return given and 3600000 or whole(math.max(1, math.ceil(left / 1000))) end

local function write()
  if count == 0 then return redis.call('DEL', counter) end
  redis.call('SET', counter, whole(count) .. ' ' .. whole(start), 'PX', milliseconds())
end

if op == 'refund' then
  if count > 0 then
    count = math.max(0, count - cost)
    write()
  end
  return { 1, clock }
end

local allowed = cost == 0 or cost <= limit - count
local retryAfter = 0
if allowed then
  count = count + cost
  if op == 'acquire' and cost > 0 then write() end
else
  if cost <= limit then retryAfter = left end
  if op == 'acquire' and redis.call('PTTL', counter) == -1 then redis.call('PEXPIRE', counter, milliseconds()) end
end

return { allowed and 1 or 0, clock, exact(math.max(0, limit - count)), retryAfter, count > 0 and left or 0 }
