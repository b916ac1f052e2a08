//! Section: the findings with their evidence.

use sokudo_model::units::human;
use sokudo_model::{Evidence, Finding, PhaseRecord, Series, Text, metric};

use crate::block::{Block, Conclusion, Phrase, Proof};
use crate::chart;
use crate::view::View;

/// Points of a sparkline.
const SPARK_POINTS: usize = 64;

/// One finding per rule with its evidence, strongest first, the others folded away; a sentence
/// when there are none.
pub fn blocks(view: &View) -> Vec<Block> {
    let findings = &view.record.findings;
    if findings.is_empty() {
        return vec![Block::Paragraph(Text::new("report-why-none").into())];
    }
    let chosen = chosen(view);
    let split = |wanted: bool| -> Vec<Conclusion> {
        let all = findings.iter().enumerate();
        all.filter(|(i, _)| chosen.contains(i) == wanted)
            .map(|(_, f)| conclusion(view, f))
            .collect()
    };
    let mut out = vec![Block::Conclusions(split(true))];
    let tests = view.record.manifest.proofs.iter();
    out.extend(tests.map(|proof| Block::Paragraph(sokudo_analyze::tested(proof).into())));
    let rest = split(false);
    if !rest.is_empty() {
        out.push(Block::Details {
            title: Text::new("report-why-more")
                .word("n", rest.len().to_string())
                .into(),
            open: false,
            blocks: vec![Block::Conclusions(rest)],
        });
    }
    out
}

/// Of each rule, the finding about the phase that the numbers describe, else the strongest one.
fn chosen(view: &View) -> Vec<usize> {
    let findings = &view.record.findings;
    let subject = view.subject().map(|p| p.name.as_str());
    let mut rules: Vec<&str> = Vec::new();
    for finding in findings {
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let of_rule = |rule: &str| {
        let about = |f: &&Finding| f.rule == rule && Some(f.phase.as_str()) == subject;
        let subject = findings.iter().position(|f| about(&f));
        subject.or_else(|| findings.iter().position(|f| f.rule == rule))
    };
    rules.into_iter().filter_map(of_rule).collect()
}

fn conclusion(view: &View, finding: &Finding) -> Conclusion {
    let phases = &view.record.manifest.phases;
    let phase = phases.iter().find(|p| p.name == finding.phase);
    Conclusion {
        severity: finding.severity,
        phase: finding.phase.clone(),
        rule: finding.rule.clone(),
        says: finding.says.clone().into(),
        proofs: finding
            .evidence
            .iter()
            .map(|e| proof(view, e, phase))
            .collect(),
        next: finding.next.clone().map(Phrase::Text),
    }
}

fn proof(view: &View, evidence: &Evidence, phase: Option<&PhaseRecord>) -> Proof {
    let (spark, peak) = course(view, evidence, phase).unwrap_or_default();
    Proof {
        says: evidence.says.clone().into(),
        source: evidence.source.clone(),
        spark,
        peak,
    }
}

/// The course of the evidence's metric during the phase, scaled to 0…1, and its highest value.
fn course(
    view: &View,
    evidence: &Evidence,
    phase: Option<&PhaseRecord>,
) -> Option<(Vec<Option<f64>>, String)> {
    let name = evidence.metric.as_deref()?;
    let series: Vec<&Series> = view
        .record
        .series_of(name)
        .filter(|s| wanted(s, evidence))
        .collect();
    let (t0, t1) = phase.map_or((0, view.end_ns()), |p| (p.t0_ns, p.t1_ns));
    let step = series
        .iter()
        .filter_map(|s| chart::usual_step(&s.points))
        .min()?;
    // A little wider than the usual step, so that no cell stays empty between two samples.
    let columns = ((t1 - t0) / (step + step / 16).max(1)).clamp(1, SPARK_POINTS as i64);
    let mut cells: Vec<Option<f64>> = vec![None; columns as usize];
    let width = ((t1 - t0) / columns).max(1);
    for one in &series {
        for (t, value) in inside(one, t0, t1) {
            let column = ((t - t0) / width).clamp(0, columns - 1) as usize;
            cells[column] = Some(cells[column].map_or(value, |v: f64| v.max(value)));
        }
    }
    let known = cells.iter().flatten().count();
    let high = cells.iter().flatten().copied().fold(0.0, f64::max);
    if known < 3 || high <= 0.0 {
        return None;
    }
    let scaled = cells.into_iter().map(|v| v.map(|v| v / high)).collect();
    Some((scaled, human(high, metric::unit_of(name))))
}

fn wanted(series: &Series, evidence: &Evidence) -> bool {
    let host = evidence.host.as_deref();
    host.is_none_or(|h| h == series.key.host)
        && evidence
            .labels
            .iter()
            .all(|(name, value)| series.key.labels.get(name) == Some(value))
}

/// Points of a series inside a phase.
fn inside(series: &Series, t0: i64, t1: i64) -> impl Iterator<Item = (i64, f64)> + '_ {
    series
        .points
        .iter()
        .copied()
        .filter(move |(t, v)| (t0..=t1).contains(t) && v.is_finite())
}
