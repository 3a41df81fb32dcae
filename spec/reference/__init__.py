"""Signature algorithms and hashes in plain Python, each from its standard alone.

They are slow and follow the text of the standard. ``verify.py``, in the folder above, judges bundles
with them; nothing here knows a bundle.
"""
