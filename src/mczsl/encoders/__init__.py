"""Pictures become features and sentences become attributes. Both need an extra; see the modules.

This layer may import :mod:`mczsl.data`; the data layer never imports this one, nor torch.
"""
