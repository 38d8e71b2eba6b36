"""What was found out about firmware, beside the build that it is about."""

from __future__ import annotations

from buildtool.builders import package
from buildtool.config import Deployment
from buildtool.reports import build_page
from buildtool.reports.benchmark import BenchReport
from buildtool.reports.documents import ValidationReport, read_build
from buildtool.requests import build_identity
from buildtool.settings import Options


def keep(deployment: Deployment, options: Options, report: ValidationReport | BenchReport) -> None:
    """Firmware is run from memory: its results are stored only where a build of these very things lies."""
    found = read_build(report.folder)
    if found is None or found.fingerprint != build_identity.known_tuning(deployment, options).identity:
        return
    package.write_file(report.file, report.text().encode())
    build_page.refresh(report.folder)
