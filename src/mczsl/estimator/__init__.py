"""The scikit-learn face of the methods: ``from mczsl import ZeroShotClassifier``."""
