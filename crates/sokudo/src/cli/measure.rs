//! Options that say how a load is measured, and from which hosts.

use clap::Args;
use sokudo_controller::{ControlError, KneeRange, Run, Sweep};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::Bounds;
use sokudo_session::{How, KneeAsked, Measurement, Versus};
use sokudo_stats::capacity::record::Rule as KneeRule;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Failure;
use super::key::KeyText;
use super::screen::tell;
use super::setting_knobs::SettingKnobs;

/// The rule that gives the answer of --knee.
#[derive(Debug, Clone, Default, Args)]
pub struct RuleArgs {
    /// What the answer of --knee is: `bound` (where the throughput without queues meets the highest),
    /// `kneedle` (where it bends), `cpu80` (where the server's CPU reaches so many percent), `slo`
    /// (the most with which --slo is kept).
    #[arg(
        long,
        value_name = "RULE",
        requires = "knee",
        default_value = "bound",
        hide_default_value = true
    )]
    pub rule: KneeRule,

    /// Set limits in front of the knee on a sokudo target: threads = pool = the users of the knee, twice
    /// as many connections. Then check them with 1.5 times the users, and put the old values back.
    #[arg(long, requires = "knee")]
    pub protect: bool,
}

/// How a load is measured: once, several times, swept or searched.
#[derive(Debug, Clone, Default, Args)]
pub struct MeasureArgs {
    /// Measure so many times, one run after the other, and tell the median of the runs with the
    /// interval that holds it: from 6 runs on with 95 % confidence.
    #[arg(long, value_name = "N", conflicts_with_all = ["find", "sweep", "knee"], value_parser = clap::value_parser!(u32).range(2..=100))]
    repeat: Option<u32>,

    /// Measure once per value of an option, and find the knee: `rate=1k/s..10k/s:10` (ten equal
    /// steps), `rate=1k/s..64k/s:x2` (doubling), `size=64,1KiB,16KiB`. Any option of this test can
    /// be varied.
    #[arg(long, value_name = "OPTION=VALUES", conflicts_with_all = ["find", "knee"])]
    sweep: Option<Sweep>,

    /// Raise an option from LOW to HIGH, such as `connections=1..200`, up and down again, and find
    /// the knee: the number from which requests queue. See `sokudo knee --help`.
    #[arg(long, value_name = "OPTION=LOW..HIGH", conflicts_with = "find")]
    knee: Option<KneeRange>,

    #[command(flatten)]
    rule: RuleArgs,

    /// Measure with and without a change of one option, four times each in turns, and tell what it does:
    /// `rcvbuf=4MiB`, or `nagle=` to leave an option out. Of a sokudo target that is loaded also a knob:
    /// `target.pool.max=50`; of a database server a setting: `setting.commit_delay=200`.
    #[arg(long, value_name = "OPTION=VALUE", conflicts_with_all = ["find", "sweep", "knee", "repeat", "slo"])]
    versus: Option<Versus>,

    /// Allow a setting of --versus with which a crash of the server may lose commits or damage data, such as
    /// `setting.innodb_flush_log_at_trx_commit=2`.
    #[arg(long, requires = "versus")]
    allow_unsafe: bool,

    /// Search the highest rate that keeps bounds, and confirm it by a fresh run: `p99<1ms`,
    /// `p99<1ms,errors<0.1%`, `loss<0.1%`.
    #[arg(long, value_name = "BOUNDS")]
    find: Option<Bounds>,

    /// What the measurement must keep, `p95<2s,errors<0.1%`: a broken bound is a failed check, and
    /// the exit code 1.
    #[arg(long, value_name = "BOUNDS", conflicts_with_all = ["find", "sweep"])]
    slo: Option<Bounds>,

    /// How far apart the flows may begin, `2ms`: a measurement that exceeds it is repeated up to twice,
    /// and then fails a check. Between hosts the clock error comes on top.
    #[arg(long, value_name = "TIME")]
    max_skew: Option<Span>,

    /// Let nothing but the load travel while it goes on: the hosts keep what they record until it is
    /// over, and one that freezes is noticed then.
    #[arg(long)]
    quiet_phase: bool,
}

/// Hosts that generate the load on a server outside the run.
#[derive(Debug, Clone, Default, Args)]
pub struct Generators {
    /// Load from these hosts instead of this one, all at the same moment: `hostb` where
    /// `sokudo serve` runs, `lab/hostb` of a group, `lab/*` for all of it. May be given several
    /// times, or as a list with commas. The policy of each host decides whether it takes part.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub on: Vec<String>,

    /// Key that `sokudo serve` printed on those hosts.
    #[arg(long, env = "SOKUDO_KEY", value_name = "KEY", hide_env_values = true)]
    pub key: Option<KeyText>,
}

impl MeasureArgs {
    /// True when there is to be more than one phase.
    pub fn is_asked(&self) -> bool {
        self.repeat.is_some()
            || self.sweep.is_some()
            || self.find.is_some()
            || self.knee.is_some()
            || self.versus.is_some()
    }

    /// Whether knobs of the loaded target are to be changed.
    pub fn changes_knobs(&self) -> bool {
        self.rule.protect || self.versus.as_ref().is_some_and(Versus::is_of_target)
    }

    /// The setting of the loaded database server that is to be changed, and what may change it.
    ///
    /// Errors: it is none, or a crash may lose commits with it, and that is not allowed.
    pub fn changed_setting<O: Options>(
        &self,
        options: &O,
        lang: Lang,
    ) -> Result<Option<SettingKnobs>, Failure> {
        let change = self.versus.as_ref();
        let change = change.and_then(|change| Some((change.setting()?, change)));
        let (Some(change), Some(database)) = (change, options.database()) else {
            return Ok(None);
        };
        let i18n = I18n::new(lang);
        let knobs = SettingKnobs::of(database, change, self.allow_unsafe, &i18n)?;
        Ok(Some(knobs))
    }

    /// Checks everything that can be checked before a host is called.
    pub fn plan<O: Options>(&self, options: &O) -> Result<Measurement<O>, Failure> {
        let how = How {
            repeat: self.repeat,
            sweep: self.sweep.clone(),
            find: self.find.clone(),
            versus: self.versus.clone(),
            knee: self.knee.clone().map(|range| KneeAsked {
                range,
                rule: self.rule.rule,
                protects: self.rule.protect,
            }),
            slo: self.slo.clone(),
            max_skew_ns: self.max_skew.map(|most| most.0),
            quiet_phases: self.quiet_phase,
        };
        Ok(Measurement::new(options, &how)?)
    }
}

/// Carries a measurement out, and says before how long repeated runs or a sweep will take.
pub fn measure<O: Options>(
    planned: Measurement<O>,
    run: &mut Run,
    lang: Lang,
) -> Result<(), ControlError> {
    if let Some(says) = planned.announcement() {
        tell(&I18n::new(lang).text(&says));
    }
    planned.measure(run)
}
