"""Where a library runs: this machine, or an emulator of another one. Devices know programs and files, no models."""
