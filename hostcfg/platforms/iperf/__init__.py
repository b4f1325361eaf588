"""Results of iperf3 and iperf 2: no operating system, only outputs that ``parse`` understands.

Every parser returns ``values["records"]``, one record a measurement (see ``measure``);
``records_csv`` prints them as CSV.
"""

from hostcfg.platforms.base import Parser
from hostcfg.platforms.iperf import iperf2_csv, iperf2_text, iperf3_json, iperf3_text
from hostcfg.platforms.iperf.csv_text import records_csv

PARSERS = tuple(
    Parser(module.KIND, "any", module.COMMAND, module.recognize, module.parse)
    for module in (iperf3_json, iperf3_text, iperf2_csv, iperf2_text)
)

__all__ = ["PARSERS", "records_csv"]
