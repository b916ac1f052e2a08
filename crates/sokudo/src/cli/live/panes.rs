//! The full screen: what stands where, and what each pane shows.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Paragraph};
use sokudo_i18n::I18n;
use sokudo_model::settings::Commits;
use sokudo_model::{Unit, harmless, units};
use sokudo_report::text_columns;
use sokudo_stats::Histogram;

use super::course::{Moment, PhaseCourse};
use super::status;

/// Smallest terminal that holds it: columns and lines.
pub const SMALLEST: (u16, u16) = (100, 30);
/// Columns of the name of a label or host.
const NAME: usize = 24;
/// Columns of the table of labels.
const TABLE: u16 = 72;
/// Steps of the distribution per factor of ten.
const STEPS: f64 = 4.0;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, course: &PhaseCourse, i18n: &I18n, title: &str) {
    let area = frame.area();
    let labels = labels(course, i18n);
    let [head, charts, middle, below, keys] = Layout::vertical([
        Constraint::Length(4),
        Constraint::Fill(2),
        Constraint::Length(9),
        // The title and all rows, as long as charts can be read.
        Constraint::Length((labels.len() as u16 + 1).clamp(5, (area.height / 3).max(5))),
        Constraint::Length(1),
    ])
    .areas(area);
    let mut lines = vec![title.to_owned()];
    lines.extend(status::lines(course, i18n, area.width.into()));
    lines.truncate(4);
    frame.render_widget(Paragraph::new(lines.join("\n")), head);
    let [left, right] = halves(charts);
    rate(frame, left, course, i18n);
    latency(frame, right, course, i18n);
    let [left, right] = halves(middle);
    let waits = waits(course);
    let [right, far] = match waits.is_empty() {
        true => [right, Rect::default()],
        false => halves(right),
    };
    let rows = distribution(&course.latency, left.height.saturating_sub(2).into());
    pane(frame, left, i18n, "live-distribution", rows);
    pane(frame, right, i18n, "live-answers", answers(course, i18n));
    pane(frame, far, i18n, "live-waits", waits);
    let [left, right] = Layout::horizontal([Constraint::Length(TABLE), Constraint::Fill(1)])
        .spacing(1)
        .areas(below);
    let hosts = hosts(course, right.width.into());
    let settings = settings(course);
    let [right, last] = Layout::vertical([
        Constraint::Length(hosts.len() as u16 + 1),
        Constraint::Fill(1),
    ])
    .areas(right);
    pane(frame, left, i18n, "live-labels", labels);
    pane(frame, right, i18n, "live-hosts", hosts);
    if !settings.is_empty() {
        pane(frame, last, i18n, "live-settings", settings);
    }
    frame.render_widget(Line::from(i18n.message("live-keys", &[])).dim(), keys);
}

fn halves(area: Rect) -> [Rect; 2] {
    Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(area)
}

fn pane(frame: &mut Frame<'_>, area: Rect, i18n: &I18n, title: &str, rows: Vec<String>) {
    let block = Block::new()
        .borders(Borders::TOP)
        .title(format!(" {} ", i18n.message(title, &[])));
    frame.render_widget(Paragraph::new(rows.join("\n")).block(block), area);
}

type Points = Vec<(f64, f64)>;

fn rate(frame: &mut Frame<'_>, area: Rect, course: &PhaseCourse, i18n: &I18n) {
    let points = of(course, |moment| Some(moment.rate?.0));
    let unit = course.now().rate.map_or(Unit::PerSecond, |(_, unit)| unit);
    let drawn = [(points, Color::Cyan, "")];
    chart(frame, area, (i18n.message("live-rate", &[]), unit), &drawn);
}

fn latency(frame: &mut Frame<'_>, area: Rect, course: &PhaseCourse, i18n: &I18n) {
    let drawn = [
        (of(course, |it| it.p50_s), Color::Cyan, "p50"),
        (of(course, |it| it.p99_s), Color::Yellow, "p99"),
    ];
    let title = (i18n.message("live-latency", &[]), Unit::Seconds);
    chart(frame, area, title, &drawn);
}

fn of(course: &PhaseCourse, value: impl Fn(&Moment) -> Option<f64>) -> Points {
    let moments = course.moments.iter();
    moments
        .filter_map(|it| Some((it.at_s, value(it)?)))
        .collect()
}

fn chart(
    frame: &mut Frame<'_>,
    area: Rect,
    title: (String, Unit),
    drawn: &[(Points, Color, &str)],
) {
    let (title, unit) = title;
    let all = || drawn.iter().flat_map(|(points, ..)| points);
    let highest = all().map(|(_, value)| *value).fold(0.0, f64::max);
    let highest = if highest > 0.0 { highest * 1.05 } else { 1.0 };
    let last_s = all().map(|(at_s, _)| *at_s).fold(0.0, f64::max).max(1.0);
    let sets = drawn.iter().map(|(points, colour, name)| {
        Dataset::default()
            .name(*name)
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(*colour))
            .data(points)
    });
    let label = |value: f64| match value > 0.0 {
        true => units::human(value, unit),
        false => "0".to_owned(),
    };
    let block = Block::new()
        .borders(Borders::TOP)
        .title(format!(" {title} "));
    let chart = Chart::new(sets.collect())
        .block(block)
        .x_axis(Axis::default().bounds([0.0, last_s]).labels([
            "0 s".to_owned(),
            units::duration((last_s * 10.0).round() / 10.0),
        ]))
        .y_axis(Axis::default().bounds([0.0, highest]).labels([
            label(0.0),
            label(highest / 2.0),
            label(highest),
        ]));
    frame.render_widget(chart, area);
}

/// Latencies so far in steps of a factor, at most so many rows: the share of each as a bar.
fn distribution(latency: &Histogram, most: usize) -> Vec<String> {
    let step_of = |ns: u64| ((ns.max(1) as f64).log10() * STEPS).floor() as i32;
    let mut steps = std::collections::BTreeMap::<i32, u64>::new();
    for bucket in latency.buckets() {
        *steps.entry(step_of(bucket.low)).or_default() += bucket.count;
    }
    let (Some(low), Some(high)) = (steps.keys().next(), steps.keys().last()) else {
        return Vec::new();
    };
    // Rows take as many steps each as makes them fit.
    let span = (high - low + 1) as usize;
    let each = span.div_ceil(most.max(1)).max(1) as i32;
    let total = latency.len().max(1) as f64;
    let rows = (*low..=*high).step_by(each as usize).map(|from| {
        let count: u64 = steps.range(from..from + each).map(|(_, n)| n).sum();
        let until_s = 10f64.powf(f64::from(from + each) / STEPS) / 1e9;
        let share = count as f64 / total;
        format!(
            "< {:>7}  {}  {:>7}",
            units::duration(until_s),
            status::bar(share, 24),
            units::percent(share)
        )
    });
    rows.collect()
}

fn answers(course: &PhaseCourse, i18n: &I18n) -> Vec<String> {
    let counted = course.answers().into_iter().chain(course.failures());
    let mut rows: Vec<String> = Vec::new();
    for (metric, count) in counted {
        let row = format!(
            "{:>14}  {}",
            units::grouped(count),
            status::name(&metric, i18n)
        );
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

fn labels(course: &PhaseCourse, i18n: &I18n) -> Vec<String> {
    let [share, failed] = ["live-share", "live-failed"].map(|key| i18n.message(key, &[]));
    let right = |text: &str, width: usize| {
        let missing = width.saturating_sub(text_columns(text));
        format!("{}{text}", " ".repeat(missing))
    };
    let head = format!(
        "{:NAME$} {} {:>10} {:>9} {:>9} {}",
        "",
        right(&share, 6),
        "/s",
        "p50",
        "p99",
        right(&failed, 9),
    );
    let rows = course.mix.rows().into_iter().map(|row| {
        let name = format!("{} {}", row.host, status::label(&row, i18n));
        let failed = row.failed_per_s.map(|it| units::human(it, Unit::PerSecond));
        format!(
            "{} {} {:>9}",
            status::padded(&harmless(&name), NAME),
            status::figures(&row),
            failed.unwrap_or_default(),
        )
    });
    std::iter::once(head).chain(rows).collect()
}

/// Sessions on the database by what they do or wait for.
fn waits(course: &PhaseCourse) -> Vec<String> {
    let classes = course.waits();
    let all: f64 = classes.iter().map(|(_, n)| n).sum();
    let rows = classes
        .iter()
        .map(|(class, n)| format!("{class:<8} {n:>7.1}  {}", status::bar(n / all, 8)));
    rows.collect()
}

/// Settings of the database, `!` in front of those with which a crash may lose commits.
fn settings(course: &PhaseCourse) -> Vec<String> {
    let all = course.settings.all().into_iter();
    let rows = all.map(|setting| {
        let mark = match setting.commits {
            Some(Commits::AtRisk) => "! ",
            Some(Commits::Kept) | None => "",
        };
        harmless(&format!("{mark}{}", setting.text())).into_owned()
    });
    rows.collect()
}

fn hosts(course: &PhaseCourse, width: usize) -> Vec<String> {
    let bar = if width < 34 { 6 } else { 10 };
    let name_columns = width.saturating_sub(bar + 12).min(12);
    let rows = course.hosts().into_iter().map(|(host, cpu)| {
        let name = status::padded(&harmless(&host), name_columns);
        let share = units::percent((cpu * 100.0).round() / 100.0);
        format!("{name} CPU {} {share:>5}", status::bar(cpu, bar))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use sokudo_i18n::Lang;
    use sokudo_model::kinds::{dbt2, http, sql};
    use sokudo_model::metrics::{host, postgres};
    use sokudo_model::{Batch, HistogramInterval, Labels, Metric, SeriesKey};

    use super::*;

    fn key(metric: Metric, labels: &[(&str, &str)]) -> SeriesKey {
        let labels = labels.iter().map(|(k, v)| ((*k).into(), (*v).into()));
        SeriesKey {
            host: "hosta".into(),
            source: "http".into(),
            metric: metric.into(),
            labels: Labels::from_iter(labels),
        }
    }

    fn course() -> PhaseCourse {
        let mut course = PhaseCourse::default();
        course.begin("measure", 10_000_000_000);
        for second in 1..8 {
            let mut batch = Batch::default();
            let label = [("flow", "search")];
            let t_ns = second * 1_000_000_000;
            batch.push(&key(http::REQUESTS_PER_SECOND, &label), t_ns, 1000.0);
            batch.push(&key(http::LATENCY_P50_SECONDS, &label), t_ns, 0.001);
            batch.push(&key(http::LATENCY_P99_SECONDS, &label), t_ns, 0.004);
            batch.push(&key(http::STATUS_2XX, &label), t_ns, 900.0 * second as f64);
            batch.push(&key(http::TIMEOUTS, &label), t_ns, 7.0);
            batch.push(
                &key(host::CPU_RATIO, &[("state", "user"), ("core", "all")]),
                t_ns,
                0.5,
            );
            let mut latency = Histogram::new();
            latency.record_n(1_000_000, 900);
            latency.record_n(40_000_000, 100);
            batch.histograms.push(HistogramInterval {
                key: key(http::LATENCY_SECONDS, &label),
                t0_ns: t_ns - 1_000_000_000,
                t1_ns: t_ns,
                hdr_v2: latency.to_v2(),
            });
            course.take(&batch);
            course.elapsed(t_ns as u64);
        }
        course
    }

    fn drawn(course: &PhaseCourse, lang: Lang, (columns, lines): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a terminal");
        let i18n = I18n::new(lang);
        terminal
            .draw(|frame| draw(frame, course, &i18n, "sokudo http"))
            .expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn the_smallest_screen_shows_every_pane() {
        let text = drawn(&course(), Lang::En, SMALLEST);
        for shown in [
            "sokudo http",
            "7 s of 10 s",
            "1 k/s",
            "p99",
            "6.3 k",
            "2xx",
            "timed out",
            "search",
            "hosta",
            "CPU",
            "50 %",
            "90 %",
            "q stops",
        ] {
            let shown = if shown == "6.3 k" { "6 300" } else { shown };
            assert!(text.contains(shown), "no `{shown}`:\n{text}");
        }
    }

    #[test]
    fn a_mix_the_waits_of_the_database_and_its_settings_have_their_places() {
        let mut course = course();
        let mut batch = Batch::default();
        let of_kinds = [
            (dbt2::NEW_ORDER_SECONDS, 45),
            (dbt2::PAYMENT_SECONDS, 43),
            (dbt2::DELIVERY_SECONDS, 12),
        ];
        for (metric, n) in of_kinds {
            let mut latency = Histogram::new();
            latency.record_n(2_000_000, n);
            batch.histograms.push(HistogramInterval {
                key: key(metric, &[("flow", "postgres://h/db")]),
                t0_ns: 7_000_000_000,
                t1_ns: 8_000_000_000,
                hdr_v2: latency.to_v2(),
            });
        }
        let waiting = key(postgres::SESSIONS, &[("class", "Lock")]);
        batch.push(&waiting, 8_000_000_000, 6.5);
        let labels = [
            ("flow", "postgres://h/db"),
            ("name", "synchronous_commit"),
            ("value", "off"),
            ("commits", "at-risk"),
        ];
        batch.push(&key(sql::SETTING, &labels), 0, 1.0);
        course.take(&batch);
        course.elapsed(8_000_000_000);
        let text = drawn(&course, Lang::En, (120, 40));
        for shown in [
            "New-Order",
            "45 %",
            "43/s",
            "Lock",
            "6.5",
            "! synchronous_commit=off",
        ] {
            assert!(text.contains(shown), "no `{shown}`:\n{text}");
        }
        let lines = status::lines(&course, &I18n::new(Lang::En), 80).join("\n");
        for shown in ["New-Order", "45 %", "Lock 6.5"] {
            assert!(lines.contains(shown), "no `{shown}`:\n{lines}");
        }
    }

    #[test]
    fn nothing_to_show_and_any_size_are_fine() {
        for size in [(1, 1), (20, 5), (100, 30), (300, 90)] {
            for lang in Lang::ALL {
                drawn(&PhaseCourse::default(), lang, size);
                drawn(&course(), lang, size);
            }
        }
    }
}
