"""Commands for a redis server: python3 work-redis.py SOCKET ROUNDS. Waits until it is there, and ends it."""

import socket
import sys
import time

SCRIPT = """
local sum = 0
local function add(n) if n == 0 then return 0 end return n + add(n - 1) end
for i = 1, 20 do sum = sum + add(i); redis.call('RPUSH', KEYS[1], sum, cjson.encode({value = {i, sum}})) end
return redis.call('LRANGE', KEYS[1], 0, 5)
"""


def commands(rounds):
    for i in range(rounds):
        n = str(i)
        yield "SET", "string" + n, "x" * (i * 7 % 500)
        yield "APPEND", "string" + n, "y" * 100
        yield "INCR", "count"
        yield "EXPIRE", "string" + n, "1000"
        yield "SETBIT", "bits", str(i * 31), "1"
        yield ("RPUSH", "list" + str(i % 10)) + tuple(n * k for k in range(1, 20))
        yield "LINSERT", "list" + str(i % 10), "BEFORE", n, "z"
        yield "LRANGE", "list" + str(i % 10), "0", "-1"
        yield "HSET", "hash", "field" + n, "v" * (i % 100)
        yield "HGETALL", "hash"
        yield "SADD", "numbers" + str(i % 5), n, str(i * 3)
        yield "SADD", "words" + str(i % 5), "w" + n, "w" + str(i * 3)
        yield "SUNIONSTORE", "union", "words0", "words1", "numbers2"
        yield "ZADD", "sorted", n, "m" + n, str(i * 7 % 13), "k" + n
        yield "ZRANGEBYSCORE", "sorted", "3", "9", "WITHSCORES"
        yield "XADD", "stream", f"{i + 1}-1", "field", n
        yield "PFADD", "unique", n, str(i * 5)
        yield "GEOADD", "places", str(i % 90), str(i % 80), "p" + n
        yield "GEOSEARCH", "places", "FROMLONLAT", "10", "10", "BYRADIUS", "500", "km", "ASC"
        yield "SCAN", "0", "MATCH", "s*"
        yield "SORT", "numbers" + str(i % 5), "DESC"
        yield "SETRANGE", "string" + n, "10", "abc"
        yield "EVAL", SCRIPT, "1", "script" + str(i % 3)
        yield ("MULTI",)
        yield "INCRBY", "count", "5"
        yield "GET", "count"
        yield ("EXEC",)
        yield "DUMP", "hash"
        yield "OBJECT", "ENCODING", "hash"
        yield "INFO", "all"
        yield "NO-SUCH-COMMAND", n
        if i % 50 == 49:
            yield ("SAVE",)
            yield ("BGREWRITEAOF",)
    yield "DEBUG", "RELOAD"
    yield "XRANGE", "stream", "-", "+"
    yield "BITCOUNT", "bits"
    yield "CONFIG", "GET", "*"
    yield ("FLUSHALL",)


def connect(path):
    for _ in range(600):
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
            return client
        except OSError:
            client.close()
            time.sleep(0.1)
    sys.exit(path + ": no server")


def send(client, words):
    text = [f"*{len(words)}\r\n"] + [f"${len(word)}\r\n{word}\r\n" for word in words]
    client.sendall("".join(text).encode())


def skip_answer(answers):
    line = answers.readline()
    if line[:1] == b"*":
        for _ in range(int(line[1:])):
            skip_answer(answers)
    elif line[:1] == b"$" and int(line[1:]) >= 0:
        answers.read(int(line[1:]) + 2)
    elif not line:
        sys.exit("the server has gone")


server = connect(sys.argv[1])
replies = server.makefile("rb")
for command in commands(int(sys.argv[2])):
    send(server, command)
    skip_answer(replies)
send(server, ("SHUTDOWN", "NOSAVE", "FORCE"))
replies.read()
