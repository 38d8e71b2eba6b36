"""Turns the JSON documents that commands print into tables for people. Knows documents only, no stages."""
