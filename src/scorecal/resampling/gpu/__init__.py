"""Computation on GPUs: memory, half precision, fused tiles."""
