"""Models spelled in vectors that they keep: plain, bounded, of many kernels, ridge."""
