"""Addresses of the project, from where the distribution is built: an index shows them.

A source distribution keeps what it was built with; hatchling then leaves this hook out.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

# git@host:owner/name, ssh's short form; ://host is an address with a scheme.
SHORT_SSH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+):(?P<path>(?!/)[\w./~-]+)")


class ProjectAddresses(MetadataHookInterface):
    """`urls` of the repository that the tree is checked out from; none where there is none."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `urls`; empty outside of a checkout."""
        root = Path(self.root)
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        repository = repository_of_workflow(root) or repository_of_origin(root)
        metadata["urls"] = project_urls(repository, server) if repository else {}


def project_urls(repository: str, github: str) -> dict[str, str]:
    """Addresses by label; on a host other than `github`, whose paths are not known, only one."""
    urls = {"Repository": repository}
    if repository.startswith(f"{github}/"):
        urls["Issues"] = f"{repository}/issues"
        urls["Changelog"] = f"{repository}/blob/HEAD/CHANGELOG.md"
        urls["Documentation"] = f"{repository}/blob/HEAD/docs/index.md"
    return urls


def repository_of_workflow(root: Path) -> str | None:
    """The repository that a GitHub workflow runs in, if `root` is its checkout.

    Another project's workflow may install this one: its variables name that project.
    """
    variables = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_WORKSPACE")
    server, repository, workspace = (os.environ.get(name) for name in variables)
    if not (server and repository and workspace) or Path(workspace).resolve() != root.resolve():
        return None
    return f"{server}/{repository}"


def repository_of_origin(root: Path) -> str | None:
    """The page of the remote `origin`, if `root` is a checkout of its own."""
    if not (root / ".git").exists():  # an outer repository is another project
        return None
    command = ["git", "-C", str(root), "remote", "get-url", "origin"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return page_of_remote(result.stdout.strip()) if result.returncode == 0 else None


def page_of_remote(remote: str) -> str | None:
    """The https address of a remote reached by https or ssh, without user, password and `.git`."""
    if short := SHORT_SSH.fullmatch(remote):
        host, path = short["host"], short["path"]
    else:
        parts = urlsplit(remote)
        if parts.scheme not in ("https", "ssh") or not parts.hostname:
            return None
        address = parts.netloc.rpartition("@")[2]
        host = address if parts.scheme == "https" else parts.hostname  # ssh's port is no page's
        path = parts.path
    path = path.strip("/").removesuffix(".git")
    return f"https://{host}/{path}" if path else None
