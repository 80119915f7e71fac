-- A Lua program that uses every part of the interpreter, errors above all: its output must not depend on the compiler.
-- Debian's source has no test suite; this and `lua -v` stand in for it.
local function show(...) print(...) end

-- errors through pcall, xpcall with handlers and tracebacks, errors in metamethods, to-be-closed variables
local function fail(n) if n == 0 then error({code = 42}) else fail(n - 1) end end
show(select(2, pcall(fail, 10)).code)
show(xpcall(function() local x = nil; return x.y end, function(m) return "handled: " .. m end))
show(pcall(string.rep, "x", -1), pcall(string.rep))
local mt = setmetatable({}, {__index = function(_, k) error("no " .. k, 0) end, __add = function(a, b) return 7 end})
show(pcall(function() return mt.field end))
show(mt + 1)
do
	local log = {}
	local function closer(name) return setmetatable({}, {__close = function(_, e) log[#log + 1] = name .. tostring(e) end}) end
	pcall(function()
		local a <close> = closer("a")
		local b <close> = closer("b")
		error("boom", 0)
	end)
	show(table.concat(log, ","))
end
show(pcall(error), pcall(error, nil))
show(select("#", pcall(error, setmetatable({}, {__tostring = function() return "obj" end}))))

-- coroutines: generators, errors across resume, wrap, close, yield across pcall and metamethods
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sum = 0
for i in gen(100) do sum = sum + i end
show(sum)
local co = coroutine.create(function(a)
	local ok, e = pcall(function() coroutine.yield(a + 1); error("inside") end)
	coroutine.yield(ok, e)
	return "end"
end)
show(coroutine.resume(co, 1)); show(coroutine.resume(co)); show(coroutine.resume(co)); show(coroutine.resume(co))
show(coroutine.close(coroutine.create(fail)))

-- sorting with Lua comparison functions, gsub with functions, string.format, patterns, utf8
local t = {}
for i = 1, 200 do t[i] = (i * 7919) % 211 end
table.sort(t, function(a, b) return a > b end)
show(t[1], t[100], t[200])
show(pcall(table.sort, t, function(a, b) error("cmp", 0) end))
show((("hello world"):gsub("%w+", function(w) return w:upper() .. #w end)))
show(string.format("%5.2f|%-8s|%x|%q|%g", 3.14159, "abc", 255, "q\n", 1e100))
show(utf8.char(228, 8364, 128512), utf8.len("äö€"))
for k, v in string.gmatch("a=1, b=2", "(%w+)=(%w+)") do io.write(k, v, " ") end
print()

-- load, dump, require of what is not there, deep recursion, string to number, integer division
show(load("return 1 +")); show(load("return ...")(5)); show(#string.dump(fail) > 0)
show(pcall(require, "waymark.absent") == false)
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
show(deep(15000))
show(select(2, pcall(function() local function f() return 1 + f() end return f() end)):match("stack overflow") ~= nil)
show(("x"):rep(10), 7 // 2, -7 // 2, 7 % -3, 2 ^ 10, "10" + 5, 1 << 62, math.tointeger(3.0))
show(pcall(function() return 1 // 0 end))

-- garbage: finalisers, weak tables, ephemerons, generational and incremental collection
local count = 0
for i = 1, 2000 do setmetatable({}, {__gc = function() count = count + 1 end}) end
collectgarbage(); collectgarbage()
show(count)
local weak = setmetatable({}, {__mode = "k"})
for i = 1, 100 do weak[{}] = i end
collectgarbage()
show(next(weak))
collectgarbage("generational")
local keep = {}
for i = 1, 20000 do keep[i % 100] = {tostring(i), {i}} end
collectgarbage("incremental")
for i = 1, 20000 do keep[i % 100] = {tostring(i) .. "x", function() return i end} end
show(keep[7][1], keep[8][2]())

-- files, os, string buffers
local name = os.tmpname()
local f = assert(io.open(name, "w"))
for i = 1, 100 do f:write(i, "\n") end
f:close()
local total = 0
for line in io.lines(name) do total = total + tonumber(line) end
os.remove(name)
show(total, io.open("/nonexistent/file"))
show(#table.concat(keep[1] and {("y"):rep(1000), ("z"):rep(500)} or {}))
debug.sethook(function() end, "l", 10)
for i = 1, 100 do local _ = i * 2 end
debug.sethook()
show(debug.traceback("trace"):match("trace\nstack traceback") ~= nil)
