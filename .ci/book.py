"""Lays the documents out for mdBook, and checks what it makes of them.

mdBook takes one folder. Documents link what lies outside of `docs/`, too: results, scenarios, data. All that is linked, and
what that links, goes to `repository/` in the book; its Markdown becomes chapters behind all others.
"""

import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path.cwd()
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)\s]+)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)


def place(path: Path) -> Path:
    """Where a file of the repository stands in the book."""
    in_docs = path.is_relative_to(DOCS)
    place = path.relative_to(DOCS) if in_docs else Path("repository") / path.relative_to(ROOT)
    # mdBook calls the page of a README so, and leaves links to it as they are.
    return place.with_name("index.md") if place.name == "README.md" else place


def lay_out(book: Path) -> None:
    waiting = [p for p in sorted(DOCS.rglob("*")) if p.is_file()]
    staged: set[Path] = set()
    chapters: list[Path] = []
    while waiting:
        path = waiting.pop(0)
        if path in staged:
            continue
        staged.add(path)
        target = book / place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        if not path.is_relative_to(DOCS):
            chapters.append(path)

        def moved(link: re.Match) -> str:
            to, _, anchor = link[1].partition("#")
            if not to or "://" in to or to.startswith("mailto:"):
                return link[0]
            there = (path.parent / to).resolve()
            if there.is_dir():
                # A folder has no page: its README is one, else its name in the repository is said.
                if not (there / "README.md").exists():
                    return "](#"
                there = there / "README.md"
            waiting.append(there)
            here = place(path).parent
            return f"]({os.path.relpath(place(there), here)}" + (f"#{anchor}" if anchor else "")

        text = path.read_text(encoding="utf-8")
        parts = CODE.split(text)
        parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
        # Links to folders are words: `[data/papers](#)` is `data/papers`.
        text = re.sub(r"\[([^\]]*)\]\(#\)", r"\1", "".join(parts))
        target.write_text(text, encoding="utf-8")
    summary = book / "SUMMARY.md"
    lines = [summary.read_text(encoding="utf-8").rstrip(), "", "# Results and sources", ""]
    for path in sorted(chapters, key=lambda p: p.relative_to(ROOT).parts):
        heading = next(l for l in path.read_text(encoding="utf-8").splitlines() if l.startswith("#"))
        name = re.sub(r"[\[\]`]", "", heading.lstrip("# "))
        lines.append(f"- [{name}]({place(path).as_posix()})")
    summary.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Page(HTMLParser):
    """What a page links, and what can be linked in it."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def check(site: Path) -> None:
    pages = {p.resolve(): Page(p.read_text(encoding="utf-8")) for p in site.rglob("*.html")}
    # Two pages of mdBook itself: one for printing, in which anchors of all are, and one for what is not there.
    own = {site.resolve() / name for name in ("print.html", "404.html", "toc.html")}
    dead, asked, outside = [], 0, set()
    for path, page in pages.items():
        if path in own:
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                outside.add(parts.netloc)
                continue
            asked += 1
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.exists():
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].ids:
                dead.append(f"{path.relative_to(site.resolve())}: {link} (no such place)")
    for line in sorted(set(dead)):
        print(line)
    if dead:
        sys.exit(f"{len(set(dead))} links of the site lead nowhere")
    if asked < 1000:
        sys.exit(f"only {asked} links were found")
    loaded = [l for p, page in pages.items() for l in page.links if urlsplit(l).scheme and re.search(r"\.(js|css|woff2?)$", l)]
    if loaded:
        sys.exit(f"the site loads from elsewhere: {sorted(set(loaded))}")
    print(f"{len(pages)} pages, {asked} links that lead somewhere, nothing loaded from elsewhere")


if __name__ == "__main__":
    {"lay-out": lay_out, "check": check}[sys.argv[1]](Path(sys.argv[2]))
