#!/usr/bin/env python3
"""Checks an exported audit log, or an evidence bundle, without Holdfast and without any package.

    python3 tools/verify_audit.py LOG --head HEAD [--public-keys FOLDER] [--json]
    python3 tools/verify_audit.py --evidence BUNDLE [--public-keys FOLDER] [--desk-keys FOLDER] [--json]

Written from docs/audit.md and sharing no code with `holdfast audit verify`, so that a mistake in one of them shows.
Python 3.8 or later. Exit code 0: whole, or proven. 1: not whole, or not proven. 2: could not be checked.
"""

import argparse
import base64
import functools
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


# A decision is looked at several times.
@functools.lru_cache(maxsize=None)
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
        try:
            spki = base64.b64decode(body)
        except ValueError:
            raise CannotCheck(f"{folder}: {name} is no public key")
        if spki.startswith(SPKI_START) and len(spki) == 44:
            keys[hashlib.sha256(spki).hexdigest()[:16]] = spki[len(SPKI_START):]
    return keys


def find_keys(named, variable, name):
    """Of the folder that was named, else of the first usual place; None where there is none. Keys that came with the data prove nothing."""
    if named is not None:
        return read_keys(named)
    project = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    home = os.environ.get("HOLDFAST_HOME")
    homes = [home] if home else [".holdfast", os.path.join(project, ".holdfast")]
    folders = [os.environ.get(variable)]
    folders += [os.path.join(one, "keys", name) for one in homes]
    return next((read_keys(folder) for folder in folders if folder and os.path.isdir(folder)), None)


# ---- Signed texts ---------------------------------------------------------------------------------------------------------------


def parse(text):
    """Strict JSON, in which 1.0 is 1 as in RFC 8785. Raises ValueError."""

    def number(text):
        value = float(text)
        return int(value) if value.is_integer() else value

    def refuse(text):
        raise ValueError(f"{text} is not JSON")

    return json.loads(text, parse_float=number, parse_constant=refuse)


def canonical(value):
    """RFC 8785 for what is signed: texts, whole numbers, true, false, null, lists and objects."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(held)}" for name, held in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def signature_bytes(text):
    """None where it is not 64 bytes in their one spelling: base64url, no padding, no bits that mean nothing."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]{86}", text):
        return None
    signature = base64.urlsafe_b64decode(text + "==")
    return signature if base64.urlsafe_b64encode(signature).decode("ascii") == text + "==" else None


def is_signed(keys, domain, statement):
    """True also where there are no keys: then nothing is checked, and the report says so."""
    if keys is None:
        return True
    unsigned = {name: value for name, value in statement.items() if name != "signature"}
    message = f"{domain}\n{canonical(unsigned)}".encode("utf-8")
    signature, key = signature_bytes(statement.get("signature")), keys.get(statement.get("kid"))
    return signature is not None and key is not None and ed25519_verifies(key, message, signature)


HEAD, CHECKPOINT = "holdfast-audit-head-v1", "holdfast-audit-checkpoint-v1"
DECISION = "holdfast-approval-v1"


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
            if not is_signed(self.keys, HEAD, head):
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
        if not is_signed(self.keys, CHECKPOINT, statement):
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


# ---- Evidence: is it a bundle? --------------------------------------------------------------------------------------------------


def is_text(value):
    return isinstance(value, str)


def is_text_or_none(value):
    return value is None or is_text(value)


def is_hash(value):
    return is_text(value) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def is_time(value):
    return is_text(value) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", value) is not None


def is_time_or_none(value):
    return value is None or is_time(value)


def is_count(value):
    return type(value) is int and 0 <= value < 2**53


def is_flag(value):
    return isinstance(value, bool)


def is_anything(_):
    return True


def list_of(check):
    return lambda value: isinstance(value, list) and all(map(check, value))


def object_with(**members):
    return lambda value: isinstance(value, dict) and all(
        name in value and check(value[name]) for name, check in members.items()
    )


OPERATION = dict(
    **dict.fromkeys(("operation_id", "account_id", "idempotency_key", "fingerprint", "status", "agent_id"), is_text),
    **dict.fromkeys(("connection", "provider_token"), is_text),
    **dict.fromkeys(("agent_run", "provider_reference", "response_sha256"), is_text_or_none),
    plan=object_with(),
)
VOTE = dict(principal_id=is_text, owner=is_text, decision=is_text, decided_at=is_time, signed=is_anything)
APPROVAL = dict(
    approval_id=is_text,
    status=is_text,
    fingerprint=is_text,
    quorum=is_count,
    approvers=is_anything,
    own_requests=is_flag,
    policy_version=is_text_or_none,
    preconditions=is_anything,
    expires_at=is_time,
    decided_at=is_time_or_none,
    consumed_at=is_time_or_none,
    votes=list_of(object_with(**VOTE)),
)
SIGNED = dict(account_id=is_text, hash=is_hash, kid=is_text, signature=is_text)
PROOF = dict(
    hashes=list_of(is_hash),
    head=object_with(sequence=is_count, first=is_count, batch=is_hash, **SIGNED),
)
is_checkpoint = object_with(through_sequence=is_count, **SIGNED)
is_bundle = object_with(
    v=lambda value: type(value) is int and value == 1,
    operation=object_with(**OPERATION),
    approvals=list_of(object_with(**APPROVAL)),
    entries=list_of(is_text),
    proofs=list_of(object_with(**PROOF)),
    unsealed=is_count,
    checkpoint=lambda value: value is None or is_checkpoint(value),
    consistent=is_flag,
    disagreements=list_of(is_text),
)


def read_bundle(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    try:
        bundle = parse(text)
        # Lone surrogates have no bytes that could be signed.
        canonical(bundle).encode("utf-8")
    except (ValueError, RecursionError):
        bundle = None
    if not is_bundle(bundle):
        raise CannotCheck(f"{path}: is no evidence bundle")
    return bundle


# ---- Evidence: what the entries say ---------------------------------------------------------------------------------------------

WORDS = ("vote", "approved", "rejected")
SETTLED = ("SUCCEEDED", "FAILED", "REJECTED", "EXPIRED", "CANCELED")


def told(event, name):
    detail = event.get("detail")
    return detail.get(name) if isinstance(detail, dict) else None


def is_own_claim(event):
    """One without a state is the claim of a further key."""
    return event.get("type") == "claimed" and "to" in event


def is_transition(event):
    return event.get("type") == "transition"


def last_of(events, check):
    return next((event for event in reversed(events) if check(event)), None)


def against_entries(row, approvals, events, may_be_cut):
    is_cut = not any(map(is_own_claim, events))
    if is_cut and not may_be_cut:
        return ["the audit has no claim of this operation"]
    return [
        *(one for event in events for one in against_terms(row, event)),
        *against_states(row, events),
        *against_results(row, events),
        *against_approvals(row, approvals, events, is_cut),
    ]


def against_terms(row, event):
    if not is_own_claim(event) and not is_transition(event):
        return
    pairs = (
        ("fingerprint", row["fingerprint"], event.get("fingerprint")),
        ("idempotency key", row["idempotency_key"], event.get("key")),
        ("agent", row["agent_id"], event.get("principal") if is_own_claim(event) else row["agent_id"]),
        ("agent run", row["agent_run"], event.get("agent_run")),
    )
    for name, ours, theirs in pairs:
        if ours != theirs:
            yield f"the {name} of the row is not the one that was claimed"


def against_states(row, events):
    state = None
    for event in events:
        if is_own_claim(event):
            state = event["to"]
        if not is_transition(event):
            continue
        if state is not None and event.get("from") != state:
            yield f"a transition begins in {event.get('from')}, and the one before it ended in {state}"
        state = event.get("to")
    if state is not None and state != row["status"]:
        yield f"the row is {row['status']}, and the last transition ended in {state}"


def sets_bytes(event):
    reduced = event.get("type") == "resolved" and told(event, "step") in ("erased", "expired")
    return is_transition(event) or reduced


def against_results(row, events):
    is_cut = not any(is_own_claim(event) or is_transition(event) for event in events)
    stored = last_of(events, sets_bytes)
    if row["response_sha256"] != (stored or {}).get("response_hash") and not (is_cut and stored is None):
        yield "the stored bytes are not those that the audit has the digest of"
    if not is_cut and row["provider_reference"] != reference_in(events):
        yield "the provider reference is not the one that the audit has"


def reference_in(events):
    """Of the last transition, or of a "pending" answer after it, which an operation that is settled takes no more."""
    reference, is_open = None, True
    for event in events:
        if is_transition(event):
            reference, is_open = event.get("provider_reference"), event.get("to") not in SETTLED
        is_pending = event.get("type") == "provider_answer" and told(event, "outcome") == "pending"
        if is_pending and is_open and event.get("provider_reference") is not None:
            reference = event["provider_reference"]
    return reference


def against_approvals(row, approvals, events, is_cut):
    statuses = statuses_in(events)
    for id in statuses:
        if not any(approval["approval_id"] == id for approval in approvals):
            yield f"approval {id} is in the audit, and missing beside it"
    for approval in approvals:
        if is_cut and approval["approval_id"] not in statuses:
            continue
        yield from against_status(approval, statuses.get(approval["approval_id"]), events)
        yield from against_subject(approval, row, events)
        yield from against_votes(approval, events)
    for event in events:
        begins = is_transition(event) and (event.get("from"), event.get("to")) == ("AWAITING_APPROVAL", "IN_PROGRESS")
        if begins and not any(
            approval["status"] == "approved" and approval["consumed_at"] == event.get("at") for approval in approvals
        ):
            yield "it waited for people and was begun, and no approval was used for that"


def statuses_in(events):
    statuses = {}
    for event in events:
        id, decision = told(event, "approval_id"), told(event, "decision")
        if is_transition(event) and event.get("to") == "CANCELED":
            for open_id, status in statuses.items():
                if status in ("pending", "approved"):
                    statuses[open_id] = "void"
        if not isinstance(id, str):
            continue
        if event.get("type") == "approval_requested":
            statuses[id] = "pending"
        if event.get("type") == "approval_decided" and decision != "vote":
            statuses[id] = decision
    return statuses


def is_about(event, id):
    return event.get("type") == "approval_decided" and told(event, "approval_id") == id


def against_status(approval, said, events):
    id, status = approval["approval_id"], approval["status"]
    if status != said:
        yield f"approval {id} is {status}, and the audit says {said or 'nothing of it'}"
    elif status in ("approved", "rejected"):
        deciding = [event for event in events if is_about(event, id) and told(event, "decision") == status]
        if not any(event.get("at") == approval["decided_at"] for event in deciding):
            yield f"approval {id} was decided at another time"


def against_subject(approval, row, events):
    id, used_at = approval["approval_id"], approval["consumed_at"]
    if approval["fingerprint"] != row["fingerprint"]:
        yield f"approval {id} is of another fingerprint"
    if used_at is not None and not any(
        event.get("type") == "intent" and event.get("at") == used_at for event in events
    ):
        yield f"approval {id} was used when nothing was begun"


def against_votes(approval, events):
    id, votes = approval["approval_id"], approval["votes"]
    words = [event for event in events if is_about(event, id) and told(event, "decision") in WORDS]
    for vote in votes:
        if not any(tells(event, vote, approval) for event in words):
            yield f"the audit has no such decision of {vote['principal_id']} about approval {id}"
    for event in words:
        by, at = event.get("principal"), event.get("at")
        # A no takes the place of an earlier yes of the same owner.
        replaced = approval["status"] == "rejected" and told(event, "decision") == "vote"
        if not replaced and not any(vote["principal_id"] == by and vote["decided_at"] == at for vote in votes):
            yield f"the decision of {by} about approval {id} is missing"


def tells(event, vote, approval):
    signed = vote["signed"] if isinstance(vote["signed"], dict) else {}
    decision = told(event, "decision")
    return (
        event.get("principal") == vote["principal_id"]
        and event.get("at") == vote["decided_at"]
        and (decision == vote["decision"] or (decision == "vote" and vote["decision"] == "approved"))
        and told(event, "kid") == signed.get("kid")
        and told(event, "plan_hash") == signed.get("plan_hash")
        and told(event, "quorum") == approval["quorum"]
    )


# ---- Evidence: what people signed -----------------------------------------------------------------------------------------------

SIGNED_TEXTS = (
    *("kid", "account_id", "approval_id", "operation_id", "idempotency_key", "fingerprint", "plan_hash"),
    *("decided_at", "expires_at", "signature"),
)
SIGNED_MEMBERS = (*SIGNED_TEXTS, "v", "decision", "approver", "policy_version")
FAULTS = {
    "malformed": "is none that the desk signs",
    "forged": "has no valid signature",
    "mismatch": "was signed about something else",
    "changed": "is not the one that was signed",
}


def is_short(value):
    return is_text(value) and len(value.encode("utf-16-le")) // 2 <= 1000


def is_decision(value):
    if not isinstance(value, dict) or any(name not in SIGNED_MEMBERS for name in value):
        return False
    version, approver = value.get("policy_version", False), value.get("approver")
    return (
        type(value.get("v")) is int
        and value["v"] == 1
        and all(is_short(value.get(name)) for name in SIGNED_TEXTS)
        and value.get("decision") in ("approved", "rejected")
        and (version is None or is_short(version))
        and isinstance(approver, dict)
        and len(approver) == 2
        and all(is_short(approver.get(name)) for name in ("principal_id", "owner"))
    )


def plan_hash(row, approval):
    """Over what was agreed to beyond the command."""
    agreed = {name: row[name] for name in ("plan", "connection", "provider_token")}
    agreed.update({name: approval[name] for name in ("quorum", "approvers", "own_requests", "preconditions")})
    return sha256(canonical(agreed).encode("utf-8"))


def fault_of(row, approval, signed, keys):
    if not is_decision(signed):
        return "malformed"
    if not is_signed(keys, DECISION, signed):
        return "forged"
    terms = {name: row[name] for name in ("account_id", "operation_id", "idempotency_key", "fingerprint")}
    terms.update({name: approval[name] for name in ("approval_id", "expires_at", "policy_version")})
    terms["plan_hash"] = plan_hash(row, approval)
    return None if all(signed[name] == term for name, term in terms.items()) else "mismatch"


def vote_fault(row, approval, vote, keys):
    fault = fault_of(row, approval, vote["signed"], keys)
    if fault is not None:
        return fault
    signed = vote["signed"]
    is_same = signed["approver"] == {"principal_id": vote["principal_id"], "owner": vote["owner"]}
    is_same = is_same and all(signed[name] == vote[name] for name in ("decision", "decided_at"))
    return None if is_same else "changed"


def against_decisions(row, approvals, keys):
    for approval in approvals:
        id = approval["approval_id"]
        for vote in approval["votes"]:
            fault = vote_fault(row, approval, vote, keys)
            if fault:
                yield f"the decision of {vote['principal_id']} about approval {id} {FAULTS[fault]}"
        if not is_proved(row, approval, keys):
            yield f"approval {id} is {approval['status']}, and no valid decisions prove it"


def is_proved(row, approval, keys):
    if approval["status"] == "rejected":
        return any(
            vote["decision"] == "rejected" and vote_fault(row, approval, vote, keys) is None
            for vote in approval["votes"]
        )
    if approval["status"] != "approved":
        return True
    at = approval["consumed_at"] if approval["consumed_at"] is not None else approval["decided_at"]
    valid = [vote["signed"] for vote in approval["votes"] if fault_of(row, approval, vote["signed"], keys) is None]
    owners = {
        signed["approver"]["owner"]
        for signed in valid
        if signed["decision"] == "approved"
        and at is not None
        # Of one spelling, so their order as texts is that of time.
        and max(at, signed["decided_at"]) < signed["expires_at"]
    }
    return 0 < approval["quorum"] <= len(owners)


def decision_signatures(row, approvals, keys):
    signed = [(approval, vote["signed"]) for approval in approvals for vote in approval["votes"]]
    if not signed:
        return "none"
    if keys is None:
        return "unchecked"
    faults = [fault_of(row, approval, one, keys) for approval, one in signed]
    return "invalid" if "malformed" in faults or "forged" in faults else "valid"


# ---- Evidence: the verdict ------------------------------------------------------------------------------------------------------


def entry_in(line):
    """The hashed bytes of a line; None where they do not have the hash that it names."""
    found = re.fullmatch(r'(.*),"hash":"([0-9a-f]{64})"\}', line, re.DOTALL)
    entry = f"{found.group(1)}}}".encode("utf-8") if found else b""
    return entry if found and sha256(entry) == found.group(2) else None


def event_in(line):
    entry = entry_in(line)
    try:
        event = parse(entry.decode("utf-8")) if entry else None
    except ValueError:
        event = None
    return event if isinstance(event, dict) else None


def is_proven(bundle, event, entry):
    sequence = event.get("sequence")
    if not is_count(sequence):
        return False
    for proof in bundle["proofs"]:
        if proof["head"]["first"] <= sequence <= proof["head"]["sequence"]:
            place = sequence - proof["head"]["first"]
            return place < len(proof["hashes"]) and proof["hashes"][place] == sha256(entry)
    return False


def bad_entry(bundle):
    """The sequence of the first entry that is not proven or not in its place, and what is wrong with it."""
    after = bundle["checkpoint"]["through_sequence"] if bundle["checkpoint"] else 0
    for line in bundle["entries"]:
        event = event_in(line)
        sequence = None if event is None else event.get("sequence")
        if event is None or not is_proven(bundle, event, entry_in(line)):
            return sequence, "an entry is not proven"
        if any(event.get(name) != bundle["operation"][name] for name in ("operation_id", "account_id")):
            return sequence, "an entry is of another operation or account"
        if sequence <= after:
            return sequence, "an entry is not in its place"
        after = sequence
    return None


def forged_in(bundle, keys):
    for proof in bundle["proofs"]:
        if not is_signed(keys, HEAD, proof["head"]):
            return f"the signature of head {proof['head']['sequence']} is not valid"
    if bundle["checkpoint"] and not is_signed(keys, CHECKPOINT, bundle["checkpoint"]):
        return "the signature of the checkpoint is not valid"
    return None


def is_of_head(bundle, proof):
    head, hashes = proof["head"], proof["hashes"]
    counts = len(hashes) == head["sequence"] - head["first"] + 1 and hashes[-1:] == [head["hash"]]
    return head["account_id"] == bundle["operation"]["account_id"] and counts and batch_hash(hashes) == head["batch"]


def broken_in(bundle):
    for proof in bundle["proofs"]:
        if not is_of_head(bundle, proof):
            return f"the hashes are not those of head {proof['head']['sequence']}"
    checkpoint = bundle["checkpoint"]
    if checkpoint and checkpoint["account_id"] != bundle["operation"]["account_id"]:
        return "the checkpoint is of another account"
    return None


def disagreements_in(bundle, desk_keys, events):
    row, approvals = bundle["operation"], bundle["approvals"]
    found = list(bundle["disagreements"])
    if not found and not bundle["consistent"]:
        found = ["the server found that row and audit disagree"]
    # What is missing from the entries says nothing while some of them are not sealed, and bad ones say nothing at all.
    if events is not None and bundle["unsealed"] == 0:
        found += against_entries(row, approvals, events, bundle["checkpoint"] is not None)
    found += against_decisions(row, approvals, desk_keys)
    return list(dict.fromkeys(found))


def open_in(bundle, keys, decisions):
    """What keeps a bundle in which nothing is wrong from proving anything, and what to do about it."""
    unsealed = bundle["unsealed"]
    if unsealed > 0:
        return f"{unsealed} of its events are not sealed yet, and nothing proves those: ask again for the bundle"
    if not any(is_own_claim(event_in(line) or {}) for line in bundle["entries"]):
        return "retention has removed its claim from the audit, so what was claimed is not proven"
    if keys is None:
        return "signatures of heads were not checked: name the folder of the public keys with --public-keys"
    if decisions == "unchecked":
        return "signatures of decisions were not checked: name the folder of the public keys of the desk with --desk-keys"
    return None


def verify_evidence(bundle, keys, desk_keys):
    forged, bad = forged_in(bundle, keys), bad_entry(bundle)
    events = None if bad else [event_in(line) for line in bundle["entries"]]
    disagreements = disagreements_in(bundle, desk_keys, events)
    decisions = decision_signatures(bundle["operation"], bundle["approvals"], desk_keys)
    wrong = forged or broken_in(bundle) or (bad and bad[1])
    if not wrong and disagreements:
        wrong = "it does not fit together: " + "; ".join(disagreements)
    missing = open_in(bundle, keys, decisions)
    verdict = "refuted" if wrong else "unproven" if missing else "proven"
    return {
        "ok": verdict == "proven",
        "verdict": verdict,
        "first_bad": bad[0] if bad else None,
        "reason": wrong or missing,
        "entries": len(bundle["entries"]),
        "unsealed": bundle["unsealed"],
        "disagreements": disagreements,
        "signatures": "unchecked" if keys is None else "invalid" if forged else "valid",
        "decision_signatures": decisions,
    }


# ---- What is said to people -----------------------------------------------------------------------------------------------------


def sentence_of_log(report):
    found = f"{report['entries']} entries in order, {report['unsigned']} of them behind the head; signatures: {report['signatures']}"
    if report["ok"] and report["signatures"] == "unchecked":
        return (
            "whole by its hashes alone, and signatures were NOT checked: "
            f"whoever wrote both files can have made them fit ({found})"
        )
    return f"whole: {found}" if report["ok"] else f"NOT whole{place_of(report)}: {report['reason']} ({found})"


def sentence_of_evidence(report):
    checked = f"signatures of heads: {report['signatures']}, of decisions: {report['decision_signatures']}"
    found = f"{report['entries']} entries; {checked}"
    return f"proven: {found}" if report["ok"] else f"NOT proven{place_of(report)}: {report['reason']} ({found})"


def place_of(report):
    return "" if report["first_bad"] is None else f" at entry {report['first_bad']}"


def check(options):
    """The report, and its sentence."""
    keys = find_keys(options.public_keys, "AUDIT_PUBLIC_KEYS", "audit.public")
    if options.evidence is not None:
        desk_keys = find_keys(options.desk_keys, "DESK_PUBLIC_KEYS", "desk.public")
        report = verify_evidence(read_bundle(options.evidence), keys, desk_keys)
        return report, sentence_of_evidence(report)
    if keys is None:
        print("signatures are not checked: name the folder of the public keys with --public-keys", file=sys.stderr)
    report = Log(read_heads(options.head), keys).verify(options.log)
    return report, sentence_of_log(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", help="an export, one entry a line")
    parser.add_argument("--head", help="the signed head, or several, one a line")
    parser.add_argument("--evidence", help="an evidence bundle")
    parser.add_argument("--public-keys", help="folder of the public keys of the audit that you trust, as .pem files")
    parser.add_argument("--desk-keys", help="folder of the public keys of the approval desk, likewise")
    parser.add_argument("--json", action="store_true", help='end with a line {"ok", "first_bad", ...}')
    options = parser.parse_args()
    if (options.evidence is None) == (options.log is None) or (options.log is not None) != (options.head is not None):
        parser.error("name a log with --head, or a bundle with --evidence")
    try:
        report, sentence = check(options)
    except (CannotCheck, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        print(f"{options.evidence or options.log}: is not what it should be", file=sys.stderr)
        return 2
    print(json.dumps(report, separators=(",", ":"), ensure_ascii=False) if options.json else sentence)
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
