#!/usr/bin/env python3
"""Checks an exported audit log, or an evidence bundle, without Holdfast and without any package.

    python3 tools/verify_audit.py LOG --head HEAD [--public-keys FOLDER] [--json]
    python3 tools/verify_audit.py --evidence BUNDLE [--public-keys FOLDER] [--json]

Written from docs/audit.md and sharing no code with `holdfast audit verify`, so that a mistake in one of them shows.
Python 3.8 or later. Exit code 0: whole. 1: not whole. 2: could not be checked.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys

# ---- Ed25519 verification, RFC 8032 section 5.1.7 (the point arithmetic of its section 6) --------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def _add(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    i, j, k, m = f - e, h - g, h + g, f + e
    return (i * j % P, k * m % P, j * k % P, i * m % P)


def _multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _equal(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def _recover_x(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if square == 0:
        return None if sign else 0
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * SQRT_M1 % P
    if (x * x - square) % P != 0:
        return None
    return P - x if (x & 1) != sign else x


def _decompress(text):
    y = int.from_bytes(text, "little")
    x = _recover_x(y & ((1 << 255) - 1), y >> 255)
    if x is None:
        return None
    y &= (1 << 255) - 1
    return (x, y, 1, x * y % P)


_BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (_recover_x(_BASE_Y, 0), _BASE_Y, 1, _recover_x(_BASE_Y, 0) * _BASE_Y % P)


def ed25519_verifies(public_key, message, signature):
    if len(public_key) != 32 or len(signature) != 64:
        return False
    a, r = _decompress(public_key), _decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    h = int.from_bytes(digest, "little") % L
    return _equal(_multiply(s, BASE), _add(r, _multiply(h, a)))


# ---- Keys -----------------------------------------------------------------------------------------------------------------------

SPKI_START = bytes.fromhex("302a300506032b6570032100")


class CannotCheck(Exception):
    """Said to people; exit code 2."""


def read_keys(folder):
    """The 32 bytes of every Ed25519 key of a folder, by key id."""
    keys = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".pem"))
    except OSError as error:
        raise CannotCheck(f"{folder}: {error.strerror}")
    for name in names:
        with open(os.path.join(folder, name), encoding="ascii") as file:
            body = "".join(line.strip() for line in file if "-----" not in line)
        spki = base64.b64decode(body)
        if spki.startswith(SPKI_START) and len(spki) == 44:
            keys[hashlib.sha256(spki).hexdigest()[:16]] = spki[len(SPKI_START):]
    return keys


def find_keys(named):
    """None, with a warning, where there are none: keys that came with the data would prove nothing."""
    if named is not None:
        return read_keys(named)
    project = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    home = os.environ.get("HOLDFAST_HOME")
    homes = [home] if home else [".holdfast", os.path.join(project, ".holdfast")]
    folders = [os.environ.get("AUDIT_PUBLIC_KEYS")]
    folders += [os.path.join(one, "keys", "audit.public") for one in homes]
    for folder in folders:
        if folder and os.path.isdir(folder):
            return read_keys(folder)
    print("signatures are not checked: name the folder of the public keys with --public-keys", file=sys.stderr)
    return None


def canonical(value):
    """RFC 8785 for what heads and checkpoints hold: ASCII texts and whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_signed(keys, what, statement):
    if keys is None:
        return True
    unsigned = {name: value for name, value in statement.items() if name != "signature"}
    message = f"holdfast-audit-{what}-v1\n{canonical(unsigned)}".encode("utf-8")
    text = statement.get("signature")
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]{86}", text):
        return False
    key = keys.get(statement.get("kid"))
    return key is not None and ed25519_verifies(key, message, base64.urlsafe_b64decode(text + "=="))


# ---- The chain ------------------------------------------------------------------------------------------------------------------

TAIL_START, TAIL_END = b',"hash":"', b'"}'
TAIL_LENGTH = len(TAIL_START) + 64 + len(TAIL_END)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def chain_start(account):
    return sha256(b"holdfast-audit-v1\n" + account.encode("utf-8"))


def batch_hash(hashes):
    return sha256("".join(hashes).encode("ascii"))


def split_line(line):
    """The hashed bytes and the hash of a line; None where it is no entry."""
    tail = line[-TAIL_LENGTH:]
    if len(line) <= TAIL_LENGTH or not tail.startswith(TAIL_START) or not tail.endswith(TAIL_END):
        return None
    return line[:-TAIL_LENGTH] + b"}", tail[len(TAIL_START) : -len(TAIL_END)].decode("latin-1")


def lines_of(path):
    with open(path, "rb") as file:
        for line in file:
            line = line[:-1] if line.endswith(b"\n") else line
            if line:
                yield line


def read_heads(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for texts in ([text], [line for line in text.split("\n") if line]):
        try:
            heads = [json.loads(one) for one in texts]
            break
        except ValueError:
            heads = []
    heads = [head for head in heads if is_head(head)]
    if not heads:
        raise CannotCheck(f"{path}: holds no signed head")
    if len({head["account_id"] for head in heads}) > 1:
        raise CannotCheck(f"{path}: holds heads of several accounts")
    return sorted(heads, key=lambda head: head["sequence"])


def is_head(value):
    if not isinstance(value, dict):
        return False
    texts = ("account_id", "hash", "batch", "kid", "signature")
    return all(type(value.get(name)) is int for name in ("sequence", "first")) and all(
        isinstance(value.get(name), str) for name in texts
    )


class Log:
    """Walks through a log; `next` is the sequence that the next line must have."""

    def __init__(self, heads, keys):
        self.heads, self.keys = heads, keys
        self.account = heads[0]["account_id"]
        self.previous = chain_start(self.account)
        self.first = self.next = 1
        self.beginnings = {head["first"] for head in heads}
        self.endings = {}
        for head in heads:
            self.endings.setdefault(head["sequence"], []).append(head)
        self.batch = None
        self.forged = False

    def verify(self, path):
        for head in self.heads:
            if not is_signed(self.keys, "head", head):
                self.forged = True
                return self.report(None, f"the signature of head {head['sequence']} is not valid")
        for line in lines_of(path):
            begins = self.next == 1 and self.first == 1 and b'"through_sequence":' in line
            problem = self.checkpoint(line) if begins else self.entry(line)
            if problem:
                return self.report(self.next, problem)
        last = self.heads[-1]["sequence"]
        if self.next <= last:
            return self.report(self.next, f"the log ends before entry {last}, which the head names")
        return self.report(None, None)

    def checkpoint(self, line):
        try:
            statement = json.loads(line)
        except ValueError:
            statement = None
        is_one = isinstance(statement, dict) and type(statement.get("through_sequence")) is int
        if not is_one or statement.get("account_id") != self.account:
            return "the first line is no checkpoint of this account"
        if not is_signed(self.keys, "checkpoint", statement):
            self.forged = True
            return "the signature of the checkpoint is not valid"
        self.previous = statement["hash"]
        self.first = self.next = statement["through_sequence"] + 1
        return None

    def entry(self, line):
        parts = split_line(line)
        if parts is None:
            return "this is no entry"
        content, told = parts
        computed = sha256(content)
        if told != computed:
            return "its content or its hash was changed"
        if not content.startswith(f'{{"account_id":"{self.account}","after":"{self.previous}"'.encode("utf-8")):
            return "it does not follow from the entry before"
        if f',"sequence":{self.next},"t'.encode("ascii") not in content[-129:]:
            return "it has the number of another place"
        if not self.is_as_signed(computed):
            return "it is not what was signed"
        self.previous = computed
        self.next += 1
        return None

    def is_as_signed(self, hash):
        """Compares with every head that is of this entry, its batch included."""
        if self.next in self.beginnings:
            self.batch = (self.next, [])
        if self.batch is not None:
            self.batch[1].append(hash)
        heads = self.endings.get(self.next)
        if heads is None:
            return True
        first, hashes = self.batch or (0, [])
        self.batch = None
        return all(
            head["hash"] == hash
            # Of a batch that retention has cut nothing is left to compare.
            and (head["first"] < self.first or (head["first"] == first and batch_hash(hashes) == head["batch"]))
            for head in heads
        )

    def report(self, first_bad, reason):
        return {
            "ok": reason is None,
            "first_bad": first_bad,
            "reason": reason,
            "entries": self.next - self.first,
            "unsigned": max(0, self.next - 1 - self.heads[-1]["sequence"]),
            "signatures": "unchecked" if self.keys is None else "invalid" if self.forged else "valid",
        }


# ---- Evidence -------------------------------------------------------------------------------------------------------------------


def is_of_head(bundle, proof):
    head, hashes = proof["head"], proof["hashes"]
    counts = len(hashes) == head["sequence"] - head["first"] + 1 and hashes[-1:] == [head["hash"]]
    return head["account_id"] == bundle["operation"]["account_id"] and counts and batch_hash(hashes) == head["batch"]


def sequence_in(line):
    try:
        return json.loads(line)["sequence"]
    except (ValueError, KeyError, TypeError):
        return None


def is_proven(bundle, line):
    parts = split_line(line.encode("utf-8"))
    if parts is None:
        return False
    try:
        entry = json.loads(parts[0])
    except ValueError:
        return False
    if entry.get("operation_id") != bundle["operation"]["operation_id"]:
        return False
    for proof in bundle["proofs"]:
        if proof["head"]["first"] <= entry["sequence"] <= proof["head"]["sequence"]:
            place = entry["sequence"] - proof["head"]["first"]
            return place < len(proof["hashes"]) and proof["hashes"][place] == sha256(parts[0])
    return False


def verify_evidence(path, keys):
    with open(path, encoding="utf-8") as file:
        try:
            bundle = json.load(file)
        except ValueError:
            bundle = None
    if not isinstance(bundle, dict) or not all(isinstance(bundle.get(name), list) for name in ("entries", "proofs")):
        raise CannotCheck(f"{path}: is no evidence bundle")
    heads = [proof["head"] for proof in bundle["proofs"]]
    forged = next((head for head in heads if not is_signed(keys, "head", head)), None)
    broken = next((proof for proof in bundle["proofs"] if not is_of_head(bundle, proof)), None)
    bad = next((line for line in bundle["entries"] if not is_proven(bundle, line)), None)
    reason = None
    if forged is not None:
        reason = f"the signature of head {forged['sequence']} is not valid"
    elif broken is not None:
        reason = f"the hashes are not those of head {broken['head']['sequence']}"
    elif bad is not None:
        reason = "an entry is not proven, or of another operation"
    elif not bundle["consistent"]:
        reason = "row and audit disagree: " + "; ".join(bundle["disagreements"])
    return {
        "ok": reason is None,
        "first_bad": None if bad is None else sequence_in(bad),
        "reason": reason,
        "entries": len(bundle["entries"]),
        "unsealed": bundle["unsealed"],
        "disagreements": bundle["disagreements"],
        "signatures": "unchecked" if keys is None else "valid" if forged is None else "invalid",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", help="an export, one entry a line")
    parser.add_argument("--head", help="the signed head, or several, one a line")
    parser.add_argument("--evidence", help="an evidence bundle")
    parser.add_argument("--public-keys", help="folder of the public keys that you trust, as .pem files")
    parser.add_argument("--json", action="store_true", help='end with a line {"ok", "first_bad", ...}')
    options = parser.parse_args()
    if (options.evidence is None) == (options.log is None) or (options.log is not None) != (options.head is not None):
        parser.error("name a log with --head, or a bundle with --evidence")
    try:
        keys = find_keys(options.public_keys)
        if options.evidence is not None:
            report = verify_evidence(options.evidence, keys)
        else:
            report = Log(read_heads(options.head), keys).verify(options.log)
    except (CannotCheck, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except (AttributeError, KeyError, TypeError):
        print(f"{options.evidence or options.log}: is not what it should be", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report, separators=(",", ":"), ensure_ascii=False))
    else:
        print("whole" if report["ok"] else f"NOT whole: {report['reason']} (entry {report['first_bad']})")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
