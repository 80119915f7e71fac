// Runs in mujs and duk: ECMAScript 5 with print().
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function queens(n) {
	var count = 0, columns = {}, up = {}, down = {}
	function place(row) {
		if (row === n) { count++; return }
		for (var c = 0; c < n; c++) {
			if (columns[c] || up[row + c] || down[row - c]) continue
			columns[c] = up[row + c] = down[row - c] = true
			place(row + 1)
			columns[c] = up[row + c] = down[row - c] = false
		}
	}
	place(0)
	return count
}
function Shape(n) { this.n = n }
Shape.prototype.area = function () { return this.n * this.n }
function risky(n) { if (n % 7 === 0) throw new Error("seven " + n); return n }
var total = 0, i, list = [], words = {}, text = ""
for (i = 0; i < 6000; i++) list.push((i * 7919) % 10007)
list.sort(function (a, b) { return a - b })
for (i = 0; i < 200000; i++) {
	try { total += risky(i) } catch (e) { total += e.message.length }
	total += new Shape(i % 10).area()
}
for (i = 0; i < 3000; i++) text += "word" + (i * 31 % 101) + " "
text.replace(/\w+/g, function (w) { words[w] = (words[w] || 0) + 1; return w })
print(fib(27), queens(8), total, list[17], list.map(function (n) { return n % 3 }).filter(function (n) { return n }).length)
print(Object.keys(words).sort().slice(0, 5).join(), JSON.stringify(JSON.parse(JSON.stringify(words))).length)
