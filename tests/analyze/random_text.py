"""random_text.py - text of a random grammar, and what random programs are written with."""
import random
import re


class Grammar:
    """Names and the templates of each, one of which is chosen: $name stands for another one, #4 for a number less than 4."""

    def __init__(self, rules):
        self.filled = {}
        self.rules = {name: [self.parse(template) for template in templates] for name, templates in rules.items()}

    @staticmethod
    def parse(template):
        """Texts, names as tuples, and numbers."""
        parts = re.split(r"\$(\w+)|#(\d)", template)
        parsed = []
        for at in range(0, len(parts), 3):
            parsed.append(parts[at])
            if at + 1 < len(parts):
                parsed.append(int(parts[at + 2]) if parts[at + 2] else (parts[at + 1],))
        return [part for part in parsed if part != ""]

    def expand(self, parts, r):
        made = []
        for part in parts:
            if isinstance(part, str):
                made.append(part)
            elif isinstance(part, int):
                made.append(str(int(r.random() * part)))
            else:
                made.append(self.make(part[0], r))
        return "".join(made)

    def make(self, name, r):
        rules = self.rules[name]
        return self.expand(rules[int(r.random() * len(rules))], r)

    def fill(self, template, r):
        """A template that is none of the grammar's."""
        if template not in self.filled:
            self.filled[template] = self.parse(template)
        return self.expand(self.filled[template], r)


class Writer:
    """Writes a program, a statement a line. statement(function, left) is of the class that is made of it."""

    def __init__(self, seed, grammar):
        self.r = random.Random(seed)
        self.grammar = grammar
        self.lines = []
        self.depth = 1

    def emit(self, text):
        self.lines.append("\t" * self.depth + text)

    def text(self, template):
        return self.grammar.fill(template, self.r)

    def say(self, template):
        self.emit(self.text(template))

    def block(self, function, left):
        self.emit("{")
        self.depth += 1
        for _ in range(self.r.randint(1, 3)):
            self.statement(function, left - 1)
        self.depth -= 1
        self.emit("}")
