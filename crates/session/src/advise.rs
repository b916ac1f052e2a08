//! Predicts replications, and chooses their settings by trials.
//!
//! ```text
//! a look at the source ─► probes ─► Inputs ─┬─► --dry-run: the prediction beside what would be done
//!                                         ├─► --predict: the prediction, then the replication
//!                                         └─► advise: all settings ─► the best three and the usual ones,
//!                                             tried in turns ─► the choice
//! ```

use sokudo_controller::{ControlError, Run};
use sokudo_load_replicate::replicate::ReplicateOptions;
use sokudo_load_replicate::replicate::advise::{
    self, Found, Probe, Sample, Settings, candidate, choose, durability, grid, rules, setting,
    usual, with,
};
use sokudo_load_replicate::replicate::trial::Trial as Part;
use sokudo_model::advice::{Advice, Candidate, Trial};
use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Labels, PhasePlan, PhaseRecord, Summary, Text};
use sokudo_replicate::predict::{Inputs, Setting, predict};
use sokudo_workload::Options;

use crate::bound_ns;

/// Role of phases that prepare a prediction or prove a choice.
const ROLE: &str = "advise";
/// Attempts at a probe that turns out to be too short.
const ATTEMPTS: u32 = 3;
/// Time that a trial of the best settings is to take.
const TRIAL_S: f64 = 1.5;
/// Least bytes of a trial.
const TRIAL_BYTES: f64 = 4e6;
/// Most bytes of a trial.
const TRIAL_BYTES_MAX: f64 = 2e9;
/// Settings that are tried beside the usual ones.
const TRIED: usize = 3;
/// Settings that a record keeps.
const KEPT: usize = 12;
/// Trials within this of the best one are as good.
const AS_GOOD: f64 = 1.03;

/// Knowledge before anything is replicated.
struct Known {
    inputs: Inputs,
    disk_is_guess: bool,
}

/// Runs a phase of one replication; labelled, it is not a result of its own.
fn phase(
    run: &mut Run,
    name: &str,
    options: &ReplicateOptions,
    labelled: bool,
) -> Result<PhaseRecord, ControlError> {
    let hosts = run.hosts().list().len() as u32;
    let label = labelled.then(|| ("role".to_owned(), ROLE.to_owned()));
    run.run_phase(PhasePlan {
        name: name.into(),
        workload: ReplicateOptions::NAME.into(),
        options: options.to_json(),
        flows: options.flows(hosts),
        duration_ns: 0,
        bound_ns: bound_ns(0, [ReplicateOptions::NAME]),
        labels: label.into_iter().collect::<Labels>(),
    })
}

/// Makes the probes.
fn know(
    run: &mut Run,
    options: &ReplicateOptions,
    sample: &Sample,
    writes: bool,
) -> Result<Known, ControlError> {
    let mut found = Found::default();
    for probe in Probe::ALL {
        for attempt in 1..=ATTEMPTS {
            let Some(probing) = probe.options(options, &found, writes) else {
                break;
            };
            let name = format!("{}-{attempt}", probe.name());
            run.doing(&Text::new("advise-doing-probe").word("step", &name));
            let record = phase(run, &name, &probing, true)?;
            found.add(probe, &record.result.summary);
            if !found.is_too_short(probe) {
                break;
            }
        }
    }
    let hosts = run.manifest().hosts.iter();
    let machines: Vec<_> = hosts.map(|host| host.machine.clone()).collect();
    let shared = matches!(machines.as_slice(), [Some(a), Some(b), ..] if a == b);
    Ok(Known {
        inputs: found.inputs(sample, options, shared, writes),
        disk_is_guess: !writes && options.target_path().is_some(),
    })
}

impl Known {
    /// The same for what a dry run found to be wanted.
    fn wanted(mut self, dry: &Summary) -> Self {
        let tree = &mut self.inputs.tree;
        tree.files = numbers::FILES_WRITTEN.of(dry).unwrap_or(tree.files);
        tree.bytes = numbers::RECEIVED_BYTES.of(dry).unwrap_or(tree.bytes);
        self
    }

    /// A prediction of these options alone.
    fn forecast(&self, options: &ReplicateOptions) -> Advice {
        Advice {
            basis: advise::basis(&self.inputs, self.disk_is_guess),
            candidates: vec![candidate(&self.inputs, &setting(options), options)],
            chosen: None,
            rules: Vec::new(),
            counts: (1, 0),
        }
    }
}

/// A dry run with the time that the replication would take.
pub fn dry_run(
    run: &mut Run,
    options: &ReplicateOptions,
    sample: &Sample,
) -> Result<(), ControlError> {
    let dry = phase(run, "measure", options, false)?;
    let known = know(run, options, sample, false)?;
    let advice = known.wanted(&dry.result.summary).forecast(options);
    let predicted_s = advice.candidates[0].predicted.seconds;
    let manifest = run.manifest_mut();
    let name = numbers::PREDICTED_SECONDS.name.to_owned();
    if let Some(phase) = manifest.phases.iter_mut().find(|it| it.name == dry.name) {
        phase.result.summary.insert(name, predicted_s);
        manifest.summary = phase.result.summary.clone();
    }
    manifest.advice = Some(advice);
    Ok(())
}

/// A replication whose time is predicted first.
pub fn predicted(
    run: &mut Run,
    options: &ReplicateOptions,
    sample: &Sample,
) -> Result<(), ControlError> {
    let known = know(run, options, sample, true)?;
    let looks = ReplicateOptions {
        dry_run: true,
        delete: false,
        max_delete: None,
        ..options.clone()
    };
    let dry = phase(run, "probe-wanted", &looks, true)?;
    let advice = known.wanted(&dry.result.summary).forecast(options);
    let predicted_s = advice.candidates[0].predicted.seconds;
    run.manifest_mut().advice = Some(advice);
    let with = ReplicateOptions {
        predicted_s: Some(predicted_s),
        ..options.clone()
    };
    let measured = phase(run, "measure", &with, false)?;
    run.manifest_mut().summary = measured.result.summary;
    Ok(())
}

/// Predicts all settings, tries the best ones, and chooses.
pub fn choice(
    run: &mut Run,
    options: &ReplicateOptions,
    sample: &Sample,
    rounds: u32,
) -> Result<ReplicateOptions, ControlError> {
    let sample_run = know(run, options, sample, true)?;
    let inputs = &sample_run.inputs;
    let all = grid(inputs, durability(options), setting(options).buffer_bytes);
    let rules = rules(inputs, &all);
    let counts = all.len() as u32;
    let ranked = choose(all);
    let tried = to_try(&ranked, options);
    let trials = try_out(run, options, (inputs, sample), &tried, rounds)?;
    let mut candidates: Vec<Candidate> = tried
        .iter()
        .map(|it| candidate(inputs, it, options))
        .collect();
    for (candidate, trials) in candidates.iter_mut().zip(trials) {
        candidate.trials = trials;
        calibrate(candidate);
    }
    let chosen = proven(&candidates);
    let others = ranked.iter().filter(|(other, _)| !tried.contains(other));
    let others = others.map(|(other, _)| candidate(inputs, other, options));
    candidates.extend(others.take(KEPT));
    let tries = tried.len() as u32;
    let manifest = run.manifest_mut();
    manifest.advice = Some(Advice {
        basis: advise::basis(inputs, sample_run.disk_is_guess),
        candidates,
        chosen: Some(chosen),
        rules,
        counts: (counts, tries),
    });
    Ok(with(options, &tried[chosen]))
}

/// The best settings, those that are best with another level and with another number of connections, and the
/// usual ones.
fn to_try(ranked: &Settings, options: &ReplicateOptions) -> Vec<Setting> {
    let Some((first, _)) = ranked.first() else {
        return vec![setting(&usual(options))];
    };
    let mut tried = vec![*first];
    let other_level = ranked.iter().find(|(it, _)| it.level != first.level);
    let others = ranked
        .iter()
        .find(|(it, _)| it.connections != first.connections);
    let rest = other_level.into_iter().chain(others).chain(ranked.iter());
    for (next, _) in rest {
        if tried.len() < TRIED && !tried.contains(next) {
            tried.push(*next);
        }
    }
    tried.push(setting(&usual(options)));
    tried
}

/// Tries settings in turns on a part of the source.
fn try_out(
    run: &mut Run,
    options: &ReplicateOptions,
    (inputs, sample): (&Inputs, &Sample),
    tried: &[Setting],
    rounds: u32,
) -> Result<Vec<Vec<Trial>>, ControlError> {
    let best = predict(inputs, &tried[0]);
    let bytes = (best.bytes_per_s(&inputs.tree) * TRIAL_S).clamp(TRIAL_BYTES, TRIAL_BYTES_MAX);
    let (share, most_bytes) = sample.part(bytes);
    let mut trials = vec![Vec::new(); tried.len()];
    for round in 0..rounds as usize {
        for place in 0..tried.len() {
            // The first of one round is the last of the next.
            let place = match round % 2 {
                0 => place,
                _ => tried.len() - 1 - place,
            };
            let trying = ReplicateOptions {
                trial: Some(Part { share, most_bytes }),
                whole_file: true,
                delete: false,
                max_delete: None,
                checksum: false,
                ..with(options, &tried[place])
            };
            let name = format!("trial-{}-{}", round + 1, place + 1);
            run.doing(&Text::new("advise-doing-trial").word("trial", &name));
            let record = phase(run, &name, &trying, true)?;
            trials[place].extend(trial(inputs, &tried[place], &record.result.summary));
        }
    }
    Ok(trials)
}

fn trial(inputs: &Inputs, setting: &Setting, totals: &Summary) -> Option<Trial> {
    let mut part = inputs.clone();
    part.tree.files = numbers::FILES_WRITTEN.of(totals)?;
    part.tree.bytes = numbers::RECEIVED_BYTES.of(totals)?;
    Some(Trial {
        bytes: part.tree.bytes,
        predicted_s: predict(&part, setting).seconds,
        measured_s: numbers::ELAPSED_SECONDS.of(totals)?,
    })
}

/// Corrects the prediction of the whole by what trials took; its range holds both.
fn calibrate(candidate: &mut Candidate) {
    let Some(ratio) = candidate.measured_over_predicted() else {
        return;
    };
    let predicted = &mut candidate.predicted;
    let corrected = predicted.seconds * ratio.clamp(0.5, 2.0);
    predicted.low_s = predicted.low_s.min(corrected * 0.96);
    predicted.high_s = predicted.high_s.max(corrected * 1.04);
    predicted.bytes_per_s *= predicted.seconds / corrected;
    predicted.seconds = corrected;
}

/// The first of the tried settings that is as good as the best of them.
fn proven(candidates: &[Candidate]) -> usize {
    let rate = |candidate: &Candidate| candidate.measured_bytes_per_s().unwrap_or(0.0);
    let best = candidates.iter().map(rate).fold(0.0, f64::max);
    let is_good = |candidate: &Candidate| rate(candidate) * AS_GOOD >= best;
    candidates.iter().position(is_good).unwrap_or(0)
}
