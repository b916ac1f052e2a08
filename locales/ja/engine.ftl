# Messages of the controller, the agents and the workloads: notes, problems, events. Keys: engine-<place>-<meaning>.

engine-bus-notes-dropped = 計測値の受け渡しが間に合わず、この時点でこのホストのメッセージ { $count } 件が失われました。
engine-bus-notes-dropped-missing = 計測値・分布・イベントを含むメッセージ { $count } 件
