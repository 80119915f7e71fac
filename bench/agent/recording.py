"""Reads what the figures need of a .wmk recording: epochs and the context stacks of samples (docs/format.md is normative)."""
import struct

HEADER, CHUNK, CHUNK_HEADER = 4096, 65536, 64
NODES, EVENTS, EPOCHS, EPOCH_FUNCTIONS = 2, 4, 12, 13
WHOLE = 1
RECORDS = {
    NODES: struct.Struct("<QIIIIII"),  # id parent site run epoch - state
    EVENTS: struct.Struct("<QQQIIIIII"),  # time value id prefix site name epoch tid state
    EPOCHS: struct.Struct("<QIIIIII"),  # start epoch functions edges - - state
    EPOCH_FUNCTIONS: struct.Struct("<QQIIII"),  # contexts restart epoch function flags state
}


def read_records(data):
    """Yields (kind, number, fields) of each whole record of the kinds above."""
    place = HEADER
    while place + CHUNK <= len(data):
        _, kind, used, _, first, span = struct.unpack_from("<IIIIQI", data, place)
        span = max(span, 1)
        layout = RECORDS.get(kind)
        if layout:
            body = place + CHUNK_HEADER
            used = min(used, span * CHUNK - CHUNK_HEADER, len(data) - body)
            for i in range(used // layout.size):
                fields = layout.unpack_from(data, body + i * layout.size)
                if fields[-1] == WHOLE:
                    yield kind, first + i, fields
        place += span * CHUNK


class Recording:
    """epochs: (seconds since the first, edges, largest id), in order; a forked child has its parent's. stack_depths: of each sample."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        if data[:8] != b"\x89WMK\r\n\x1a\n":
            raise ValueError(f"{path}: no .wmk file")
        epochs, largest, nodes, prefixes = {}, {}, {}, []
        for kind, number, fields in read_records(data):
            if kind == EPOCHS:
                epochs[fields[1]] = (fields[0], fields[3])
            elif kind == EPOCH_FUNCTIONS:
                largest[fields[2]] = max(largest.get(fields[2], 0), fields[0] - 1)
            elif kind == NODES:
                nodes[number] = (fields[1], fields[3])
            else:
                prefixes.append(fields[3])
        start = min((at for at, _ in epochs.values()), default=0)
        self.epochs = [((at - start) / 1e9, edges, largest.get(epoch, 0)) for epoch, (at, edges) in sorted(epochs.items())]
        self.nodes = nodes
        self.known = {}
        self.stack_depths = [self.depth(prefix) for prefix in prefixes]

    def depth(self, prefix):
        """Entries of the context stack that the prefix stands for, repetitions counted."""
        chain = []
        while prefix in self.nodes and prefix not in self.known:
            chain.append(prefix)
            prefix = self.nodes[prefix][0]
        total = self.known.get(prefix, 0)
        for prefix in reversed(chain):
            total += self.nodes[prefix][1]
            self.known[prefix] = total
        return total
