"""The core: arrays in, arrays out, no input or output, no printing."""
