"""A referee for certificates that shares nothing with the library: problems stated anew, and solved by a conic solver.

``objective`` and ``statements`` say what is minimised, ``conic_form`` and ``optimum`` find an interval that holds the
optimum, ``random_problems`` makes training problems from seeds, ``restated`` states them, and ``judge`` fits one and
says what is false about it. Both ``tests/test_certificate_fuzz.py`` and ``benchmarks/fuzz_certificates.py`` use it.
"""
