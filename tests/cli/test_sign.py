"""Signatures of builds: what is written, what `lathe verify`, `lathe/verify.h` and OpenSSL say of it."""

from __future__ import annotations

import random
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.cli.conftest import EXAMPLE, Lathe
from tests.native_builds import QEMU, ROOT

ORDER = 2**252 + 27742317777372353535851937790883648493  # of the base point
P = 2**255 - 19
LENGTHS = (0, 1, 63, 64, 111, 112, 127, 128, 129, 239, 240, 1000)
# RFC 8032, section 7.1: private key, message, signature
VECTORS = (
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
)
# Reads cases in hexadecimal from its input: signature, key and message, with the answer that they must get.
PROGRAM = r"""
#include "lathe/verify.h"

static unsigned char bytes[4096];

static size_t Read(const char* word) {
  size_t count = 0;
  unsigned value;
  for (; sscanf(word, "%2x", &value) == 1 && word[0] != '-'; word += 2) bytes[count++] = (unsigned char)value;
  return count;
}

int main(void) {
  static char word[4][8193];
  int line = 0, wrong = 0;
  while (scanf("%8192s %8192s %8192s %8192s", word[0], word[1], word[2], word[3]) == 4) {
    uint8_t signature[LATHE_SIGNATURE_SIZE], key[LATHE_KEY_SIZE];
    size_t size;
    ++line;
    if (Read(word[1]) != sizeof(signature)) return 2;
    memcpy(signature, bytes, sizeof(signature));
    if (Read(word[2]) != sizeof(key)) return 2;
    memcpy(key, bytes, sizeof(key));
    size = Read(word[3]);
    if (lathe_verify(bytes, size, signature, key) != (word[0][0] == 'y')) {
      printf("line %d\n", line);
      wrong = 1;
    }
  }
  printf("%d lines\n", line);
  return wrong;
}
"""


def _cases() -> Iterator[tuple[bool, bytes, bytes, bytes]]:
    """Whether a signature is right; signature, public key, message."""
    for private, text, signature in VECTORS:
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private)).public_key().public_bytes_raw()
        yield True, bytes.fromhex(signature), key, bytes.fromhex(text)
    rng = random.Random(8)
    for length in LENGTHS:
        private_key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        key, message = private_key.public_key().public_bytes_raw(), rng.randbytes(length)
        signed = private_key.sign(message)
        yield True, signed, key, message
        # Another form of the same number must be refused: else a signature has more than one form.
        beyond = int.from_bytes(signed[32:], "little") + ORDER
        yield False, signed[:32] + beyond.to_bytes(32, "little"), key, message
        for part in range(3):
            parts = [bytearray(item) for item in (signed, key, message)]
            if parts[part]:
                parts[part][rng.randrange(len(parts[part]))] ^= 1 << rng.randrange(8)
                yield False, bytes(parts[0]), bytes(parts[1]), bytes(parts[2])
        # Keys that are no points: p and more, and no root.
        for number in (P, P + 1, 2**255 - 1, 2):
            yield False, signed, number.to_bytes(32, "little"), message


def _program(folder: Path, compiler: list[str], suffix: str) -> Path:
    source = folder / f"program{suffix}"
    source.write_text(PROGRAM)
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    command = [*compiler, *warnings, f"-I{ROOT / 'native' / 'include'}", source, "-o", folder / "program"]
    subprocess.run(list(map(str, command)), check=True)
    return folder / "program"


def _agree(program: Path, emulator: list[str]) -> None:
    cases = list(_cases())
    assert sum(case[0] for case in cases) == len(VECTORS) + len(LENGTHS)
    lines = "".join(f"{'y' if right else 'n'} {s.hex()} {key.hex()} {m.hex() or '-'}\n" for right, s, key, m in cases)
    done = subprocess.run([*emulator, program], input=lines, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{len(cases)} lines\n"), done.stderr


def test_the_header_agrees_with_the_signer(tmp_path: Path) -> None:
    _agree(_program(tmp_path, ["cc", "-std=c99", "-O1", "-fsanitize=address,undefined"], ".c"), [])


@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_the_header_on_arm(abi: str, tmp_path: Path) -> None:
    _agree(_program(tmp_path, [f"{abi}-g++", "-std=c++11", "-O2"], ".cc"), QEMU[abi])


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    for name in ("lib/host/libx.so", "model/x.pb", "model/x.data", "model/host/x.pb", "model/x.pb_txt", "report/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_a_whole_build(lathe: Lathe, made: Path, tmp_path: Path) -> None:
    key = tmp_path / "release.key"
    result = lathe("sign", made, "--key", key, "--new-key", "--json")
    assert result.code == 0, result.stderr
    names = ("lib/host/libx.so", "model/host/x.pb", "model/x.data", "model/x.pb")
    assert result.document["written"] == [f"{made / name}.sig" for name in names]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    public = tmp_path / "release.key.pub"
    assert public.read_text().strip() == result.document["public_key"]
    result = lathe("verify", made, "--key", public, "--json")
    assert result.document["verified"] == [str(made / name) for name in names]
    assert lathe("sign", made, "--key", key).code == 0  # the signatures themselves are not signed
    assert len(list(made.rglob("*.sig"))) == len(names)

    (made / "model" / "x.pb").write_text("changed")
    (made / "model" / "x.data.sig").unlink()
    result = lathe("verify", made, "--key", public)
    assert result.code == 3
    assert f"{made}/model/x.pb: error: the signature does not fit this file" in result.stderr
    assert f"{made}/model/x.data: error: this file has no signature" in result.stderr
    assert "libx.so" not in result.stderr


def test_mistakes(lathe: Lathe, made: Path, tmp_path: Path) -> None:
    key, public = tmp_path / "release.key", tmp_path / "release.key.pub"
    assert "create one with --new-key" in lathe("sign", made, "--key", key).stderr
    key.write_text("too short")
    assert "this is not a private key" in lathe("sign", made, "--key", key).stderr
    assert "already exists" in lathe("sign", made, "--key", key, "--new-key").stderr
    key.unlink()
    assert "no such file" in lathe("sign", made / "lost.so", "--key", key, "--new-key").stderr
    (tmp_path / "empty").mkdir()
    assert "no libraries or models" in lathe("sign", tmp_path / "empty", "--key", key).stderr
    assert "the key file does not exist" in lathe("verify", made, "--key", tmp_path / "lost").stderr
    assert "this is not a public key" in lathe("verify", made, "--key", made / "model" / "x.pb").stderr
    assert lathe("sign", made, "--key", key).code == 0
    assert lathe("verify", made, "--key", public).code == 0
    other = tmp_path / "other.key"
    lathe("sign", made / "model" / "x.pb", "--key", other, "--new-key")
    assert "another key signed it" in lathe("verify", made, "--key", public).stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="OpenSSL's program is not here")
def test_openssl_verifies_and_its_keys_are_read(lathe: Lathe, made: Path, tmp_path: Path) -> None:
    private = Ed25519PrivateKey.generate()
    key, public = tmp_path / "release.pem", tmp_path / "public.pem"
    pem, kind = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    key.write_bytes(
        private.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )
    public.write_bytes(private.public_key().public_bytes(pem, kind))
    library = made / "lib" / "host" / "libx.so"
    assert lathe("sign", library, "--key", key).code == 0
    assert lathe("verify", library, "--key", public).code == 0
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
    command += ["-in", str(library), "-sigfile", f"{library}.sig"]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.slow
def test_a_program_loads_a_signed_library_only(lathe: Lathe, tmp_path: Path) -> None:
    """The example of the documentation."""
    page = (ROOT / "docs" / "reference" / "cpp-api.md").read_text()
    code = page[page.index("#include <dlfcn.h>") :].split("```", 1)[0]
    assert lathe("build", EXAMPLE / "deploy.yml", "--output", tmp_path, "--target-abis", "host").code == 0
    key = tmp_path / "release.key"
    result = lathe("sign", tmp_path / "digits", "--key", key, "--new-key", "--json")
    code = code.replace(
        "0x1f, 0x8a /* ... */", ", ".join(f"0x{b:02x}" for b in bytes.fromhex(result.document["public_key"]))
    )
    source = tmp_path / "program.cc"
    source.write_text(f"{code}\nint main(int, char** words) {{ return OpenSigned(words[1]) == nullptr; }}\n")
    include, program = ROOT / "native" / "include", tmp_path / "program"
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Werror", f"-I{include}", source, "-o", program, "-ldl"], check=True)
    library = tmp_path / "digits" / "lib" / "host" / "libdigits.so"
    assert subprocess.run([program, library], check=False).returncode == 0
    with library.open("ab") as file:
        file.write(b"\0")
    assert subprocess.run([program, library], check=False).returncode == 1
