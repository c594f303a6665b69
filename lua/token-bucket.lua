--[[ One token bucket: full at first, refilled evenly, rate tokens per `token` microseconds. One atomic step.
  KEYS[1] bucket    string "level stamp": what is missing from a full bucket, in units of 1/token, at that microsecond
  ARGV[1] op        acquire: take cost tokens or none | peek: only say | refund: give cost back | reset: as new
  ARGV[2] notAfter  this server's microsecond from which on nothing may happen any more: nobody waits for the answer
  ARGV[3] cost      tokens, whole, >= 0; 0 only looks
  ARGV[4] capacity  tokens, whole, >= 1
  ARGV[5] rate      tokens, whole, >= 1, that flow in `token` microseconds
  ARGV[6] token     units a token, whole, >= 1; capacity * token < 2^53
  ARGV[7] now       microseconds in place of TIME; only tests give it, and keys then live for an hour
  Returns { 1 allowed or done | 0 denied, TIME, remaining, retryAfter us, resetAfter us }, or { -1, TIME } if too late
  Writes nothing on a denial, except that a lost TTL is set again. A value of another shape counts as none.
  Every product stays below 2^53, where doubles are exact, and so does the floor or ceiling of every quotient. ]]
local bucket, op, notAfter, cost = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local capacity, rate, token = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if now > notAfter then return { -1, now } end
local clock, given = now, tonumber(ARGV[7])
now = given or now

if op == 'reset' then
  redis.call('DEL', bucket)
  return { 1, clock }
end

local state = redis.call('GET', bucket)
local level, stamp = string.match(state or '', '^(%d+) (%d+)$')
level, stamp = tonumber(level) or 0, tonumber(stamp) or 0

-- A clock that was set back counts as standing still.
local at = math.max(now, stamp)
local full = capacity * token
local elapsed = at - stamp
if elapsed >= math.ceil(level / rate) then level = 0 else level = level - elapsed * rate end

local function whole(number) return string.format('%.0f', number) end

-- ioredis 6 reads integers above 2^53 - 48 one off.
local function exact(number) return number < 4503599627370496 and number or whole(number) end

local function fillTime() return level > 0 and math.ceil(level / rate) + at - now or 0 end

local function milliseconds() return given and 3600000 or whole(math.max(1, math.ceil(fillTime() / 1000))) end

local function write()
  if level == 0 then return redis.call('DEL', bucket) end
  redis.call('SET', bucket, whole(level) .. ' ' .. whole(at), 'PX', milliseconds())
end

if op == 'refund' then
  if level > 0 then
    level = math.max(0, level - cost * token)
    write()
  end
  return { 1, clock }
end

-- By subtraction: the sum level + cost * token could pass 2^53.
local allowed = cost == 0 or cost <= capacity and cost * token <= full - level
local retryAfter = 0
if allowed then
  level = level + cost * token
  if op == 'acquire' and cost > 0 then write() end
else
  if cost <= capacity then retryAfter = math.ceil((level - (full - cost * token)) / rate) + at - now end
  if op == 'acquire' and redis.call('PTTL', bucket) == -1 then redis.call('PEXPIRE', bucket, milliseconds()) end
end

return {
  allowed and 1 or 0,
  clock,
  exact(math.max(0, math.floor((full - level) / token))),
  exact(retryAfter),
  exact(fillTime()),
}
