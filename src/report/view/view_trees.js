/*
 * view_trees.js - trees whose items are made when they are drawn: calls from the root down, callers from the innermost frame up, and both of
 * one function. An item stands for several nodes of the profile that have one function and one way to it.
 *
 * A tree has {root, childrenOf(item)}. An item is {fn, node, nodes, value, self, parent}: node is one of its nodes, for lines and names.
 * Children are kept, so that each is made once for a choice of metric, time and thread.
 */

class Groups {
  constructor() { this.of = new Map(); }
  add(fn, node, weight, self) {
    let group = this.of.get(fn);
    if (!group) this.of.set(fn, group = {fn, node, nodes: [], weights: [], value: 0, self: 0});
    group.nodes.push(node);
    group.weights.push(weight);
    group.value += weight;
    group.self += self;
  }
  items(parent, rank) {
    return [...this.of.values()].map(group => Object.assign(group, {parent, children: null}))
      .sort((a, b) => rank[a.fn] - rank[b.fn]);
  }
}

// Calls: children of an item are the children of its nodes, by function.
class CallTree {
  constructor(profile, self, total, nodes) {
    this.profile = profile;
    this.self = self;
    this.total = total;
    let value = 0;
    for (const node of nodes) value += total[node];
    this.root = {fn: -1, node: nodes[0] || 0, nodes, value, self: 0, parent: null, children: null};
  }
  childrenOf(item) {
    if (item.children) return item.children;
    const {first, children, functionOf, rank} = this.profile, groups = new Groups();
    for (const node of item.nodes)
      for (let i = first[node]; i < first[node + 1]; i++) {
        const child = children[i];
        if (this.total[child]) groups.add(functionOf[child], child, this.total[child], this.self[child]);
      }
    return item.children = groups.items(item, rank);
  }
}

// Callers: each node carries a weight up, its own value or that of a function's outermost calls.
class CallerTree {
  constructor(profile, nodes, weightOf) {
    this.profile = profile;
    const groups = new Groups();
    let value = 0;
    for (const node of nodes) {
      const weight = weightOf[node];
      if (!node || !weight) continue;
      groups.add(profile.functionOf[node], node, weight, 0);
      value += weight;
    }
    this.root = {fn: -1, node: 0, nodes: [], value, self: 0, parent: null, children: null};
    this.root.children = groups.items(this.root, profile.rank);
  }
  childrenOf(item) {
    if (item.children) return item.children;
    const {parent, functionOf, rank} = this.profile, groups = new Groups();
    for (let i = 0; i < item.nodes.length; i++) {
      const caller = parent[item.nodes[i]];
      if (caller) groups.add(functionOf[caller], caller, item.weights[i], 0);
    }
    return item.children = groups.items(item, rank);
  }
}

// The nodes of a function that have no other of its nodes above them: what is below a recursion counts once.
function outermost(profile, fn) {
  const inside = new Uint8Array(profile.parent.length), nodes = [];
  for (let n = 1; n < inside.length; n++) {
    const is = profile.functionOf[n] === fn;
    if (is && !inside[profile.parent[n]]) nodes.push(n);
    inside[n] = is || inside[profile.parent[n]] ? 1 : 0;
  }
  return nodes;
}

// By function, what counts in it and what counts in it or below it, once for each context.
function functionTable(profile, self, total) {
  const count = profile.functions.length, rows = [];
  const selfOf = new Float64Array(count), totalOf = new Float64Array(count), depth = new Uint32Array(count);
  const {first, children, functionOf} = profile, next = first.slice(0, -1), stack = [0];
  while (stack.length) {
    const node = stack[stack.length - 1];
    if (next[node] < first[node + 1]) {
      const child = children[next[node]++], fn = functionOf[child];
      selfOf[fn] += self[child];
      if (!depth[fn]++) totalOf[fn] += total[child];
      stack.push(child);
    } else {
      stack.pop();
      if (node) depth[functionOf[node]]--;
    }
  }
  for (let fn = 0; fn < count; fn++)
    if (selfOf[fn] || totalOf[fn]) rows.push({fn, name: profile.functions[fn].name, note: profile.functions[fn].note, self: selfOf[fn], total: totalOf[fn]});
  return rows;
}

// What is in contexts with a function that is found, each counted once.
function matchedTotal(profile, total, found) {
  const inside = new Uint8Array(profile.parent.length);
  let sum = 0;
  for (let n = 1; n < inside.length; n++) {
    const above = inside[profile.parent[n]], is = found[profile.functionOf[n]];
    if (is && !above) sum += total[n];
    inside[n] = is || above ? 1 : 0;
  }
  return {sum, inside};
}
