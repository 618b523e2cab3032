"""The local web page (``hullrank app``); no mathematics.

The page runs the command itself, in a process of its own for every step: what it shows is what the command says, a stop
is a Ctrl-C, and a hostile table can neither reach nor end the server. Every visitor has a session with a folder of its
own inside one temporary folder, which is removed at the end.
"""
