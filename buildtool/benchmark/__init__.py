"""How fast a library is: measured on a device, or counted in an emulator."""
