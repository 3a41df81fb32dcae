"""The programs of the engine. `generate.py` schedules them, tries them, and writes them into the ROM."""

from __future__ import annotations

import curve
from orders import ORDERS
from schedule import (
    ADDER_LATENCY,
    ADDER_WRITES,
    LOW,
    MULTIPLIER_LATENCY,
    PRODUCT,
    RAW_WRITES,
    SQUARE,
    SUM,
    Op,
    Segment,
    folded_writes,
)

# --- registers ---
# 0 to 15 are operands of the adder as well; 16 to 31 are the key slots, four registers each, of which an instruction names
# those of the first; 32 to 63 are the multiples of A, four registers each, and at other times free.
X, Y, Z, T = range(4)
IN_A, IN_R, IN_LOW, IN_HIGH = 6, 8, 10, 11
K, S, N, OUT = 12, 13, 14, 15
KEY, PREFIX, PUBLIC = 16, 17, 18
MULTIPLES, KEPT_R = 32, 62
# With blinding, where entropy comes (Z and this one), and where the nonce is during a product.
BLIND, KEPT_N = 5, 63

# --- constants in ROM ---
R = 2**256
CONSTANTS = {
    "L": curve.L,
    "2L": 2 * curve.L,
    "-1/L": -pow(curve.L, -1, R) % R,
    "R": R % curve.L,
    "R2": R * R % curve.L,
    "d": curve.D,
    "2d": 2 * curve.D % curve.P,
    "root": curve.ROOT,
    "sign": 2**255,
}
CONST = {name: index for index, name in enumerate(CONSTANTS)}

# --- fields of a microinstruction: first bit and width ---
FIELDS = {
    "wait": (0, 5), "control": (5, 4), "target": (9, 10), "next_digit": (19, 1),
    "mul": (20, 1), "square": (21, 1), "raw": (22, 1), "b_from": (23, 2), "mul_a": (25, 6), "mul_b": (31, 6),
    "mul_to": (37, 6), "mul_indexed": (43, 1),
    "add": (44, 4), "add_a": (48, 4), "add_b": (52, 4), "add_to": (56, 6), "cond": (62, 2), "check": (64, 4),
    "sign_of_a": (68, 1), "low": (69, 1), "add_indexed": (70, 1), "next_index": (71, 1),
}
CONTROLS = {name: index for index, name in enumerate(
    ("next", "jump", "loop", "count", "end", "position", "summands", "comb", "recode"))}
B_FROM = {"register": 0, "constant": 1, "fixed": 2, "multiple": 3}
# None is 0, so that an empty field does nothing.
ADDS = {name: index for index, name in enumerate(
    ("none", "add", "sub", "add_signed", "sub_signed", "add_raw", "add_carry", "sub_raw", "select", "load",
     "add_small", "mask_small", "mask_if", "select_masked"))}
CONDS = {"keep": 0, "carry": 1, "top": 2, "parity": 3}
# Evidence: what a check has to find.
CHECKS = {name: index + 1 for index, name in enumerate(
    ("a_canonical", "a_order", "a_on_curve", "r_canonical", "r_order", "s_below_l", "r_on_curve", "x_equal", "y_equal",
     "scalar", "nonce_equal", "key_equal", "prefix_equal", "s_below_l_again"))}


def name_of(register: int) -> str:
    return f"r{register}"


def mul(to: int, a: int, b: int | str, *, raw: bool = False, low: bool = False, square: bool = False,
        indexed: bool = False) -> Op:
    """`b` is a register, `=name` a constant, `fixed:n` a number of the summand of B, `multiple:n` of a multiple of A."""
    reads, b_from, number = [name_of(a)], "register", 0
    if isinstance(b, int):
        number = b
        reads.append(name_of(b))
    elif b.startswith("="):
        b_from, number = "constant", CONST[b[1:]]
    else:
        b_from, text = b.split(":")
        number = int(text)
        reads.append("@digit" if b_from == "fixed" else "@digits")
        if b_from == "multiple":
            reads.append("@multiples")
    fields = {"mul": 1, "mul_a": a, "mul_b": number, "b_from": B_FROM[b_from], "mul_to": to,
              "square": int(square), "raw": int(raw), "low": int(low), "mul_indexed": int(indexed)}
    occupancy = SQUARE if square else LOW if low else PRODUCT
    if not raw:
        port = folded_writes(occupancy)
        writes, spans, ready = [name_of(to)], [(port[0], port[3])], [occupancy + MULTIPLIER_LATENCY]
    else:
        # Words come as the columns end, so the first is early; the last one decides for a word a cycle.
        port = RAW_WRITES[:4] if low else RAW_WRITES
        writes, spans, ready = [name_of(to)], [(port[0], port[3])], [max(RAW_WRITES[k] - k for k in range(4))]
        if not low:
            assert to % 2 == 0
            writes.append(name_of(to + 1))
            spans.append((port[4], port[7]))
            ready.append(max(RAW_WRITES[4 + k] - k for k in range(4)))
    if indexed:
        writes, reads = ["@multiples"], [*reads, "@index"]
    return Op("mul", fields, tuple(reads), tuple(writes), occupancy, tuple(ready), tuple(port), tuple(spans))


def sq(to: int, a: int) -> Op:
    return mul(to, a, a, square=True)


def add(kind: str, to: int, a: int = 0, b: int = 0, *, cond: str = "keep", check: str = "", of_a: bool = False,
        indexed: bool = False) -> Op:
    """An operation of the adder; for some kinds `b` is a small number (19 is written as 15)."""
    small = kind in ("load", "add_small", "mask_small", "mask_if")
    fields = {"add": ADDS[kind], "add_a": a, "add_b": (15 if b == 19 else b) if small else b, "add_to": to,
              "cond": CONDS[cond], "check": CHECKS[check] if check else 0, "sign_of_a": int(of_a),
              "add_indexed": int(indexed)}
    reads = [] if kind == "load" else [name_of(a)]
    if not small:
        reads.append(name_of(b))
    if kind in ("add_signed", "sub_signed"):
        reads.append("@digits" if of_a else "@digit")
    if kind in ("add_carry", "select", "mask_if", "select_masked") or cond == "parity":
        reads.append("@cond")
    writes, ready, spans = [name_of(to)], [ADDER_LATENCY], [(ADDER_WRITES[0], ADDER_WRITES[3])]
    if indexed:
        writes, reads = ["@multiples"], [*reads, "@index"]
    if cond != "keep":
        writes.append("@cond")
        ready.append(SUM)
        spans.append((SUM, SUM))
    return Op("add", fields, tuple(reads), tuple(writes), SUM, tuple(ready), ADDER_WRITES, tuple(spans))


def control_op(field: str, name: str) -> Op:
    return Op("control", {field: 1}, (), (name,), 1, (1,), (), ((1, 1),))


NEXT_DIGIT = control_op("next_digit", "@digit")
NEXT_INDEX = control_op("next_index", "@index")

# --- parts ---


def freeze(to: int, v: int, t: int, w: int, **last: str) -> list[Op]:
    """The residue below p of a number below 2^256; t and w are changed."""
    return [
        add("add_small", t, v, 0, cond="top"),
        add("mask_if", t, v, 19),
        add("add_small", w, t, 19, cond="top"),
        add("select_masked", to, w, t, **last),
    ]


def montgomery(to: int, a: int, b: int | str, t: int = 0, m: int = 2, u: int = 4) -> list[Op]:
    """a · b / 2^256 modulo L, below 2L if b < L. Two registers each from t, m and u on are changed."""
    return [
        mul(t, a, b, raw=True),
        mul(m, t, "=-1/L", raw=True, low=True),
        mul(u, m, "=L", raw=True),
        add("add_raw", m + 1, t, u, cond="carry"),
        add("add_carry", to, t + 1, u + 1),
    ]


def subtract_once(v: int, number: int, t: int, to: int | None = None, **last: str) -> list[Op]:
    """v - number, if that is not negative."""
    return [
        add("sub_raw", t, v, number, cond="carry"),
        add("select", v if to is None else to, v, t, **last),
    ]


def below_l(v: int, to: int, one: int, l1: int, l2: int, t: int, **last: str) -> list[Op]:
    """A number below 4L modulo L."""
    return [
        add("load", one, 0, 1),
        mul(l1, one, "=L", raw=True, low=True),
        mul(l2, one, "=2L", raw=True, low=True),
        *subtract_once(v, l2, t),
        *subtract_once(v, l1, t, to, **last),
    ]


def reduce_digest(to: int, **last: str) -> list[Op]:
    """IN_HIGH · 2^256 + IN_LOW modulo L. Changes registers 0 to 5, 7, 9, OUT, and some of the upper ones."""
    return [
        *montgomery(7, IN_HIGH, "=R2", 0, 32, 4),
        *montgomery(9, IN_LOW, "=R", 2, 34, 4),
        add("add_raw", 9, 9, 7),
        *below_l(9, to, 36, to, OUT, 5, **last),
    ]


def double(x: int, y: int, z: int, to: tuple[int, int, int, int | None], temps: tuple[int, ...]) -> list[Op]:
    """RFC 8032 §5.1.4, with its names."""
    a, b, c, s, h, g, f, e = temps
    code = [
        sq(a, x), sq(b, y), sq(c, z), add("add", s, x, y), sq(s, s),
        add("add", h, a, b), add("sub", g, a, b), add("add", c, c, c), add("add", f, c, g), add("sub", e, h, s),
        mul(to[1], g, h), mul(to[2], f, g), mul(to[0], e, f),
    ]
    if to[3] is not None:
        code.append(mul(to[3], e, h))
    return code


def point_sum(plus: int | str, minus: int | str, td: int | str, zz: int | str | None, with_t: bool,
              of_a: bool = False, signed: bool = True) -> list[Op]:
    """Adds to X, Y, Z, T. A negative summand has y + x and y - x exchanged, and the opposite sign in F and G."""
    a, b, c, d = 4, 5, 6, 7
    e, f, g, h = 8, 9, 10, 11
    f_kind, g_kind = ("sub_signed", "add_signed") if signed else ("sub", "add")
    code = [
        mul(c, T, td),
        add("add", d, Z, Z) if zz is None else mul(d, Z, zz),
        add("sub", a, Y, X), add("add", b, Y, X), mul(a, a, minus), mul(b, b, plus),
        add(f_kind, f, d, c, of_a=of_a), add(g_kind, g, d, c, of_a=of_a),
        add("sub", e, b, a), add("add", h, b, a),
        mul(Z, f, g), mul(X, e, f), mul(Y, g, h),
    ]
    if with_t:
        code.append(mul(T, e, h))
    return code


def fixed(with_t: bool) -> list[Op]:
    return point_sum("fixed:0", "fixed:1", "fixed:2", None, with_t)


def multiple(with_t: bool) -> list[Op]:
    return point_sum("multiple:0", "multiple:1", "multiple:2", "multiple:3", with_t, of_a=True)


def entry(x: int, y: int, z: int, t: int) -> list[Op]:
    """A multiple of A as a summand, at the index."""
    return [
        add("add", MULTIPLES, y, x, indexed=True), add("sub", MULTIPLES + 1, y, x, indexed=True),
        mul(MULTIPLES + 2, t, "=2d", indexed=True), add("add", MULTIPLES + 3, z, z, indexed=True),
    ]


class Programs:
    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.entries: dict[str, str] = {}

    def segment(self, name: str, ops: list[Op], control: str = "next", target: str | int = 0,
                follow: tuple[str, ...] = (), drain: bool = False, **extra: int) -> None:
        self.segments.append(
            Segment(name, ops, control, target, follow, extra, drain, ORDERS.get(name, ()))
        )

    def command(self, name: str, ops: list[Op]) -> None:
        """A program of one segment."""
        self.entries[name] = name
        self.segment(name, ops, "end", drain=True)

    def power(self, tag: str, lanes: list[dict[str, int]], then: str, is_inverse: bool) -> None:
        """z^(p-2), or z^((p-5)/8), in `z250` or `out`: 254 or 252 squares. Lanes are computed side by side."""
        def every(make: object, *names: str) -> list[Op]:
            return [make(*(lane[name] for name in names)) for lane in lanes]  # type: ignore[operator]

        steps: list[tuple[int, str, str, str]] = [
            # squares, of what, times what, to what
            (5, "z5", "z5", "z10"), (10, "z10", "z10", "z20"), (20, "z20", "z20", "z40"), (10, "z40", "z10", "z50"),
            (50, "z50", "z50", "z100"), (100, "z100", "z100", "z200"), (50, "z200", "z50", "z250"),
            (5, "z250", "z11", "out") if is_inverse else (2, "z250", "z", "out"),
        ]
        head = [
            *every(sq, "t", "z"), *every(lambda a, b: mul(a, b, b, square=True), "z11", "t"),
            *every(sq, "z9", "z11"), *every(mul, "z9", "z9", "z"), *every(mul, "z11", "z9", "t"),
            *every(sq, "t", "z11"), *every(mul, "z5", "t", "z9"),
        ]
        self.segment(f"{tag}_head", head, "count", steps[0][0] - 2, (f"{tag}_first0",))
        for index, (squares, base, factor, to) in enumerate(steps):
            def first(lane: dict[str, int], base: str = base) -> Op:
                return sq(lane["t"], lane[base])

            def last(lane: dict[str, int], to: str = to, factor: str = factor) -> Op:
                return mul(lane[to], lane["t"], lane[factor])

            self.segment(f"{tag}_first{index}", [first(lane) for lane in lanes], follow=(f"{tag}_loop{index}",))
            self.segment(f"{tag}_loop{index}", every(sq, "t", "t"), "loop", f"{tag}_loop{index}",
                         (f"{tag}_loop{index}", f"{tag}_last{index}"))
            is_end = index == len(steps) - 1
            follow = then if is_end else f"{tag}_first{index + 1}"
            count = 0 if is_end else steps[index + 1][0] - 2
            self.segment(f"{tag}_last{index}", [last(lane) for lane in lanes], "next" if is_end else "count", count,
                         (follow,))
            del squares

    def all(self, rows: int, is_blinded: bool = False) -> None:
        # Key: s · 2^256 modulo L, so that S needs one product less. The scalar is not zero modulo L.
        self.command("load", [
            add("load", 6, 0, 1), *montgomery(9, IN_LOW, "=R2"),
            mul(2, 6, "=L", raw=True, low=True), *subtract_once(9, 2, 5),
            add("add_small", 5, 9, 0, check="scalar"),
            mul(KEY, 6, 9, raw=True, low=True), mul(PREFIX, 6, IN_HIGH, raw=True, low=True),
        ])
        # All of it again: a wrong key that signs with the nonces of the right one gives both away.
        self.command("load_again", [
            add("load", 6, 0, 1), *montgomery(9, IN_LOW, "=R2"),
            mul(2, 6, "=L", raw=True, low=True), *subtract_once(9, 2, 5),
            mul(7, 6, KEY, raw=True, low=True), add("sub_raw", 7, 7, 9, check="key_equal"),
            mul(8, 6, PREFIX, raw=True, low=True), add("sub_raw", 8, 8, IN_HIGH, check="prefix_equal"),
        ])
        self.command("key", [
            add("load", 6, 0, 1), mul(7, 6, KEY, raw=True, low=True), *montgomery(7, 7, 6),
            mul(2, 6, "=L", raw=True, low=True), *subtract_once(7, 2, 5, N),
            add("add_small", 5, N, 0, check="scalar"),
        ])
        self.command("challenge", reduce_digest(K))
        self.command("nonce", [add("add_small", N, K, 0, check="scalar")])
        self.command("keep_public", [
            add("load", 0, 0, 1), mul(PUBLIC, 0, OUT, raw=True, low=True), add("load", N),
        ])
        # The digest was reduced once more before the product: after it N is still what K is, odd by L.
        self.command("keep_r", [
            add("load", 0, 0, 1), mul(4, 0, "=L", raw=True, low=True),
            add("load", 7, 0, 0, cond="carry"), add("add_small", 5, K, 0, cond="parity"),
            add("add_raw", 4, K, 4), add("select", 4, K, 4), add("sub_raw", 5, 4, N, check="nonce_equal"),
            mul(KEPT_R, 0, OUT, raw=True, low=True), add("load", K), add("load", 4),
        ])
        # S = r + k · s modulo L. What is checked is R as it was made, the key that the engine made, and the digest, which is
        # reduced once more: a wrong k would make an S that fits itself.
        self.command("respond", [
            *montgomery(9, K, KEY, 0, 32, 4),
            add("add_raw", 9, 9, N),
            *below_l(9, S, 36, 2, 7, 3),
            mul(IN_A, 36, PUBLIC, raw=True, low=True), mul(IN_R, 36, KEPT_R, raw=True, low=True),
            add("load", 9), add("load", 3), add("load", N),
        ])
        # It leaves from N, which nothing else shows.
        self.command("prefix", [
            add("load", 0, 0, 1), mul(N, 0, PREFIX, raw=True, low=True), mul(4, 0, PREFIX, raw=True, low=True),
            add("sub_raw", 5, 4, N, check="prefix_equal"), add("load", 4),
        ])
        self.check()
        # The last one, so that entries are the same with blinding.
        self.base(rows, is_blinded)

    def base(self, rows: int, is_blinded: bool) -> None:
        """N · B, encoded, in OUT; N < L becomes odd by L.

        Blinded, it is (N + 2 b L) · B for 64 random bits b, its upper bits in OUT, and begins with a random Z."""
        self.entries["base"] = "base"
        lane = {"z": Z, "t": 32, "z9": 33, "z11": 34, "z5": 35, "z10": 36, "z20": 37, "z40": 38, "z50": 39,
                "z100": 40, "z200": 41, "z250": 42, "out": 43}
        blind = [
            mul(KEPT_N, Y, N, raw=True, low=True), mul(6, BLIND, "=2L", raw=True),
            add("add_raw", N, N, 6, cond="carry"), add("load", 9), add("add_carry", OUT, 7, 9),
            add("add_small", Y, Z, 0), add("load", T),
        ]
        self.segment("base", [
            add("load", Y, 0, 1), mul(4, Y, "=L", raw=True, low=True),
            add("load", X, 0, 0, cond="carry"), add("add_small", 8, N, 0, cond="parity"),
            add("add_raw", 4, N, 4), add("select", N, N, 4),
            *(blind if is_blinded else [add("load", Z, 0, 1), add("load", T)]),
        ], "comb", follow=("base_count",), drain=True)
        # The first digit takes some cycles.
        self.segment("base_count", [], "count", rows - 1, ("base_wait",))
        self.segment("base_wait", [add("load", 4 + i % 8) for i in range(5)], follow=("base_row",), next_digit=1)
        add_twice = [*fixed(True), NEXT_DIGIT, *fixed(False), NEXT_DIGIT]
        self.segment("base_row", [*double(X, Y, Z, (X, Y, Z, T), (4, 5, 6, 7, 8, 9, 10, 11)), *add_twice],
                     "loop", "base_row", ("base_row", "invert_head"))
        self.power("invert", [lane], "base_out", is_inverse=True)
        self.segment("base_out", [
            mul(4, 43, X), mul(5, 43, Y), *freeze(4, 4, 6, 7),
            add("load", 6, 0, 1), mul(8, 6, "=sign", raw=True, low=True),
            *([mul(N, 6, KEPT_N, raw=True, low=True)] if is_blinded else []),
            *freeze(5, 5, 6, 7),
            add("load", 9, 0, 0, cond="carry"), add("add_small", 9, 4, 0, cond="parity"),
            add("add_raw", 8, 8, 5), add("select", OUT, 8, 5),
        ], "end", drain=True)

    def check(self) -> None:
        """S · B = R + k · A, strictly (`device/kernels/src/ed25519.rs`): A and R canonical and of no small order, S < L."""
        self.entries["check"] = "check"
        one, t, w = 1, N, OUT
        lanes = [
            {"in": IN_A, "y": 2, "yy": 4, "v": 7, "u": 10, "far": 32, "who": 0},
            {"in": IN_R, "y": 3, "yy": 5, "v": 9, "u": 11, "far": 46, "who": 1},
        ]
        for lane in lanes:
            for offset, name in enumerate(("z", "t", "z9", "z11", "z5", "z10", "z20", "z40", "z50", "z100", "z200",
                                           "z250", "out", "v3")):
                lane[name] = lane["far"] + offset
        head: list[Op] = [add("load", one, 0, 1), mul(0, one, "=L", raw=True, low=True),
                          add("sub_raw", 0, S, 0, cond="carry", check="s_below_l")]
        for lane in lanes:
            who = "ar"[lane["who"]]
            y, yy, v, u = lane["y"], lane["yy"], lane["v"], lane["u"]
            head += [
                add("mask_small", y, lane["in"], 0), add("add_small", t, y, 19, check=f"{who}_canonical"),
                sq(yy, y), add("sub", u, yy, one), mul(v, yy, "=d"), add("add", v, v, one),
                sq(lane["t"], v), mul(lane["v3"], lane["t"], v), sq(lane["t"], lane["v3"]),
                mul(lane["t"], lane["t"], v), mul(lane["z"], lane["t"], u),
                # Small order: y (y² - 1) (d y⁴ + 2y² - 1) = 0.
                add("add", w, v, one), mul(yy, w, yy), add("sub", yy, yy, one),
                mul(lane["z10"], y, u), mul(yy, lane["z10"], yy),
                *freeze(yy, yy, t, w), add("add_small", yy, yy, 0, check=f"{who}_order"),
            ]
        # Anyone can make an S that is not below L of one that is: nothing but this check refuses it.
        head += [mul(0, one, "=L", raw=True, low=True), add("sub_raw", 0, S, 0, check="s_below_l_again")]
        self.segment("check", head, "recode", follow=("roots_head",))
        self.power("roots", lanes, "check_roots", is_inverse=False)  # type: ignore[arg-type]
        roots: list[Op] = []
        for lane in lanes:
            is_a = lane["who"] == 0
            who = "ar"[lane["who"]]
            yy, v, u = lane["yy"], lane["v"], lane["u"]
            x = 0 if is_a else OUT
            roots += [
                mul(lane["t"], lane["out"], lane["v3"]), mul(lane["z9"], lane["t"], u), sq(lane["t"], lane["z9"]),
                mul(yy, lane["t"], v), add("add", v, yy, u), add("sub", yy, yy, u),
                mul(v, v, yy), *freeze(v, v, N, 0), add("add_small", v, v, 0, check=f"{who}_on_curve"),
                # x is the root of u/v, or i times that.
                *freeze(yy, yy, N, 0), add("sub_raw", N, yy, one, cond="carry"),
                mul(v, lane["z9"], one), mul(yy, lane["z9"], "=root"), add("select", v, v, yy),
                *freeze(v, v, N, 0), add("load", N), add("sub", yy, N, v),
                add("add_small", N, lane["in"], 0, cond="top"), add("add_small", N, v, 0, cond="parity"),
                # R has the sign of its encoding, A the other one: it is subtracted.
                add("select", x, v, yy) if is_a else add("select", x, yy, v),
            ]
            if is_a:
                # Register 0 is a temporary of the other lane.
                roots += [mul(61, x, one)]
        self.segment("check_roots", roots, follow=("multiples",))
        self.segment("multiples", [
            mul(0, 61, one), add("add_small", N, 3, 0), add("add_small", Y, 2, 0), add("load", Z, 0, 1), mul(T, X, Y),
            *entry(X, Y, Z, T),
            *double(X, Y, Z, (4, 5, 6, 7), (4, 5, 6, 7, 8, 9, 10, 11)),
            add("add", 60, 5, 4), add("sub", 61, 5, 4), mul(62, 7, "=2d"), add("add", 63, 6, 6),
        ], "count", 6, ("multiples_next",))
        self.segment("multiples_next", [
            *point_sum(60, 61, 62, 63, with_t=True, signed=False), NEXT_INDEX, *entry(X, Y, Z, T),
        ], "loop", "multiples_next", ("multiples_next", "start"))
        self.segment("start", [add("load", X), add("load", Y, 0, 1), add("load", Z, 0, 1), add("load", T)],
                     "position", "at", ("at_double", "at_sum", "at_end"))
        temps = (4, 5, 6, 7, 8, 9, 10, 11)
        self.segment("at_double", double(X, Y, Z, (X, Y, Z, None), temps), "position", "at",
                     ("at_double", "at_sum", "at_end"))
        self.segment("at_sum", double(X, Y, Z, (X, Y, Z, T), temps), "summands", "add",
                     ("add_both", "add_a", "add_b"))
        self.segment("at_end", [
            mul(4, OUT, Z), mul(5, N, Z), add("sub", 4, 4, X), add("sub", 5, 5, Y),
            *freeze(4, 4, 6, 7), *freeze(5, 5, 8, 9),
            add("add_small", 4, 4, 0, check="x_equal"), add("add_small", 5, 5, 0, check="y_equal"),
        ], "end", drain=True)
        self.segment("add_both", multiple(True), "jump", "add_b", ("add_b",))
        self.segment("add_a", multiple(False), "position", "at", ("at_double", "at_sum", "at_end"))
        self.segment("add_b", fixed(False), "position", "at", ("at_double", "at_sum", "at_end"))


# Where a `position` and a `summands` lead: the lower two bits of the target.
VECTORS = {"at": {0: "at_double", 1: "at_sum", 2: "at_end"}, "add": {1: "add_a", 2: "add_b", 3: "add_both"}}
