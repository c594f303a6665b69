--[[ Sliding windows, exact: at most limit permits in any span of the window's length. One atomic step for all keys of a
call.
  KEYS[i] log       sorted set, one member a call: score = its microsecond, member = "total cost", both over 16 digits
  ARGV[1] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[2] now       microseconds in place of TIME, given by tests and replays: keys then live for an hour; else empty
  ARGV[3] limit     permits a window, whole, >= 1
  ARGV[4] window    microseconds
  then for each key, two of ARGV:
    op    acquire: take cost permits or none | peek: only say | refund: give cost back, the newest first | reset: as new
    cost  permits, whole, >= 0; 0 only looks
  or for one key alone a lease, see include/steps.lua, or
    'release', cost, stamp   give back what is left of a lease of that stamp
  Returns TIME, then for each key four: 1 allowed or done | 0 denied | -1 fault, remaining or the fault, retryAfter us,
  resetAfter us. Returns TIME alone if it is too late.
  Writes nothing on a denial, except that a lost TTL is set again.

A member's total is the sum of all costs up to and with its own. So totals grow with rank, no two members are the same,
and the permits of any stretch of the log are one subtraction: the window's sum costs no walk over the window, and the
member that has to leave before cost permits are free is found by bisection. Every step is O(log n), for a cost of a
thousand as for one. Members that have left the window go at most TRIM at a time, so that no call pays for all. ]]
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local steps = 5
local TRIM = 100

--#include clock.lua

local function parse(member)
  local total, own = string.match(member, '^(%d+) (%d+)$')
  return tonumber(total), tonumber(own)
end

local function add(log, score, total, own)
  redis.call('ZADD', log, string.format('%.0f', score), string.format('%016.0f %016.0f', total, own))
end

-- Rank, member and score of the first member from `oldest` on whose total is at least `sum`; there is one, and no later
-- than `most` members after the oldest.
local function reaching(log, oldest, sum, most)
  local low = redis.call('ZRANK', log, oldest)
  local high = math.min(low + most, redis.call('ZCARD', log) - 1)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if parse(redis.call('ZRANGE', log, middle, middle)[1]) >= sum then high = middle else low = middle + 1 end
  end
  local found = redis.call('ZRANGE', log, low, low, 'WITHSCORES')
  return low, found[1], tonumber(found[2])
end

local function refund(log, oldest, total, used, back, latest)
  if back == used then return redis.call('UNLINK', log) end
  local kept = total - back
  local rank, member, score = reaching(log, oldest, kept + 1, used)
  local sum, own = parse(member)
  -- What stays comes first: a full Redis refuses it, and then nothing must be gone.
  if sum - own < kept then
    add(log, score, kept, kept - (sum - own))
    rank = rank + 1
  end
  redis.call('ZREMRANGEBYRANK', log, rank, -1)
  redis.call('PEXPIRE', log, lifetime(latest + window - now))
end

-- The oldest permits up to the stamp, in place of the lease's own: what stays is younger than what should, and so counts
-- for longer. From the front of the log a member can go without any total changing.
local function release(log, oldest, before, cost, stamp)
  local last = redis.call('ZREVRANGEBYSCORE', log, string.format('%.0f', stamp), '-inf', 'LIMIT', 0, 1)[1]
  local upTo = last and parse(last) or 0
  local gone = before + math.min(cost, upTo - before)
  if gone <= before then return end
  local first = redis.call('ZRANK', log, oldest)
  local rank, member, score = reaching(log, oldest, gone, cost)
  local total = parse(member)
  if total > gone then
    add(log, score, total, total - gone)
    redis.call('ZREM', log, member)
    rank = rank - 1
  end
  if rank >= first then redis.call('ZREMRANGEBYRANK', log, first, rank) end
end

local function take(log, oldest, total, used, cost, at)
  if not oldest then
    redis.call('UNLINK', log)
    total = 0
  else
    local gone = redis.call('ZRANK', log, oldest)
    if gone > 0 then redis.call('ZREMRANGEBYRANK', log, 0, math.min(gone, TRIM) - 1) end
  end
  -- Totals last for ten years of a log that is never empty. Then all of the window becomes one member, of now.
  if total + cost < 9007199254740992 then
    add(log, at, total + cost, cost)
  else
    redis.call('UNLINK', log)
    add(log, at, used + cost, used + cost)
  end
  redis.call('PEXPIRE', log, lifetime(at + window - now))
end

local function decide(log, op, cost, leased)
  if op == 'reset' then
    redis.call('UNLINK', log)
    return 1, 0, 0, 0
  end

  local newest = redis.pcall('ZRANGE', log, -1, -1, 'WITHSCORES')
  if newest.err then return -1, newest.err, 0, 0 end
  local latest = tonumber(newest[2]) or now
  -- A clock that was set back counts as standing still.
  local at = math.max(now, latest)
  -- The sum up to the newest member, and before the oldest one that is still in the window.
  local total, before, oldest, own, score = 0, 0, nil, 0, 0
  if newest[1] and latest > at - window then
    local since = string.format('(%.0f', at - window)
    oldest, score = unpack(redis.call('ZRANGEBYSCORE', log, since, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    local first
    first, own = parse(oldest)
    total = parse(newest[1])
    if not first or not total then return -1, 'the sorted set holds members that are not ours', 0, 0 end
    before = first - own
  end
  local used = total - before

  if op == 'refund' then
    if used > 0 and cost > 0 then refund(log, oldest, total, used, math.min(cost, used), latest) end
    return 1, 0, 0, 0
  end
  if op == 'release' then
    if used > 0 and cost > 0 then release(log, oldest, before, cost, leased) end
    return 1, 0, 0, 0
  end

  if cost == 0 or cost <= limit - used then
    if cost > 0 then
      if op == 'acquire' then take(log, oldest, total, used, cost, at) end
      used, latest = used + cost, at
    end
    return 1, exact(math.max(0, limit - used)), 0, used > 0 and latest + window - now or 0, at, 0
  end

  local retryAfter = 0
  if cost <= limit then
    -- Each member frees a permit at least, so the one that frees enough is no further on than the permits wanting.
    local wanting = used - (limit - cost)
    local _
    if wanting > own then _, _, score = reaching(log, oldest, before + wanting, wanting - 1) end
    retryAfter = tonumber(score) + window - now
  end
  local resetAfter = used > 0 and latest + window - now or 0
  if op == 'acquire' and redis.call('PTTL', log) == -1 then redis.call('PEXPIRE', log, lifetime(resetAfter)) end
  return 0, exact(math.max(0, limit - used)), retryAfter, resetAfter
end

--#include steps.lua
