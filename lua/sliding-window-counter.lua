--[[ Sliding window counters over two windows, multiples of the window's length on this server's clock: of the previous
window's permits the share counts that the trailing window still covers. One atomic step for all keys of a call.
  KEYS[i] counter   string "index previous current": permits of window number index and of the one before
  ARGV[1] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[2] now       microseconds in place of TIME, given by tests and replays: keys then live for an hour; else empty
  ARGV[3] limit     permits a window, whole, 1 to 2^28
  ARGV[4] window    microseconds, at most 365 days
  then for each key, two of ARGV:
    op    acquire: take cost permits or none | peek: only say | refund: give cost back, the current
          window's first | reset: as new
    cost  permits, whole, >= 0; 0 only looks
  or for one key alone a lease, see include/steps.lua, or
    'release', cost, stamp   give back what is left of a lease of that stamp, to the window that counted it
  Returns TIME, then for each key four: 1 allowed or done | 0 denied | -1 fault, remaining or the fault, retryAfter us,
  resetAfter us. Returns TIME alone if it is too late.
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none. ]]
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local steps = 5

--#include clock.lua

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

-- Microseconds from `at` until the key is as new, `left` of them in the present window.
local function renewal(previous, current, left)
  if current > 0 then return left + window end
  return previous > 0 and left or 0
end

local function write(counter, present, previous, current, left)
  if previous == 0 and current == 0 then return redis.call('DEL', counter) end
  local state = string.format('%.0f %.0f %.0f', present, previous, current)
  redis.call('SET', counter, state, 'PX', lifetime(renewal(previous, current, left)))
end

local function decide(counter, op, cost, leased)
  if op == 'reset' then
    redis.call('DEL', counter)
    return 1, 0, 0, 0
  end

  local state = redis.pcall('GET', counter)
  if type(state) == 'table' then return -1, state.err, 0, 0 end
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
  -- What is left of the present window for the estimate, and until its end on the clock.
  local share = (present + 1) * window - at
  local left = share + at - now

  if op == 'refund' or op == 'release' then
    local fromCurrent = math.min(cost, current)
    local fromPrevious = math.min(cost - fromCurrent, previous)
    if op == 'release' then
      local age = present - math.floor(leased / window)
      fromCurrent = age == 0 and fromCurrent or 0
      fromPrevious = age == 1 and math.min(cost, previous) or 0
    end
    if fromCurrent > 0 or fromPrevious > 0 then
      write(counter, present, previous - fromPrevious, current - fromCurrent, left)
    end
    return 1, 0, 0, 0
  end

  local weighted, rest = divide(previous, share, window)
  if rest > 0 then weighted = weighted + 1 end
  if cost == 0 or cost <= limit and current + weighted + cost <= limit then
    current = current + cost
    if op == 'acquire' and cost > 0 then write(counter, present, previous, current, left) end
    return 1, math.max(0, limit - current - weighted), 0, renewal(previous, current, left), at, left
  end

  local retryAfter = 0
  if cost <= limit - current then
    -- previous > 0, else this call would have passed.
    retryAfter = left - divide(limit - current - cost, window, previous)
  elseif cost <= limit then
    -- current > 0, since cost <= limit; in the next window it weighs on as the previous count.
    retryAfter = left + math.max(0, window - divide(limit - cost, window, current))
  end
  local resetAfter = renewal(previous, current, left)
  if op == 'acquire' and redis.call('PTTL', counter) == -1 then redis.call('PEXPIRE', counter, lifetime(resetAfter)) end
  return 0, math.max(0, limit - current - weighted), retryAfter, resetAfter
end

--#include steps.lua
