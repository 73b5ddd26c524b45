"""What an address on a page means, and when two addresses are one page (003 §3.1).

Written down plainly from the rules, without a look at speed: it is what the program is compared with.
"""

import re
from urllib.parse import urljoin, urlsplit

TRACKING = {
    "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "mc_cid", "mc_eid", "yclid", "igshid", "_hsenc",
    "_hsmi", "ref", "source",
}
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
# What the URL standard escapes in the path and in the query, besides everything that is not ASCII.
IN_PATH = set(' "#<>?^`{}')
IN_QUERY = set(" \"#<>'")
DEFAULT_PORTS = {"http": 80, "https": 443}


def resolve(base: str, href: str) -> str | None:
    """The http(s) address a link leads to, without its fragment; nothing if there is none."""
    href = re.sub(r"[\t\n\r]", "", href.strip("".join(map(chr, range(33)))))
    try:
        parts = urlsplit(urljoin(base, href))
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    host = parts.hostname.encode("idna").decode()
    if port not in (None, DEFAULT_PORTS[parts.scheme]):
        host = f"{host}:{port}"
    path = escape(without_dots(parts.path), IN_PATH) or "/"
    query = f"?{escape(parts.query, IN_QUERY)}" if parts.query else ""
    return f"{parts.scheme}://{host}{path}{query}"


def escape(text: str, unsafe: set[str]) -> str:
    def one(character: str) -> str:
        if character in unsafe or not " " <= character <= "~":
            return "".join(f"%{byte:02X}" for byte in character.encode())
        return character

    return "".join(map(one, text))


def without_dots(path: str) -> str:
    out: list[str] = []
    segments = path.split("/")
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        name = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if name == "..":
            if len(out) > 1:
                out.pop()
        elif name != ".":
            out.append(segment)
        if last and name in (".", ".."):
            out.append("")
    return "/".join(out)


def identity(address: str) -> str:
    """The name under which a page is known: every address of it gives the same."""
    parts = urlsplit(address)
    host = re.sub(r"^(www\.)+(?=[^.]+\.)", "", parts.hostname.rstrip("."))
    if parts.port not in (None, 80, 443):
        host = f"{host}:{parts.port}"
    path = decoded(parts.path).rstrip("/") or "/"
    kept = []
    for part in decoded(parts.query).split("&"):
        name = part.split("=")[0]
        if part and name.lower() not in TRACKING and not name.lower().startswith("utm_"):
            kept.append((name, part))
    query = "&".join(part for _, part in sorted(kept, key=lambda pair: pair[0]))
    return f"https://{host}{path}" + (f"?{query}" if query else "")


def decoded(text: str) -> str:
    """Escapes that are not needed are removed, the others are in upper case."""

    def one(found: re.Match) -> str:
        character = chr(int(found[1], 16))
        return character if UNRESERVED.fullmatch(character) else f"%{found[1].upper()}"

    return re.sub("%([0-9A-Fa-f]{2})", one, re.sub("%(?![0-9A-Fa-f]{2})", "%25", text))


def domain(address: str) -> str:
    """The host without `www.` and port."""
    return urlsplit(identity(address)).hostname
