"""links.py ROOT: checks that the links between the pages under ROOT lead to files and headings that exist."""

import os
import re
import sys

SKIPPED = {".git", ".deps", "build", "node_modules"}


def pages(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".md"))


def text_of(page):
    """The page without its blocks of code."""
    with open(page, encoding="utf-8") as file:
        return re.sub(r"(?ms)^```.*?^```", "", file.read())


def anchors(page):
    """The names that GitHub gives to the headings."""
    for heading in re.findall(r"(?m)^#+ (.*)$", text_of(page)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def broken(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text_of(page))):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = os.path.join(os.path.dirname(page), path) if path else page
        if not os.path.exists(target):
            yield f"{page}: {link} does not exist"
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            yield f"{page}: {link} has no such heading"


errors = [error for page in sorted(pages(sys.argv[1])) for error in broken(page)]
print("\n".join(errors))
sys.exit(1 if errors else 0)
