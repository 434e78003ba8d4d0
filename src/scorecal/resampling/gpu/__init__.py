"""What is different on a graphics processor: memory, half precision, fused tiles."""
