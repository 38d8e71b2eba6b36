"""Finds whole C++ programs in pages of Paddle-Lite's documentation, which are text without marks of code."""

from __future__ import annotations

import re

#: As much of gflags as these programs need.
GFLAGS = """
#include <map>
#include <string>
namespace google {
inline std::map<std::string, std::string*>& Flags() { static std::map<std::string, std::string*> flags; return flags; }
struct Add { Add(const char* name, std::string* value) { Flags()[name] = value; } };
inline void ParseCommandLineFlags(int* count, char*** words, bool) {
  for (int i = 1; i < *count; ++i) {
    const std::string word = (*words)[i];
    const size_t end = word.find('=');
    *Flags().at(word.substr(2, end - 2)) = word.substr(end + 1);
  }
}
}
#define DEFINE_string(name, value, text) std::string FLAGS_##name = value; google::Add add_##name(#name, &FLAGS_##name)
"""

_START = re.compile(r"^#include <", re.MULTILINE)


def programs(page: str) -> list[str]:
    """From the first #include to the brace that closes `main`, where `paddle_api.h` is among the headers."""
    found = []
    at = 0
    while start := _START.search(page, at):
        main = re.compile(r"^int main\(.*$", re.MULTILINE).search(page, start.start())
        end = re.compile(r"^\}\n", re.MULTILINE).search(page, main.end()) if main else None
        if end is None:
            break
        text = page[start.start() : end.end()]
        at = end.end()
        if '"paddle_api.h"' in text:
            found.append(text)
    return found
