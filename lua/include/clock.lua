-- The server's clock, ARGV[1] and ARGV[2], and how times leave a script.
local notAfter, given = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
if clock > notAfter then return { clock } end
local now = given or clock

-- Milliseconds for a TTL, as text: Lua itself would write 1e+15.
local function lifetime(us) return given and 3600000 or string.format('%.0f', math.max(1, math.ceil(us / 1000))) end

-- ioredis 6 reads integers above 2^53 - 48 one off.
local function exact(number) return number < 4503599627370496 and number or string.format('%.0f', number) end
