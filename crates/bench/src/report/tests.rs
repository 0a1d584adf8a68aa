use super::*;

fn report(figures: Vec<Figure>) -> Report {
    Report {
        processors: 2,
        load: 0.5,
        sections: vec![Section {
            title: "title".to_owned(),
            notes: vec!["note".to_owned()],
            figures,
        }],
    }
}

#[test]
fn a_figure_stands_beside_its_floor_its_ratio_and_its_target() {
    let report = report(vec![
        Figure::seconds("converge", 2.5)
            .against("A", 2.0)
            .at_most_times(1.25),
        Figure::milliseconds("start", 0.0042).against("true", 0.0021),
        Figure::count("requests", 3.0).at_most(0.0),
        Figure::bytes("idle", 12 << 20),
    ]);
    assert_eq!(
        report.table(),
        "\
2 processors, load 0.50 at the beginning

title
  note
  figure    value      floor         ratio  target
  converge  2.50 s     A 2.00 s      1.25   ≤ 1.25 × floor ok
  start     4.20 ms    true 2.10 ms  2.00
  requests  3                               ≤ 0 MISSED
  idle      12.00 MiB
"
    );
}

#[test]
fn one_missed_target_is_enough() {
    let good = Figure::count("good", 0.0).at_most(0.0);
    assert!(report(vec![good.clone(), Figure::count("free", 9.0)]).is_met());
    assert!(!report(vec![good, Figure::count("bad", 1.0).at_most(0.0)]).is_met());
}

#[test]
fn a_ratio_to_nothing_meets_no_target() {
    let figure = Figure::seconds("converge", 1.0)
        .against("A", 0.0)
        .at_most_times(1.25);
    assert_eq!(figure.is_met(), Some(false));
    assert_eq!(figure.json()["floor"]["ratio"], Value::Null);
}

#[test]
fn programs_read_the_same_as_people() {
    let figure = Figure::seconds("converge", 2.5)
        .against("A", 2.0)
        .at_most_times(1.0);
    assert_eq!(
        report(vec![figure]).json(),
        json!({
            "processors": 2, "load": 0.5, "met": false,
            "sections": [{"title": "title", "notes": ["note"], "figures": [{
                "name": "converge", "value": 2.5, "unit": "s",
                "floor": {"name": "A", "value": 2.0, "ratio": 1.25},
                "target": {"of": "ratio", "atMost": 1.0, "met": false},
            }]}],
        })
    );
}
