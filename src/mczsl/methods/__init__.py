"""One file for each system. ``get_method(name)`` imports just the one that is asked for."""

from mczsl.methods.registry import (
    available_methods,
    get_method,
    make_config,
    register_method,
    use_method,
)

__all__ = ["available_methods", "get_method", "make_config", "register_method", "use_method"]
