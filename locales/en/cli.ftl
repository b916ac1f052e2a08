# Messages of the command line. Keys: cli-<place>-<meaning>.

cli-phase-datagram = { $rate } delivered ({ $bits }), { $loss } lost
cli-interim = { $delivered } datagrams delivered, now { $bits }
cli-phase-answers = { $rate } answered, half within { $p50 }, 99 % within { $p99 }

## Load curves
cli-sweep = sweep of { $n } steps, { $option } from { $first } to { $last }: about { $total }
cli-sweep-counted = sweep of { $n } steps, { $option } from { $first } to { $last }: until each has reached its count
