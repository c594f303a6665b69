--[[ Token buckets: full at first, refilled evenly, rate tokens per `token` microseconds. One atomic step for all keys of
a call.
  KEYS[i] bucket    string "level stamp": what is missing from a full bucket, in units of 1/token, at that microsecond
  ARGV[1] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[2] now       microseconds in place of TIME, given by tests and replays: keys then live for an hour; else empty
  ARGV[3] capacity  tokens, whole, >= 1
  ARGV[4] rate      tokens, whole, >= 1, that flow in `token` microseconds
  ARGV[5] token     units a token, whole, >= 1; capacity * token < 2^53
  then for each key, two of ARGV:
    op    acquire: take cost tokens or none | peek: only say | refund: give cost back | reset: as new
    cost  tokens, whole, >= 0; 0 only looks
  or for one key alone a lease, see include/steps.lua, or
    'release', cost, stamp   give back what is left of a lease of that stamp, as far as it has not flowed in again
  Returns TIME, then for each key four: 1 allowed or done | 0 denied | -1 fault, remaining or the fault, retryAfter us,
  resetAfter us. Returns TIME alone if it is too late.
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none.
  Every product stays below 2^53, where doubles are exact, and so is the floor or ceiling of every quotient. ]]
local capacity, rate, token = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local full = capacity * token
local steps = 6

--#include clock.lua

local function write(bucket, level, at)
  if level == 0 then return redis.call('DEL', bucket) end
  local state = string.format('%.0f %.0f', level, at)
  redis.call('SET', bucket, state, 'PX', lifetime(math.ceil(level / rate) + at - now))
end

local function decide(bucket, op, cost, leased)
  if op == 'reset' then
    redis.call('DEL', bucket)
    return 1, 0, 0, 0
  end

  local state = redis.pcall('GET', bucket)
  if type(state) == 'table' then return -1, state.err, 0, 0 end
  local level, stamp = string.match(state or '', '^(%d+) (%d+)$')
  level, stamp = tonumber(level) or 0, tonumber(stamp) or now
  -- A clock that was set back counts as standing still.
  local at = math.max(now, stamp)
  local elapsed = at - stamp
  if elapsed >= math.ceil(level / rate) then level = 0 else level = level - elapsed * rate end

  if op == 'refund' or op == 'release' then
    local back = cost * token
    -- What has flowed in since may have found a full bucket without the lease: giving that back too would make it flow in
    -- twice. When it can have been full at the earliest nobody knows, since others give back too.
    if op == 'release' then
      local since = math.max(0, at - leased)
      if since >= math.ceil(back / rate) then back = 0 else back = back - since * rate end
    end
    if level > 0 and back > 0 then write(bucket, math.max(0, level - back), at) end
    return 1, 0, 0, 0
  end

  -- By subtraction, so that no sum passes 2^53.
  local allowed = cost == 0 or cost <= capacity and cost * token <= full - level
  local retryAfter = 0
  if allowed then
    level = level + cost * token
    if op == 'acquire' and cost > 0 then write(bucket, level, at) end
  elseif cost <= capacity then
    retryAfter = math.ceil((level - (full - cost * token)) / rate) + at - now
  end
  local fill = level > 0 and math.ceil(level / rate) + at - now or 0
  if not allowed and op == 'acquire' and redis.call('PTTL', bucket) == -1 then
    redis.call('PEXPIRE', bucket, lifetime(fill))
  end
  return allowed and 1 or 0, exact(math.max(0, math.floor((full - level) / token))), exact(retryAfter), exact(fill), at, 0
end

--#include steps.lua
