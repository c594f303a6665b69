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
  or for one key alone a lease, see include/steps.lua, or
    'release', cost, stamp   give back what is left of a lease of that stamp, as far as it still counts
  Returns TIME, then for each key four: 1 allowed or done | 0 denied | -1 fault, remaining or the fault, retryAfter us,
  resetAfter us. Returns TIME alone if it is too late.
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none. ]]
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local steps = 5

--#include clock.lua

local function write(counter, count, start, left)
  if count == 0 then return redis.call('DEL', counter) end
  redis.call('SET', counter, string.format('%.0f %.0f', count, start), 'PX', lifetime(left))
end

local function decide(counter, op, cost, leased)
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

  if op == 'refund' or op == 'release' then
    -- A window that began after the lease never counted it.
    if count > 0 and (op == 'refund' or start <= leased) then write(counter, math.max(0, count - cost), start, left) end
    return 1, 0, 0, 0
  end

  if cost == 0 or cost <= limit - count then
    count = count + cost
    if op == 'acquire' and cost > 0 then write(counter, count, start, left) end
    return 1, exact(math.max(0, limit - count)), 0, count > 0 and left or 0, start, left
  end
  if op == 'acquire' and redis.call('PTTL', counter) == -1 then redis.call('PEXPIRE', counter, lifetime(left)) end
  return 0, exact(math.max(0, limit - count)), cost <= limit and left or 0, count > 0 and left or 0
end

--#include steps.lua
