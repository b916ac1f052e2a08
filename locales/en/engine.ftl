# Messages of the controller, the agents and the workloads: notes, problems, events. Keys: engine-<place>-<meaning>.

engine-bus-notes-dropped = Samples came faster than they could be handed over: { $count } messages of this host were dropped at this point.
engine-bus-notes-dropped-missing = { $count } messages with samples, distributions or events
