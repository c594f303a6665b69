--[[ One sliding window, exact: at most limit permits in any span of the window's length. One atomic step.
  KEYS[1] log       sorted set, one member a call: score = its microsecond, member = "total cost", both over 16 digits
  ARGV[1] op        acquire: take cost permits or none | peek: only say | refund: give cost back, the newest first |
                    reset: as new
  ARGV[2] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[3] cost      permits, whole, >= 0; 0 only looks
  ARGV[4] limit     permits a window, whole, >= 1
  ARGV[5] window    microseconds
  ARGV[6] now       microseconds in place of TIME; only tests give it, and keys then live for an hour
  Returns { 1 allowed or done | 0 denied, TIME, remaining, retryAfter us, resetAfter us }, or { -1, TIME } if too late
  Writes nothing on a denial, except that a lost TTL is set again.

A member's total is the sum of all costs up to and with its own. So totals grow with rank, no two members are the same,
and the permits of any stretch of the log are one subtraction: the window's sum costs no walk over the window, and the
member that has to leave before cost permits are free is found by bisection. Every step is O(log n), for a cost of a
thousand as for one. Members that have left the window go at most TRIM at a time, so that no call pays for all. ]]
local log, op, notAfter, cost = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local limit, window = tonumber(ARGV[4]), tonumber(ARGV[5])
local TRIM = 100

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if now > notAfter then return { -1, now } end
local clock, given = now, tonumber(ARGV[6])
now = given or now

if op == 'reset' then
  redis.call('UNLINK', log)
  return { 1, clock }
end

local function parse(member)
  local total, own = string.match(member, '^(%d+) (%d+)$')
  if not total then error('the sorted set holds members that are not ours') end
  return tonumber(total), tonumber(own)
end

-- The sum up to the newest member, and before the oldest one that is still in the window.
local total, before, oldest = 0, 0, nil
local newest = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')
local latest = tonumber(newest[2]) or now
-- A clock that was set back counts as standing still.
local at = math.max(now, latest)
if newest[1] and latest > at - window then
  total = parse(newest[1])
  oldest = redis.call('ZRANGEBYSCORE', log, '(' .. string.format('%.0f', at - window), '+inf', 'LIMIT', 0, 1)[1]
  local first, own = parse(oldest)
  before = first - own
end
local used = total - before

local function whole(number) return string.format('%.0f', number) end

-- ioredis 6 reads integers above 2^53 - 48 one off.
local function exact(number) return number < 4503599627370496 and number or whole(number) end

local function milliseconds()
  return given and 3600000 or whole(math.max(1, math.ceil((latest + window - now) / 1000)))
end

local function add(score, sum, own)
  redis.call('ZADD', log, whole(score), string.format('%016.0f %016.0f', sum, own))
end

-- Rank, member and score of the first member in the window whose total is at least `sum`; there is one, and no later
-- than `most` members after the oldest.
local function reaching(sum, most)
  local low = redis.call('ZRANK', log, oldest)
  local high = math.min(low + most, redis.call('ZCARD', log) - 1)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if parse(redis.call('ZRANGE', log, middle, middle)[1]) >= sum then high = middle else low = middle + 1 end
  end
  local found = redis.call('ZRANGE', log, low, low, 'WITHSCORES')
  return low, found[1], tonumber(found[2])
end

if op == 'refund' then
  local back = math.min(cost, used)
  if back == used then
    redis.call('UNLINK', log)
  elseif back > 0 then
    local kept = total - back
    local rank, member, score = reaching(kept + 1, used)
    local sum, own = parse(member)
    redis.call('ZREMRANGEBYRANK', log, rank, -1)
    if sum - own < kept then add(score, kept, kept - (sum - own)) end
    redis.call('PEXPIRE', log, milliseconds())
  end
  return { 1, clock }
end

local allowed = cost == 0 or cost <= limit - used
local retryAfter = 0
if allowed and cost > 0 then
  used, latest = used + cost, at
  if op == 'acquire' then
    if not oldest then
      redis.call('UNLINK', log)
      total = 0
    else
      local gone = redis.call('ZRANK', log, oldest)
      if gone > 0 then redis.call('ZREMRANGEBYRANK', log, 0, math.min(gone, TRIM) - 1) end
    end
    -- Totals last for ten years of a log that is never empty. Then all of the window becomes one member, of now.
    if total + cost < 9007199254740992 then
      add(at, total + cost, cost)
    else
      redis.call('UNLINK', log)
      add(at, used, used)
    end
    redis.call('PEXPIRE', log, milliseconds())
  end
elseif not allowed then
  if cost <= limit then
    -- Each member frees a permit at least, so the one that frees enough is no further on than the permits wanting.
    local wanting = used - (limit - cost)
    local _, _, score = reaching(before + wanting, wanting - 1)
    retryAfter = score + window - now
  end
  if op == 'acquire' and redis.call('PTTL', log) == -1 then redis.call('PEXPIRE', log, milliseconds()) end
end

local resetAfter = used > 0 and latest + window - now or 0
return { allowed and 1 or 0, clock, exact(math.max(0, limit - used)), retryAfter, resetAfter }
