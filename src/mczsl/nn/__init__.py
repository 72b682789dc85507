"""The parts of networks that several papers share."""
