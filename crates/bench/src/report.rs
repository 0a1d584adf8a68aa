//! Figures, each beside its floor and its target, as a table and as JSON.

use std::{fmt::Write, fs};

use serde_json::{Value, json};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Count,
    Milliseconds,
    Seconds,
    Mebibytes,
}

impl Unit {
    const fn word(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Mebibytes => "MiB",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Count if value.fract() == 0.0 => format!("{value}"),
            Self::Count => format!("{value:.2}"),
            _ => format!("{value:.2} {}", self.word()),
        }
    }
}

/// The most that a figure, or its ratio to the floor, may be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Value(f64),
    Ratio(f64),
}

/// What the same work costs without the product.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Floor {
    name: &'static str,
    value: f64,
}

/// One measured number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: Unit,
    floor: Option<Floor>,
    target: Option<Target>,
}

impl Figure {
    fn new(name: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            floor: None,
            target: None,
        }
    }

    /// A number of things, also per object.
    pub(crate) fn count(name: impl Into<String>, value: f64) -> Self {
        Self::new(name, value, Unit::Count)
    }

    /// A duration, given in seconds.
    pub(crate) fn seconds(name: impl Into<String>, seconds: f64) -> Self {
        Self::new(name, seconds, Unit::Seconds)
    }

    /// A short duration, given in seconds.
    pub(crate) fn milliseconds(name: impl Into<String>, seconds: f64) -> Self {
        Self::new(name, seconds * 1000.0, Unit::Milliseconds)
    }

    /// An amount of memory or storage.
    #[expect(
        clippy::cast_precision_loss,
        reason = "amounts of memory are far below the limit of exactness"
    )]
    pub(crate) fn bytes(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes as f64 / f64::from(1 << 20), Unit::Mebibytes)
    }

    /// Puts a floor beside the figure, in the unit that the figure was given in.
    pub(crate) fn against(mut self, name: &'static str, value: f64) -> Self {
        let value = match self.unit {
            Unit::Milliseconds => value * 1000.0,
            _ => value,
        };
        self.floor = Some(Floor { name, value });
        self
    }

    /// The value may be at most this.
    pub(crate) const fn at_most(mut self, value: f64) -> Self {
        self.target = Some(Target::Value(value));
        self
    }

    /// The ratio to the floor may be at most this.
    pub(crate) const fn at_most_times(mut self, ratio: f64) -> Self {
        self.target = Some(Target::Ratio(ratio));
        self
    }

    fn ratio(&self) -> Option<f64> {
        let floor = self.floor.filter(|floor| floor.value > 0.0)?;
        Some(self.value / floor.value)
    }

    /// Whether the target is met; nothing if there is none. A ratio to nothing is met by nothing.
    fn is_met(&self) -> Option<bool> {
        Some(match self.target? {
            Target::Value(most) => self.value <= most,
            Target::Ratio(most) => self.ratio().is_some_and(|ratio| ratio <= most),
        })
    }

    fn row(&self) -> [String; 5] {
        let floor = self.floor.map_or_else(String::new, |floor| {
            format!("{} {}", floor.name, self.unit.show(floor.value))
        });
        let ratio = self
            .ratio()
            .map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let target = match self.target {
            None => String::new(),
            Some(Target::Value(most)) => format!("≤ {}", self.unit.show(most)),
            Some(Target::Ratio(most)) => format!("≤ {most} × floor"),
        };
        let verdict = match self.is_met() {
            None => "",
            Some(true) => " ok",
            Some(false) => " MISSED",
        };
        [
            self.name.clone(),
            self.unit.show(self.value),
            floor,
            ratio,
            target + verdict,
        ]
    }

    fn json(&self) -> Value {
        let mut figure = json!({"name": self.name, "value": self.value, "unit": self.unit.word()});
        if let Some(floor) = self.floor {
            figure["floor"] =
                json!({"name": floor.name, "value": floor.value, "ratio": self.ratio()});
        }
        let target = self.target.map(|target| match target {
            Target::Value(most) => ("value", most),
            Target::Ratio(most) => ("ratio", most),
        });
        if let Some((of, most)) = target {
            figure["target"] = json!({"of": of, "atMost": most, "met": self.is_met()});
        }
        figure
    }
}

/// Figures that belong together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// Heading.
    pub(crate) title: String,
    /// What the figures include.
    pub(crate) notes: Vec<String>,
    /// The figures.
    pub(crate) figures: Vec<Figure>,
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Processors of the machine.
    processors: usize,
    /// What else the machine did when the run began: processes that want a processor, over the last minute.
    load: f64,
    /// Results.
    pub(crate) sections: Vec<Section>,
}

impl Report {
    /// An empty report that knows the machine.
    pub(crate) fn begin() -> Self {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            load: load
                .split_whitespace()
                .next()
                .and_then(|minute| minute.parse().ok())
                .unwrap_or_default(),
            sections: Vec::new(),
        }
    }

    /// Whether no target is missed.
    pub(crate) fn is_met(&self) -> bool {
        let mut figures = self.sections.iter().flat_map(|section| &section.figures);
        figures.all(|figure| figure.is_met() != Some(false))
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{} processors, load {:.2} at the beginning\n",
            self.processors, self.load
        );
        for section in &self.sections {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}\n", section.title);
            for note in &section.notes {
                let _ = writeln!(text, "  {note}");
            }
            if section.figures.is_empty() {
                continue;
            }
            let head = ["figure", "value", "floor", "ratio", "target"].map(str::to_owned);
            let rows: Vec<[String; 5]> = std::iter::once(head)
                .chain(section.figures.iter().map(Figure::row))
                .collect();
            text.push_str(&aligned(&rows));
        }
        text
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let sections = self.sections.iter().map(|section| {
            let figures: Vec<Value> = section.figures.iter().map(Figure::json).collect();
            json!({"title": section.title, "notes": section.notes, "figures": figures})
        });
        json!({
            "processors": self.processors,
            "load": self.load,
            "met": self.is_met(),
            "sections": sections.collect::<Vec<Value>>(),
        })
    }
}

/// Columns as wide as their widest cell, indented, without blanks at the end.
fn aligned(rows: &[[String; 5]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let _ = write!(line, "  {cell:<width$}", width = width(column));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests;
