"""Adds the help of the tools to the site's page of them.

    tools.py FOLDER PAGE TOOL...

The section of PAGE that is headed by a tool's name ends with what the tool in FOLDER prints for `--help`, and each
command that this names gets a section below it. Fails if a tool has no section, or cannot be run.
"""
import pathlib
import re
import subprocess
import sys

COMMANDS = re.compile(r"^commands:\n((?:  .*\n)+)", re.MULTILINE)


def block(program, *words):
    """What a program prints for `--help`, and the block of a page with it."""
    help = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout
    return help, f"```text\n{help}```\n"


def main():
    folder, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = path.read_text()
    for tool in sys.argv[3:]:
        section = re.search(rf"^## {re.escape(tool)}\n(?:(?!^## ).*\n?)*", page, re.MULTILINE)
        if section is None:
            sys.exit(f"tools: {path.name} has no section for {tool}")
        try:
            help, text = block(folder / tool)
            commands = COMMANDS.search(help)
            for command in re.findall(r"^  ([a-z-]+)  ", commands[1] if commands else "", re.MULTILINE):
                text += f"\n### {tool} {command}\n\n{block(folder / tool, command)[1]}"
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"tools: {folder / tool} prints no help: {error}")
        page = page[:section.end()].rstrip("\n") + f"\n\n{text}\n" + page[section.end():]
    path.write_text(page)


if __name__ == "__main__":
    main()
