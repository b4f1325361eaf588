"""The page of a fleet read: results to plain values (``page``), which :mod:`hostcfg.outputs.html` draws."""
