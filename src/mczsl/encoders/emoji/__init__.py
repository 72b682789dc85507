"""How the embedded dataset ``emoji`` is made; :func:`~mczsl.encoders.emoji.build.build` does it.

Needs the extras ``images``, ``text`` and ``emoji-build``, and the program ``npm``. Reading the
finished dataset (:mod:`mczsl.data.emoji`) needs none of them.
"""
