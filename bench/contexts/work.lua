-- Lua: calls, tables, strings, closures and sorting. The argument scales it.
local scale = tonumber(arg[1]) or 1
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function queens(n)
	local cols, d1, d2, count = {}, {}, {}, 0
	local function place(row)
		if row > n then count = count + 1 return end
		for c = 1, n do
			if not cols[c] and not d1[row + c] and not d2[row - c] then
				cols[c], d1[row + c], d2[row - c] = true, true, true
				place(row + 1)
				cols[c], d1[row + c], d2[row - c] = nil, nil, nil
			end
		end
	end
	place(1)
	return count
end
local sum = 0
for round = 1, scale do
	sum = sum + fib(20) + queens(6)
	local t = {}
	for i = 1, 3000 do t[i] = (i * 7919 + round) % 10007 end
	table.sort(t, function(a, b) return a < b end)
	local parts = {}
	for i = 1, 2000 do parts[#parts + 1] = string.format("%d:%s", t[i], ("x"):rep(i % 7)) end
	local text = table.concat(parts, ",")
	for k, v in text:gmatch("(%d+):(x*)") do sum = sum + #k + #v end
	local objects = setmetatable({}, {__index = function(_, k) return k * 2 end})
	for i = 1, 5000 do sum = sum + objects[i] end
end
print(sum)
