"""What is minimised: problems as frozen dataclasses, and the certificate of an answer."""
