"""Results of iperf3 and iperf 2."""
