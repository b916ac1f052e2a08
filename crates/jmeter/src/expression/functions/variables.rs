//! Functions for variables, properties and facts about the run.

use super::FunctionCall;
use crate::expression::{Fact, FunctionFault, parse};

/// `__P(property, [default])`: "1" if the property is not set and there is no default, as in
/// JMeter. Without blanks around it.
pub(super) fn p(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let mut value = String::new();
    if !frame.world.write_property(&name, &mut value) {
        match frame.len() {
            1 => value.push('1'),
            _ => value.push_str(&frame.argument(1)?),
        }
    }
    frame.out.push_str(value.trim());
    Ok(())
}

/// `__property(property, [variable], [default])`: its own name if the property is not set and there
/// is no default. Without blanks around it.
pub(super) fn property(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let mut value = String::new();
    if !frame.world.write_property(&name, &mut value) {
        let default = match frame.len() {
            1 | 2 => name,
            _ => frame.argument(2)?,
        };
        value.push_str(&default);
    }
    let value = value.trim();
    let variable = frame.argument(1)?;
    if !variable.is_empty() {
        frame.world.set_variable(&variable, value);
    }
    frame.out.push_str(value);
    Ok(())
}

/// `__setProperty(property, value, [true: return the old value])`.
pub(super) fn set_property(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (name, value) = (frame.argument(0)?, frame.argument(1)?);
    let returns_old = frame.argument(2)?.eq_ignore_ascii_case("true");
    if returns_old && !frame.world.write_property(&name, frame.out) {
        // The text of what is not there.
        frame.out.push_str("null");
    }
    frame.world.set_property(&name, &value);
    Ok(())
}

/// `__isPropDefined(property)`.
pub(super) fn is_property(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let is = frame.world.write_property(&name, &mut String::new());
    frame.out.push_str(if is { "true" } else { "false" });
    Ok(())
}

/// `__isVarDefined(variable)`.
pub(super) fn is_variable(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let is = frame.world.variable(&name).is_some();
    frame.out.push_str(if is { "true" } else { "false" });
    Ok(())
}

/// `__V(variable, [default])`: a variable whose name is an expression.
pub(super) fn v(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    match frame.world.variable(&name) {
        Some(value) => frame.out.push_str(value),
        None if frame.len() == 1 => frame.out.push_str(&name),
        None => {
            let default = frame.argument(1)?;
            frame.out.push_str(&default);
        }
    }
    Ok(())
}

/// `__eval(text)`: renders the expressions in the value of the argument.
pub(super) fn eval(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    evaluate(frame, &text)
}

/// `__evalVar(variable)`: renders the expressions in the value of the variable.
pub(super) fn eval_var(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let text = frame.world.variable(&name).unwrap_or_default().to_owned();
    evaluate(frame, &text)
}

fn evaluate(frame: &mut FunctionCall<'_>, text: &str) -> Result<(), FunctionFault> {
    let mut site = frame.call.site;
    let parsed = parse(text, &mut site).map_err(|e| frame.fault(e.to_string()))?;
    let depth = frame.depth + 1;
    let fault = parsed.template.render_at(frame.world, frame.out, depth)?;
    frame.inner = frame.inner.take().or(fault);
    Ok(())
}

/// `__RandomFromMultipleVars(a|b|c, [variable])`: a value of one of the variables, where each value
/// of those with several (`a_1`, `a_2` …) is equally likely.
pub(super) fn random_from(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let names = frame.word(0)?;
    let mut values: Vec<String> = Vec::new();
    for name in names.split('|') {
        let value = |name: &str| frame.world.variable(name).map(str::to_owned);
        match value(&format!("{name}_matchNr")).and_then(|n| n.parse::<u32>().ok()) {
            Some(count) if count > 0 => {
                let several = (1..=count.min(100_000)).map(|i| value(&format!("{name}_{i}")));
                values.extend(several.flatten());
            }
            _ => values.extend(value(name).filter(|value| !value.is_empty())),
        }
    }
    let drawn = frame.random().below(values.len() as u64) as usize;
    let value = values.get(drawn).map_or("", String::as_str);
    frame.give(1, value)
}

/// `__threadNum()`: number of the user within its group.
pub(super) fn user_number(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::UserNumber)
}

/// `__threadGroupName()`.
pub(super) fn group_name(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::GroupName)
}

/// `__TestPlanName()`: the file name.
pub(super) fn plan_name(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::PlanName)
}

/// `__samplerName([variable])`.
pub(super) fn sampler_name(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::SamplerName)
}

/// `__machineName([variable])`.
pub(super) fn machine_name(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::HostName)
}

/// `__machineIP([variable])`.
pub(super) fn machine_ip(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    fact(frame, Fact::HostAddress)
}

fn fact(frame: &mut FunctionCall<'_>, fact: Fact) -> Result<(), FunctionFault> {
    if frame.word(0)?.is_empty() {
        frame.world.write_fact(fact, frame.out);
        return Ok(());
    }
    let mut value = String::new();
    frame.world.write_fact(fact, &mut value);
    frame.give(0, &value)
}
