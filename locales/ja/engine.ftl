# Messages of the controller, the agents and the workloads: notes, problems, events. Keys: engine-<place>-<meaning>.
