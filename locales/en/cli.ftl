# Messages of the command line. Keys: cli-<place>-<meaning>.

cli-phase-datagram = { $rate } delivered ({ $bits }), { $loss } lost
cli-interim = { $delivered } datagrams delivered, now { $bits }
cli-phase-answers = { $rate } answered, half within { $p50 }, 99 % within { $p99 }
