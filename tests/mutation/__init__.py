"""An adversary of our own: plausible faults put into copies of the code, and the tests that should see them."""
