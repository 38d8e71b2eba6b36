"""Networks on emulated microcontrollers, beside another engine: `make bench-micro`."""
