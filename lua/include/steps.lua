-- What ARGV[steps] and those after it ask for. decide(key, op, cost, stamp) answers with allowed, remaining, retryAfter,
-- resetAfter, the stamp that `release` takes for them, and the microseconds for which they may be spent: until the end of
-- the window that counts them, 0 where no window ends.

--[[ A client sends a script again that it has lost the answer to. For permits by the hundred once is enough: what has
been done is kept for as long as it could come again.
  KEYS[3] request   string: the answer, of this request alone ]]
local function once(run, fits)
  local answer = redis.call('GET', KEYS[3])
  if not answer then
    local words = run(KEYS[1], fits)
    -- Lua itself would write 1.8e+15.
    for i, word in ipairs(words) do words[i] = type(word) == 'number' and string.format('%.0f', word) or word end
    answer = table.concat(words, ' ')
    redis.call('SET', KEYS[3], answer, 'PX', string.format('%.0f', math.ceil((notAfter - clock) / 1000) + 1))
  end
  local reply = { clock }
  for word in string.gmatch(answer, '%S+') do reply[#reply + 1] = word end
  return reply
end

--[[ A lease: as many permits at once as the callers need that are waiting, and some for those to come, for one node.
  KEYS[2] nodes     sorted set of the nodes that lease this key, by the microsecond until which they count
  after 'lease'
    least  permits without which none are of use
    need   permits that callers wait for, >= least
    most   permits to take where more than that are left, as far as they are a node's fair share: half of what is left,
           divided by the nodes
    node   who asks
    ms     how long the node counts
  Returns TIME, permits taken or -1 and the fault, remaining, retryAfter for `least` more, resetAfter, nodes, the stamp to
  give the permits back with, and the microseconds for which they may be spent or 0. ]]
local function lease(key, fits)
  local nodes = KEYS[2]
  local least, need, most = tonumber(ARGV[steps + 1]), tonumber(ARGV[steps + 2]), tonumber(ARGV[steps + 3])
  local node, ms = ARGV[steps + 4], ARGV[steps + 5]

  -- First what a full Redis refuses: after any other write it would let it pass.
  redis.call('ZADD', nodes, string.format('%.0f', now + ms * 1000), node)
  redis.call('ZREMRANGEBYSCORE', nodes, '-inf', string.format('%.0f', now))
  redis.call('PEXPIRE', nodes, ms)
  local count = redis.call('ZCARD', nodes)
  -- So many that a share is next to nothing: those beyond are not kept.
  if count > 1000 then redis.call('ZREM', nodes, node) end

  local granted, _ = 0, nil
  if fits >= least then granted = math.min(fits, math.max(need, math.min(most, math.floor(fits / (2 * count))))) end
  local remaining, retryAfter, resetAfter, stamp, life
  _, remaining, _, resetAfter, stamp, life = decide(key, granted > 0 and 'acquire' or 'peek', granted)
  _, _, retryAfter = decide(key, 'peek', least)
  return { granted, remaining, retryAfter, resetAfter, count, stamp, life }
end

local function release(key)
  decide(key, 'release', tonumber(ARGV[steps + 1]), tonumber(ARGV[steps + 2]))
  return { 1, 0, 0, 0, 0, 0, 0 }
end

if ARGV[steps] == 'lease' or ARGV[steps] == 'release' then
  local allowed, fits = decide(KEYS[1], 'peek', 0)
  if allowed == -1 then return { clock, -1, fits, 0, 0, 0, 0, 0 } end
  return once(ARGV[steps] == 'lease' and lease or release, tonumber(fits))
end

local reply = { clock }
for i, key in ipairs(KEYS) do
  local n = 4 * i
  local op = steps + 2 * (i - 1)
  reply[n - 2], reply[n - 1], reply[n], reply[n + 1] = decide(key, ARGV[op], tonumber(ARGV[op + 1]))
end
return reply
