--[[ One sliding window counter over two windows, multiples of the window's length on this server's clock: of the
previous window's permits the share counts that the trailing window still covers. One atomic step.
  KEYS[1] counter   string "index previous current": permits of window number index and of the one before
  ARGV[1] op        acquire: take cost permits or none | peek: only say | refund: give cost back, the current window's
                    first | reset: as new
  ARGV[2] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[3] cost      permits, whole, >= 0; 0 only looks
  ARGV[4] limit     permits a window, whole, 1 to 2^28
  ARGV[5] window    microseconds, at most 365 days
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

-- Quotient and remainder of count * time / divisor. Where the product passes 2^53, by long division in base 128:
-- time and divisor are below 2^45, so that no step leaves the whole numbers of a double.
local function divide(count, time, divisor)
  local product = count * time
  if product < 9007199254740992 then
    local quotient = math.floor(product / divisor)
    return quotient, product - quotient * divisor
  end
  local scale = 1
  while scale * 128 <= count do scale = scale * 128 end
  local quotient, rest = 0, 0
  while scale >= 1 do
    local digit = math.floor(count / scale)
    count = count - digit * scale
    local part = rest * 128 + digit * time
    local whole = math.floor(part / divisor)
    quotient, rest = quotient * 128 + whole, part - whole * divisor
    scale = scale / 128
  end
  return quotient, rest
end

local state = redis.call('GET', counter)
local index, previous, current = string.match(state or '', '^(%d+) (%d+) (%d+)$')
index, previous, current = tonumber(index) or 0, tonumber(previous) or 0, tonumber(current) or 0

-- A clock that was set back counts as standing at the start of the newest window.
local at = math.max(now, index * window)
local present = math.floor(at / window)
if present == index + 1 then
  previous, current = current, 0
elseif present > index then
  previous, current = 0, 0
end
local left = (present + 1) * window - at

local function whole(number) return string.format('%.0f', number) end

local function resetAfter()
  if current > 0 then return left + window + at - now end
  return previous > 0 and left + at - now or 0
end

local function milliseconds() return given and 3600000 or whole(math.max(1, math.ceil(resetAfter() / 1000))) end

local function write()
  if previous == 0 and current == 0 then return redis.call('DEL', counter) end
  local text = whole(present) .. ' ' .. whole(previous) .. ' ' .. whole(current)
  redis.call('SET', counter, text, 'PX', milliseconds())
end

if op == 'refund' then
  if previous > 0 or current > 0 then
    local fromCurrent = math.min(cost, current)
    current = current - fromCurrent
    previous = math.max(0, previous - (cost - fromCurrent))
    write()
  end
  return { 1, clock }
end

local weighted, rest = divide(previous, left, window)
if rest > 0 then weighted = weighted + 1 end

local allowed = cost == 0 or cost <= limit and current + weighted + cost <= limit
local retryAfter = 0
if allowed then
  current = current + cost
  if op == 'acquire' and cost > 0 then write() end
else
  if cost <= limit - current then
    -- previous > 0, else this call would have passed.
    retryAfter = left - divide(limit - current - cost, window, previous) + at - now
  elseif cost <= limit then
    -- current > 0, since cost <= limit; in the next window it weighs on as the previous count.
    retryAfter = left + math.max(0, window - divide(limit - cost, window, current)) + at - now
  end
  if op == 'acquire' and redis.call('PTTL', counter) == -1 then redis.call('PEXPIRE', counter, milliseconds()) end
end

return { allowed and 1 or 0, clock, math.max(0, limit - current - weighted), retryAfter, resetAfter() }
