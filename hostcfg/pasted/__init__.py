"""Raw output that somebody pasted, mailed or saved, read: the one door to this package.  Pure.

A text passes these rooms in this order::

    bytes    decoding.py  code page or UTF-16, by evidence; what can be no text is
                          refused (text.py)                                           -> text
    text     noise.py     mail quotes, log prefixes, escape sequences: taken off      -> lines
    lines    runs.py      cut at the prompts that prompts.py finds: a typed command
                          and what came out of it                                     -> runs
    runs     systems.py   parted where settings of several systems stand in one           -> runs
    runs     headings.py  a run without prompts cut where another output surely begins -> runs
    runs     blocks.py    a run without prompts cut where its content changes         -> runs
    runs     scores.py    every parser says how surely a run is its own (0..100), the
                          typed command adds points; the best one takes it            -> pieces
    pieces   split.py     goes through all this; a piece is a section, its parser and
                          the command; what nobody knows is handed back line by line  -> sections

Whoever reads a file begins with :func:`text_of`.  :func:`split_pasted` goes the rest of the way, and
``Platform.assemble`` makes facts of the sections, as of those that a probe brings.  :func:`parse_pasted`
has each piece parsed and merges what they say (results.py); :func:`remarks_on` tells what was left out of it.
"""

from __future__ import annotations

from hostcfg.pasted.decoding import decode_bytes
from hostcfg.pasted.remarks import remarks_on
from hostcfg.pasted.results import parse_pasted
from hostcfg.pasted.split import Pasted, Piece, split_pasted
from hostcfg.pasted.text import text_of

__all__ = ["Pasted", "Piece", "decode_bytes", "parse_pasted", "remarks_on", "split_pasted", "text_of"]
