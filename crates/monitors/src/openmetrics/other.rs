//! Reads what servers tell in forms of their own, as the samples of an exposition.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parse::{BadLine, Exposition, MAX_SAMPLES, Sample};

/// Reads the lines of nginx's `stub_status`. Errors: they are others.
///
/// ```text
/// Active connections: 291
/// server accepts handled requests
///  16630948 16630948 31070465
/// Reading: 6 Writing: 179 Waiting: 106
/// ```
pub(super) fn stub_status(text: &str) -> Result<Exposition, BadLine> {
    let bad = |line| BadLine {
        line,
        problem: "not that of stub_status",
    };
    let lines: Vec<&str> = text.lines().collect();
    let numbers = |line: usize| -> Result<Vec<f64>, BadLine> {
        let words = lines
            .get(line - 1)
            .ok_or(bad(line))?
            .split_ascii_whitespace();
        Ok(words
            .filter_map(|word| word.parse::<u64>().ok())
            .map(|n| n as f64)
            .collect())
    };
    let begins = lines
        .first()
        .is_some_and(|line| line.starts_with("Active connections:"));
    let ends = lines
        .get(3)
        .is_some_and(|line| line.starts_with("Reading:"));
    if !begins || !ends {
        return Err(bad(1));
    }
    let ([active], [accepts, handled, requests], [reading, writing, waiting]) =
        (&numbers(1)?[..], &numbers(3)?[..], &numbers(4)?[..])
    else {
        return Err(bad(3));
    };
    let samples = [
        ("active", active),
        ("accepts", accepts),
        ("handled", handled),
        ("requests", requests),
        ("reading", reading),
        ("writing", writing),
        ("waiting", waiting),
    ];
    Ok(Exposition::of(samples.map(|(name, value)| Sample {
        name: name.to_owned(),
        labels: BTreeMap::new(),
        value: *value,
    })))
}

/// Request to Jolokia for the numbers of these MBeans, all in one. A bean that is not there is no error.
pub(super) fn jolokia_request(beans: &[String]) -> String {
    let read = |bean: &String| json!({"type": "read", "mbean": bean, "config": {"ignoreErrors": true, "maxDepth": 2}});
    Value::Array(beans.iter().map(read).collect()).to_string()
}

/// Reads the answers of Jolokia: attributes as samples, properties of their bean as labels. Errors: it is
/// not such an answer.
pub(super) fn jolokia(text: &str) -> Result<Exposition, BadLine> {
    let bad = |problem| BadLine { line: 1, problem };
    let answers: Vec<Value> =
        serde_json::from_str(text).map_err(|_| bad("not a list of answers of Jolokia"))?;
    let mut samples = Vec::new();
    for answer in &answers {
        match answer.get("status").and_then(Value::as_i64) {
            Some(200) => {}
            // No such bean.
            Some(404) => continue,
            _ => return Err(bad("an answer of Jolokia with an error")),
        }
        let asked = answer.pointer("/request/mbean").and_then(Value::as_str);
        let (Some(asked), Some(Value::Object(told))) = (asked, answer.get("value")) else {
            return Err(bad("not an answer of Jolokia"));
        };
        // A pattern is answered with an object per bean, a name with its attributes.
        let is_pattern = asked.contains('*') || asked.contains('?');
        match is_pattern {
            true => {
                for (bean, attributes) in told {
                    numbers(&labels(bean), "", attributes, &mut samples);
                }
            }
            false => numbers(&labels(asked), "", &answer["value"], &mut samples),
        }
        if samples.len() > MAX_SAMPLES {
            return Err(bad("too many samples"));
        }
    }
    Ok(Exposition::of(samples))
}

/// Properties of a bean's name: `Catalina:type=ThreadPool,name="http-nio-8080"`.
fn labels(bean: &str) -> BTreeMap<String, String> {
    let (domain, properties) = bean.split_once(':').unwrap_or(("", bean));
    let pairs = properties
        .split(',')
        .filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()));
    pairs
        .chain([("domain".to_owned(), domain.to_owned())])
        .collect()
}

fn numbers(labels: &BTreeMap<String, String>, name: &str, value: &Value, out: &mut Vec<Sample>) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                let name = match name {
                    "" => part.clone(),
                    name => format!("{name}_{part}"),
                };
                numbers(labels, &name, value, out);
            }
        }
        _ => {
            // Jolokia 2 writes numbers as texts.
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
            out.extend(number.map(|value| Sample {
                name: name.to_owned(),
                labels: labels.clone(),
                value,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::one_sample;
    use super::*;

    fn told(read: &Exposition, term: &str) -> Option<f64> {
        read.sum_of(&one_sample(term).expect("a sample"))
    }

    #[test]
    fn the_lines_of_nginx_are_read() {
        let text = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630940 31070465 \n\
                    Reading: 6 Writing: 179 Waiting: 106 \n";
        let read = stub_status(text).expect("samples");
        assert_eq!(told(&read, "active"), Some(291.0));
        assert_eq!(told(&read, "handled"), Some(16_630_940.0));
        assert_eq!(told(&read, "waiting"), Some(106.0));
        for wrong in [
            "",
            "a 1\n",
            "Active connections: x\n\n1 2 3\nReading: 1 Writing: 2 Waiting: 3",
            "Active connections: 1\n\n1 2\nReading: 1 Writing: 2 Waiting: 3",
            "<html>",
        ] {
            assert!(stub_status(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn beans_become_samples_with_their_properties() {
        let text = r#"[
            {"request":{"mbean":"*:type=ThreadPool,*","type":"read"},"status":200,"value":{
              "Catalina:name=\"http-nio-8080\",type=ThreadPool":{"currentThreadsBusy":"3","maxThreads":200,"name":"x","running":true},
              "Catalina:name=\"ajp\",type=ThreadPool":{"currentThreadsBusy":1,"maxThreads":10}}},
            {"request":{"mbean":"a:type=Memory","type":"read"},"status":200,"value":{"Heap":{"used":5}}},
            {"request":{"mbean":"a:type=None"},"status":404,"error":"no"}]"#;
        let read = jolokia(text).expect("samples");
        assert_eq!(told(&read, "currentThreadsBusy"), Some(4.0));
        assert_eq!(
            told(&read, "maxThreads{name=\"http-nio-8080\"}"),
            Some(200.0)
        );
        assert_eq!(told(&read, "Heap_used{domain=\"a\"}"), Some(5.0));
        assert_eq!(told(&read, "running"), None);
        for wrong in [
            "",
            "{}",
            "[{}]",
            "[{\"status\":500}]",
            "[{\"status\":200,\"value\":3}]",
        ] {
            assert!(jolokia(wrong).is_err(), "{wrong}");
        }
    }
}
