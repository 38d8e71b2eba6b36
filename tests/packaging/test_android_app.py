"""examples/android-aar outside of the tree, with an installed wheel: `run.sh`, and what an app makes of the archive."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from buildtool.builders import android, android_check
from buildtool.builders.java import find_jdk
from buildtool.builders.objects import ObjectCache
from tests.packaging.conftest import ROOT, Environment

pytestmark = pytest.mark.slow

ABI = "arm64-v8a"
# As much of Android as the activity uses, by the files that declare it.
ANDROID = {
    "app/Activity": "public class Activity extends android.content.Context {"
    " protected void onCreate(android.os.Bundle state) {} public void setContentView(android.view.View view) {} }",
    "content/Context": "public class Context { public android.content.res.AssetManager getAssets() { return null; } }",
    "content/res/AssetManager": "public final class AssetManager {"
    " public AssetFileDescriptor openFd(String name) throws java.io.IOException { return null; } }",
    "content/res/AssetFileDescriptor": "public class AssetFileDescriptor implements java.io.Closeable {"
    " public java.io.FileInputStream createInputStream() throws java.io.IOException { return null; }"
    " public long getStartOffset() { return 0; } public long getLength() { return 0; }"
    " @Override public void close() throws java.io.IOException {} }",
    "os/Bundle": "public final class Bundle {}",
    "view/View": "public class View {}",
    "widget/TextView": "public class TextView extends android.view.View {"
    " public TextView(android.content.Context context) {} public final void setText(CharSequence text) {} }",
}


@dataclass(frozen=True)
class App:
    """A copy of the example after `run.sh`, what that said, and its archive, unpacked."""

    folder: Path
    said: str
    archive: Path
    variables: dict[str, str]


@pytest.fixture(scope="module")
def app(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> App:
    folder = tmp_path_factory.mktemp("app")
    for name in ("android-aar", "digits"):
        shutil.copytree(ROOT / "examples" / name, folder / name, ignore=shutil.ignore_patterns("build", "libs"))
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CXX", "CC")}
    variables["PATH"] = os.pathsep.join([str(environment.python.parent), os.environ["PATH"]])
    variables["ANDROID_NDK_HOME"] = str(android_check.stand_in(ObjectCache()))
    command: list[str | Path] = [folder / "android-aar" / "run.sh", "--abi", ABI]
    done = subprocess.run(command, env=variables, text=True, stdout=subprocess.PIPE, check=True)
    with zipfile.ZipFile(folder / "android-aar" / "app" / "libs" / "digits.aar") as archive:
        archive.extractall(folder / "archive")
    return App(folder / "android-aar", done.stdout, folder / "archive", variables)


def compiled(sources: list[Path], classes: str, into: Path) -> None:
    options = ["-Xlint:all", "-Xlint:-options", "-Werror", "--release", "8", "-d", str(into), "-cp", classes]
    subprocess.run([str(find_jdk().javac), *options, *map(str, sources)], check=True)


def test_the_class_of_the_app_reads_a_seven(app: App) -> None:
    assert "7" in app.said.splitlines()


def test_the_program_of_the_page_runs(app: App, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "android-java.md").read_text()
    (program,) = re.findall(r"^```java\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (commands,) = re.findall(r"^```sh\n(javac.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "Program.java").write_text(program)
    (tmp_path / "build").symlink_to(app.folder / "build" / "host")
    done = subprocess.run(["sh", "-ec", commands], cwd=tmp_path, text=True, stdout=subprocess.PIPE, check=True)
    described, scores = done.stdout.splitlines()
    assert described == "[image FLOAT32[1, 1, 8, 8]] -> [probabilities FLOAT32[1, 10]]"
    assert abs(sum(map(float, scores.strip("[]").split(","))) - 1) < 1e-5


def test_the_archive_describes_what_it_holds(app: App) -> None:
    library = app.archive / "prefab" / "modules" / "digits" / "libs" / f"android.{ABI}"
    described = json.loads((library / "abi.json").read_text())
    assert (described["abi"], described["api"], described["ndk"]) == (ABI, 21, android.LEAST_NDK)
    for file in (library / "libdigits.so", *(app.archive / "jni" / ABI).iterdir()):
        header = subprocess.run(["readelf", "-hd", file], text=True, capture_output=True, check=True).stdout
        assert "AArch64" in header, file
        assert "RUNPATH" not in header
    assert sorted(file.name for file in (app.archive / "assets" / "digits").iterdir()) == ["digits.data", "digits.pb"]


def test_equal_builds_give_equal_archives(app: App, tmp_path: Path) -> None:
    command: list[str | Path] = ["lathe", "build", app.folder / "deploy.yml", "--aar", "--abi", ABI, "-q"]
    variables = {**app.variables, "TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8"}
    subprocess.run(command, cwd=tmp_path, env=variables, check=True)
    again = tmp_path / "build" / "digits" / "digits.aar"
    assert again.read_bytes() == (app.folder / "app" / "libs" / "digits.aar").read_bytes()
    with tarfile.open(again.with_name("digits.tar.gz")) as packed:
        names = packed.getnames()
    assert "digits/java/digits.jar" in names
    assert f"digits/lib/{ABI}/libdigits_jni.so" in names
    assert "digits/digits.aar" not in names


def test_the_activity_compiles_against_the_archive(app: App, tmp_path: Path) -> None:
    sources = sorted((app.folder / "app").rglob("*.java"))
    for name, text in ANDROID.items():
        sources.append(tmp_path / "android" / f"{name}.java")
        package = "android." + name.rpartition("/")[0].replace("/", ".")
        sources[-1].parent.mkdir(parents=True, exist_ok=True)
        sources[-1].write_text(f"package {package};\n{text}\n")
    compiled(sources, str(app.archive / "classes.jar"), tmp_path / "classes")
    assert (tmp_path / "classes" / "org" / "example" / "digitreader" / "MainActivity.class").is_file()


def test_the_native_code_compiles_against_the_archive(app: App) -> None:
    source = next((app.folder / "app").rglob("*.cc"))
    folders = [app.archive / "prefab" / "modules" / "digits" / "include", *find_jdk().include]
    options = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["g++", *options, *(f"-I{folder}" for folder in folders), str(source)], check=True)
