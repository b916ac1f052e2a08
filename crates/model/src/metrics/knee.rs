//! Metrics of a search for the knee. Everything else in the summary is that of the level nearest to it.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    USERS = gauge("knee.users", One, "users (connections, streams, or the value of the option that was raised) up to which requests do not queue, by the rule that was asked for; absent when there is no knee in the range");
    USERS_LOW = gauge("knee.users.low", One, "lower end of the 95 % interval of knee.users");
    USERS_HIGH = gauge("knee.users.high", One, "upper end of the 95 % interval of knee.users");
    MOST_PER_SECOND = gauge("knee.most_per_second", PerSecond, "highest throughput that lasts: the mean of the saturated levels");
    ALONE_SECONDS = gauge("knee.alone_seconds", Seconds, "mean response time at the lowest level");
    THINK_SECONDS = gauge("knee.think_seconds", Seconds, "pause between two requests of a user, which Little's law leaves at the lowest level");
    RESIDUAL_RATIO = gauge("knee.residual_ratio", Ratio, "largest distance from Little's law over the levels: throughput times (response time + pause) over users, minus 1; far from 0 the runs were too short or requests were lost from sight");
    HYSTERESIS_RATIO = gauge("knee.hysteresis_ratio", Ratio, "share by which at least two levels carried less on the way down than on the way up, beyond the spread of their runs");
    LEVELS = counter("knee.levels", One, "different numbers of users that were tried");
}
