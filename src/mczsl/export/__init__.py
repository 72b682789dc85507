"""Models for other programs: ``mczsl export onnx``."""
