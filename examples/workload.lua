-- workload.lua - what a small Lua service does all day: parse records, index them, change them, write them back.
--
-- usage: lua workload.lua [ROUNDS]   (default 400, about a second). Prints a checksum: the same with every compiler.
-- All in plain Lua 5.4: JSON encoder and decoder, a word index with string patterns, sorting, string building, coroutines.

local rounds = tonumber(arg and arg[1]) or 400

local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }
local function encode_string(s)
	return '"' .. s:gsub('["\\\n\t]', escapes) .. '"'
end

function json.encode(value)
	local kind = type(value)
	if kind == "table" then
		local parts = {}
		if #value > 0 then
			for i, item in ipairs(value) do
				parts[i] = json.encode(item)
			end
			return "[" .. table.concat(parts, ",") .. "]"
		end
		local keys = {}
		for key in pairs(value) do
			keys[#keys + 1] = key
		end
		table.sort(keys)
		for i, key in ipairs(keys) do
			parts[i] = encode_string(key) .. ":" .. json.encode(value[key])
		end
		return "{" .. table.concat(parts, ",") .. "}"
	elseif kind == "string" then
		return encode_string(value)
	end
	return tostring(value)
end

local decode_value

local function skip(text, at)
	return text:find("%S", at)
end

local function decode_string(text, at)
	local parts = {}
	at = at + 1
	while true do
		local stop = text:find('["\\]', at)
		parts[#parts + 1] = text:sub(at, stop - 1)
		if text:sub(stop, stop) == '"' then
			return table.concat(parts), stop + 1
		end
		local c = text:sub(stop + 1, stop + 1)
		parts[#parts + 1] = c == "n" and "\n" or c == "t" and "\t" or c
		at = stop + 2
	end
end

local function decode_list(text, at)
	local list = {}
	at = skip(text, at + 1)
	while text:sub(at, at) ~= "]" do
		list[#list + 1], at = decode_value(text, at)
		at = skip(text, at)
		if text:sub(at, at) == "," then
			at = skip(text, at + 1)
		end
	end
	return list, at + 1
end

local function decode_object(text, at)
	local object, key = {}, nil
	at = skip(text, at + 1)
	while text:sub(at, at) ~= "}" do
		key, at = decode_string(text, at)
		at = skip(text, skip(text, at) + 1)
		object[key], at = decode_value(text, at)
		at = skip(text, at)
		if text:sub(at, at) == "," then
			at = skip(text, at + 1)
		end
	end
	return object, at + 1
end

function decode_value(text, at)
	local c = text:sub(at, at)
	if c == "{" then
		return decode_object(text, at)
	elseif c == "[" then
		return decode_list(text, at)
	elseif c == '"' then
		return decode_string(text, at)
	end
	local word = text:match("^[%w%.%+%-]+", at)
	local value = tonumber(word)
	if value == nil then
		value = word == "true"
	end
	return value, at + #word
end

function json.decode(text)
	return (decode_value(text, skip(text, 1)))
end

-- A random number generator of our own, so that every Lua gives the same records.
local seed = 42
local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return (seed // 65536) % n + 1
end

local words = {}
for word in ([[call context stack frame push edge node path tree root leaf branch profile trace event thread signal
	handler library symbol section object record prefix epoch number function caller callee site address]]):gmatch("%a+") do
	words[#words + 1] = word
end

local function sentence(count)
	local s = ""
	for i = 1, count do
		s = s .. (i > 1 and " " or "") .. words[random(#words)]
	end
	return s
end

local function make_records(count)
	local records = {}
	for i = 1, count do
		records[i] = {
			id = i,
			title = sentence(4),
			text = sentence(20) .. ".\n\"" .. sentence(3) .. '"',
			tags = { words[random(#words)], words[random(#words)] },
			score = random(1000) / 8,
			open = random(2) == 1,
		}
	end
	return records
end

local function index_words(records)
	local index = {}
	for _, record in ipairs(records) do
		for word in record.text:gmatch("%a+") do
			local entry = index[word]
			if not entry then
				entry = { word = word, count = 0, ids = {} }
				index[word] = entry
			end
			entry.count = entry.count + 1
			entry.ids[record.id] = true
		end
	end
	local list = {}
	for _, entry in pairs(index) do
		list[#list + 1] = entry
	end
	table.sort(list, function(a, b)
		if a.count ~= b.count then
			return a.count > b.count
		end
		return a.word < b.word
	end)
	return list
end

local function open_records(records)
	return coroutine.wrap(function()
		for _, record in ipairs(records) do
			if record.open then
				coroutine.yield(record)
			end
		end
	end)
end

local function report(records)
	local lines = {}
	for record in open_records(records) do
		lines[#lines + 1] = ("%5d  %-40s %8.3f  %s"):format(record.id, record.title, record.score,
			table.concat(record.tags, "+"):upper())
	end
	return table.concat(lines, "\n")
end

local function checksum(text)
	local sum = 0
	for i = 1, #text, 7 do
		sum = (sum * 31 + text:byte(i)) % 4294967291
	end
	return sum
end

local sum = 0
for round = 1, rounds do
	local records = make_records(60)
	local text = json.encode(records)
	local again = json.decode(text)
	assert(json.encode(again) == text, "what was written is not what was read")
	local index = index_words(again)
	sum = (sum + checksum(text) + checksum(report(again)) + index[1].count * round) % 4294967291
	local ok, message = pcall(function()
		local missing = index[#index + 1]
		return missing.word
	end)
	assert(not ok and message:find("index"), "an error was expected")
end
print(("%d rounds, checksum %d"):format(rounds, sum))
